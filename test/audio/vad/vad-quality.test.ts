// What the detector is worth on telephone speech: when it hears the begin and the end of an utterance, and
// that it hears none in noise. The rule that makes segments of probabilities stands here in its simplest
// form (speech above 0.5 for 64 ms, silence below 0.35 for 250 ms); pipeline/ has the real one.

import { describe, expect, it } from 'vitest';
import { gainOfDb, mixLoop } from '../../../src/audio/gain.ts';
import { RATE_HZ } from '../../../src/audio/pcm.ts';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { loadVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import { noise } from '../sine.ts';
import { comfortNoise, levelDbfs } from '../sounds.ts';
import { Ear, modelOn, spoken } from './vad-fixture.ts';

const WINDOW_MS = 32;
const SPEECH_ABOVE = 0.5;
const SPEECH_MS = 64;
const SILENCE_BELOW = 0.35;
const SILENCE_MS = 250;

const vad = modelOn(loadVadKernel());

interface Segment {
  /** When the detector knew: the end of the window that decided. */
  beganMs: number;
  endedMs: number;
}

/** Whether each window is within speech, as far as is known at its end. */
function speaking(probabilities: number[]): boolean[] {
  let now = false;
  let otherMs = 0; // for how long the other state has been heard
  return probabilities.map((probability) => {
    const voiced = probability > SPEECH_ABOVE;
    const silent = probability < SILENCE_BELOW;
    if (now ? voiced : silent) otherMs = 0;
    if (now ? silent : voiced) otherMs += WINDOW_MS;
    if (otherMs >= (now ? SILENCE_MS : SPEECH_MS)) {
      now = !now;
      otherMs = 0;
    }
    return now;
  });
}

function segments(pcm: Int16Array): Segment[] {
  const found: Segment[] = [];
  const states = speaking(new Ear(vad).hear(pcm));
  for (const [i, state] of states.entries()) {
    if (state && !states[i - 1]) {
      const end = states.indexOf(false, i);
      const endedMs = end < 0 ? Number.POSITIVE_INFINITY : (end + 1) * WINDOW_MS;
      found.push({ beganMs: (i + 1) * WINDOW_MS, endedMs });
    }
  }
  return found;
}

function scaled(source: () => number, count: number, wantedDbfs: number): Int16Array {
  const pcm = Int16Array.from({ length: count }, () => source() * 8_000);
  const gain = gainOfDb(wantedDbfs - levelDbfs(pcm));
  return pcm.map((sample) => Math.round(sample * gain));
}

function white(): () => number {
  return noise(11);
}

/** Three decades of -3 dB an octave, by Kellet's sum of one-pole filters. */
function pink(): () => number {
  const source = noise(12);
  const poles = [0.99765, 0.963, 0.57];
  const weights = [0.099046, 0.2965164, 1.0526913];
  const states = [0, 0, 0];
  return () => {
    const fresh = source();
    let sum = 0.1848 * fresh;
    for (const [i, pole] of poles.entries()) {
      states[i] = pole * (states[i] ?? 0) + (weights[i] ?? 0) * fresh;
      sum += states[i] ?? 0;
    }
    return sum / 4;
  };
}

const SPEECH_DBFS = -20;

const conditions = [
  { name: 'clean', with: undefined, snrDb: Number.POSITIVE_INFINITY, onsetMs: 100, endMs: 400 },
  { name: 'white noise at 15 dB', with: white, snrDb: 15, onsetMs: 160, endMs: 520 },
  { name: 'white noise at 5 dB', with: white, snrDb: 5, onsetMs: 160, endMs: 540 },
  { name: 'pink noise at 5 dB', with: pink, snrDb: 5, onsetMs: 160, endMs: 580 },
];

function mixed({ with: source, snrDb }: (typeof conditions)[number]): Int16Array {
  const pcm = spoken.pcm.slice();
  if (source) mixLoop(pcm, scaled(source(), pcm.length, SPEECH_DBFS - snrDb), 1);
  return pcm;
}

describe.each(conditions)('on $name', (condition) => {
  const found = segments(mixed(condition));
  const utterances = spoken.speech.map(([from, to]) => ({
    fromMs: (from / RATE_HZ) * 1_000,
    toMs: (to / RATE_HZ) * 1_000,
  }));

  it('every utterance is detected, and nothing else', () => {
    for (const { fromMs, toMs } of utterances) {
      const inside = found.filter(({ beganMs }) => beganMs > fromMs && beganMs <= toMs);
      expect(inside.length, `${fromMs} ms`).toBeGreaterThanOrEqual(1);
    }
    const elsewhere = found.filter(
      ({ beganMs }) => !utterances.some(({ fromMs, toMs }) => beganMs > fromMs && beganMs <= toMs),
    );
    expect(elsewhere).toEqual([]);
  });

  it(`its begin is known within ${condition.onsetMs} ms`, () => {
    for (const { fromMs } of utterances) {
      const began = found.find(({ beganMs }) => beganMs > fromMs)?.beganMs ?? Number.NaN;
      expect(began - fromMs, `${fromMs} ms`).toBeLessThanOrEqual(condition.onsetMs);
    }
  });

  it(`its end is known within ${condition.endMs} ms, of which 250 are the rule`, () => {
    for (const { toMs } of utterances) {
      const last = found.findLast(({ beganMs }) => beganMs <= toMs)?.endedMs ?? Number.NaN;
      expect(last - toMs, `${toMs} ms`).toBeLessThanOrEqual(condition.endMs);
      expect(last - toMs, `${toMs} ms`).toBeGreaterThan(0);
    }
  });
});

describe('no speech is detected in 20 s of', () => {
  const count = 20 * RATE_HZ;

  it.each([
    ['silence', new Int16Array(count)],
    ['comfort noise', noiseOf(count)],
    ['white noise at -25 dBFS', scaled(white(), count, SPEECH_DBFS - 5)],
    ['pink noise at -25 dBFS', scaled(pink(), count, SPEECH_DBFS - 5)],
    ['white noise at -10 dBFS', scaled(white(), count, -10)],
  ])('%s', (_what, pcm) => {
    expect(segments(pcm)).toEqual([]);
  });

  it('DTMF digits', () => {
    expect(segments(dtmfTones('1234567890*#'.repeat(5)))).toEqual([]);
  });
});

function noiseOf(count: number): Int16Array {
  const pcm = new Int16Array(count);
  comfortNoise({ seed: 4 }).fill(pcm);
  return pcm;
}
