// What it costs not to hear the windows of a quiet line: the same speech through the real detector, with and
// without skipping.

import { describe, expect, it } from 'vitest';
import { levelDb, mixLoop } from '../../../src/audio/gain.ts';
import { FRAME_MS, FRAME_SAMPLES } from '../../../src/audio/pcm.ts';
import type { VadModel } from '../../../src/audio/vad/vad.ts';
import { loadVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import { VoiceActivityDetector } from '../../../src/pipeline/listen/voice-activity.ts';
import { comfortNoise } from '../../audio/sounds.ts';
import { modelOn, spoken } from '../../audio/vad/vad-fixture.ts';

const WINDOW_MS = 32;
/** Before the speech: the noise is known after a second. */
const LEAD_IN_MS = 3_000;
const PHASES_MS = [0, 7, 13, 22];

const kernel = loadVadKernel();

/** Counts what is skipped, and hears it as well if `hearsAll`. */
function counting(model: VadModel, hearsAll: boolean) {
  const count = { skipped: 0, all: 0 };
  const counted: VadModel = {
    kernel: model.kernel,
    instructions: model.instructions,
    open(listener) {
      const stream = model.open(listener);
      let endMs = 0;
      return {
        reset: () => stream.reset(),
        close: () => stream.close(),
        push(window, windowEndMs) {
          count.all++;
          endMs = windowEndMs;
          stream.push(window, endMs);
        },
        skip(window) {
          count.all++;
          count.skipped++;
          endMs += WINDOW_MS;
          if (hearsAll) stream.push(window, endMs);
          else stream.skip(window);
        },
      };
    },
  };
  return { count, counted };
}

/** When each piece of speech was known to begin and to end, in milliseconds. */
function listenTo(pcm: Int16Array, hearsAll: boolean) {
  const { count, counted } = counting(modelOn(kernel), hearsAll);
  const changes: number[] = [];
  let isSpeech = false;
  const listener = new VoiceActivityDetector({
    vad: counted,
    onWindow: () => {
      if ((listener.voice.state === 'speech') === isSpeech) return;
      isSpeech = !isSpeech;
      changes.push(listener.positionMs);
    },
    onBroken: (error) => expect(error).toBeUndefined(),
  });
  for (let nth = 0; (nth + 1) * FRAME_SAMPLES <= pcm.length; nth++) {
    const frame = pcm.subarray(nth * FRAME_SAMPLES, (nth + 1) * FRAME_SAMPLES);
    listener.push(frame, nth * FRAME_MS, levelDb(frame));
  }
  listener.close();
  return { changes, count };
}

/** The recorded speech with `phaseMs` more before it, over noise. */
function lineOf(noiseDbfs: number | undefined, phaseMs: number): Int16Array {
  const from = (LEAD_IN_MS + phaseMs) * 8;
  const pcm = new Int16Array(from + spoken.pcm.length);
  pcm.set(spoken.pcm, from);
  if (noiseDbfs !== undefined) {
    const noise = new Int16Array(pcm.length);
    comfortNoise({ seed: 6, levelDbfs: noiseDbfs }).fill(noise);
    mixLoop(pcm, noise, 1);
  }
  return pcm;
}

/** When the first piece of each utterance was known to begin and its last to end; fails for any other. */
function utterances(changes: number[], leadInMs: number) {
  const begins = changes.filter((_, nth) => nth % 2 === 0);
  const ends = changes.filter((_, nth) => nth % 2 === 1);
  let heard = 0;
  const found = spoken.speech.map(([from, to], nth) => {
    const next = spoken.speech[nth + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    const isWithin = (atMs: number) => atMs > leadInMs + from / 8 && atMs <= leadInMs + to / 8;
    heard += begins.filter(isWithin).length;
    return {
      beginMs: begins.find(isWithin) ?? Number.NaN,
      endMs: ends.findLast((atMs) => atMs <= leadInMs + next / 8) ?? Number.NaN,
    };
  });
  expect(heard).toBe(begins.length);
  return found;
}

describe.each([
  ['without noise', undefined],
  ['with noise of -62 dBFS', -62],
  ['with noise of -55 dBFS', -55],
])('on a line %s', (_what, noiseDbfs) => {
  const runs = PHASES_MS.map((phaseMs) => {
    const pcm = lineOf(noiseDbfs, phaseMs);
    const [all, some] = [listenTo(pcm, true), listenTo(pcm, false)];
    const leadInMs = LEAD_IN_MS + phaseMs;
    return {
      all: utterances(all.changes, leadInMs),
      some: utterances(some.changes, leadInMs),
      count: some.count,
    };
  });

  it('every utterance is detected and nothing else, and none begins later than a window', () => {
    for (const { all, some } of runs) {
      for (const [nth, { beginMs }] of some.entries()) {
        expect(beginMs - (all[nth]?.beginMs ?? Number.NaN)).toBeLessThanOrEqual(WINDOW_MS);
      }
    }
  });

  it('the end of each is known when it was, to two windows', () => {
    for (const { all, some } of runs) {
      for (const [nth, { endMs }] of some.entries()) {
        const laterMs = endMs - (all[nth]?.endMs ?? Number.NaN);
        expect(Math.abs(laterMs)).toBeLessThanOrEqual(2 * WINDOW_MS);
      }
    }
  });

  it('half of the windows in pauses are skipped', () => {
    const speechMs = spoken.speech.reduce((ms, [from, to]) => ms + (to - from) / 8, 0);
    for (const { count } of runs) {
      expect(count.skipped).toBeGreaterThan(0.5 * (count.all - speechMs / WINDOW_MS));
    }
  });
});

it('on a line with noise of -40 dBFS every utterance is detected', () => {
  const { count } = listenTo(lineOf(-40, 0), false);
  expect(count.all).toBeGreaterThan(400);
  expect(count.skipped).toBe(0);
});
