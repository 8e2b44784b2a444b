// Calls as people have them, judged by what the far end hears: real voices on both sides, the real
// detector, G.711, noise and echo on the line. The bounds are what was measured, and a little.

import { beforeAll, describe, expect, it } from 'vitest';
import { dtmfTones } from '../../src/audio/tones/tone-generator.ts';
import { readWav } from '../../src/audio/wav.ts';
import { comfortNoise } from '../audio/sounds.ts';
import { at, type Clip, callerClips, piecesOf, RealCall, render, type Voice } from './real-call.ts';
import { type BargeIn, bargeIn, bargeIns, LONG } from './turn/barge-ins.ts';

const GOODBYE = 'Thank you very much for calling and goodbye.';
const OPEN =
  'I would like to change the appointment that I have on Monday because my daughter is ill.';
const FADE_MS = 60;
const PER_MS = 8;

let voices: ReadonlyMap<string, Voice>;
const clips = callerClips();

beforeAll(async () => {
  const agent = [...piecesOf(LONG), ...piecesOf(GOODBYE)].map((text) => ({ voice: 'slt', text }));
  voices = await render([...agent, { voice: 'rms', text: OPEN }]);
}, 30_000);

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

function voiceOf(text: string): Voice {
  const voice = voices.get(text);
  if (voice === undefined) throw new Error(`not rendered: ${text}`);
  return voice;
}

/** How many words of LONG were said after so much of it. */
function wordsWithin(heardMs: number): number {
  let startMs = 0;
  let count = 0;
  for (const piece of piecesOf(LONG)) {
    const { pcm, words } = voiceOf(piece);
    for (const word of words) {
      if (startMs + (word.startMs + word.endMs) / 2 < heardMs) count++;
    }
    startMs += Math.ceil(pcm.length / 160) * 20;
  }
  return count;
}

/** How far `b` lags behind `a`, in samples, by the correlation from `from` on. */
function lagOf(a: ArrayLike<number>, b: ArrayLike<number>, from: number): number {
  let best = Number.NaN;
  let most = 0;
  for (let lag = -320; lag <= 320; lag++) {
    let sum = 0;
    for (let i = from; i < from + 2_400; i++) sum += (a[i] ?? 0) * (b[i + lag] ?? 0);
    if (sum > most) [most, best] = [sum, lag];
  }
  return best;
}

function heard(call: RealCall): Int16Array {
  const pcm = new Int16Array(Math.round(call.nowMs * PER_MS));
  call.farEnd.heard(0, pcm);
  return pcm;
}

/** The step at the cut, as a multiple of the steepest of the 10 ms before it. */
function clickAt(call: RealCall, cutMs: number): number {
  const pcm = heard(call);
  const cut = Math.round(cutMs * PER_MS);
  const step = (i: number) => Math.abs((pcm[i] as number) - (pcm[i - 1] as number));
  let usual = 100;
  for (let i = cut - 80; i < cut - 1; i++) usual = Math.max(usual, step(i));
  return Math.max(step(cut - 1), step(cut), step(cut + 1)) / usual;
}

describe('a caller who interrupts, on 44 lines', () => {
  const found: BargeIn[] = [];
  beforeAll(async () => {
    found.push(...(await bargeIns(voices)));
  }, 60_000);

  it('gets silence 130 ms after the onset in half of the cases, 230 ms in 95 of 100', () => {
    const silences = found.map(({ silenceMs }) => silenceMs);
    expect(percentile(silences, 0.5)).toBeLessThanOrEqual(130);
    expect(percentile(silences, 0.95)).toBeLessThanOrEqual(230);
    expect(Math.max(...silences)).toBeLessThanOrEqual(300);
  });

  it('gets silence 160 ms after the onset in 95 of 100 cases without noise', () => {
    const clean = found.filter(({ isClean }) => isClean).map(({ silenceMs }) => silenceMs);
    expect(clean.length).toBe(found.length / 2);
    expect(percentile(clean, 0.95)).toBeLessThanOrEqual(160);
  });

  it('is understood: one interruption, one turn, nothing taken for a backchannel', () => {
    for (const { what, call } of found) {
      expect(call.of('interruption').length, what).toBe(1);
      expect(call.turns.length, what).toBe(1);
      expect(call.of('backchannel'), what).toEqual([]);
    }
  });

  it('gets a delay that is right to three frames, but for onsets that the noise covers', () => {
    const errors = found.map(({ call, silenceMs }) => {
      const told = call.of('interruption')[0]?.facts.silenceMs ?? Number.NaN;
      return Math.abs(told - silenceMs);
    });
    expect(percentile(errors, 0.9)).toBeLessThanOrEqual(60);
    expect(percentile(errors, 0.5)).toBeLessThanOrEqual(20);
  });

  it('has heard the words that the report says, neither more nor fewer', () => {
    for (const { what, call, silenceMs, onsetMs } of found) {
      const startMs = call.farEnd.frames[0]?.atMs ?? 0;
      const text = call.of('utterance-finished')[0]?.report.heardText ?? '';
      const words = text.split(/\s+/).filter((word) => word !== '').length;
      expect(words, what).toBe(wordsWithin(onsetMs + silenceMs - FADE_MS - startMs));
    }
  });

  it('gets no click where the agent’s voice is faded', () => {
    const clicks = found.map(({ call, onsetMs, silenceMs }) =>
      clickAt(call, onsetMs + silenceMs - FADE_MS),
    );
    expect(percentile(clicks, 0.95)).toBeLessThanOrEqual(1.2);
    expect(Math.max(...clicks)).toBeLessThanOrEqual(2);
  });

  it('is in the recording when they spoke, and the agent when it was heard', () => {
    for (const { what, call, onsetMs } of found.slice(0, 11)) {
      const { samples } = readWav(call.file.bytes);
      const caller = samples.filter((_, i) => i % 2 === 0);
      const agent = samples.filter((_, i) => i % 2 === 1);
      const atMs = call.line.startMs;
      const sent = [...Array<number>(atMs * PER_MS).fill(0), ...call.line.sent];
      const onset = Math.round(onsetMs * PER_MS);
      expect(lagOf(sent, caller, onset), what).toBe(0);
      expect(lagOf(heard(call), agent, 4_800), what).toBe(0);
    }
  });
});

describe('the agent goes on', () => {
  async function undisturbed(call: RealCall): Promise<RealCall> {
    call.say(LONG);
    await call.run(16_500);
    expect(call.of('interruption')).toEqual([]);
    expect(call.turns).toEqual([]);
    expect(call.of('utterance-finished')[0]?.report).toMatchObject({
      heardText: LONG,
      interrupted: false,
    });
    return call;
  }

  it.each([-66, -50, -40, -30])('through a line noise of %i dBFS', async (levelDbfs) => {
    const call = new RealCall({ voices });
    call.line.noise = comfortNoise({ seed: 9, levelDbfs });
    await undisturbed(call);
    expect(call.farEnd.clears).toBe(0);
  });

  it.each([-14, -26])('through the tones of keys at %i dBFS', async (levelDb) => {
    let stops = 0;
    for (const phaseMs of [0, 5, 11, 16, 22, 27]) {
      const call = new RealCall({ voices });
      for (const [nth, keys] of ['1#30', '5#30', '9#30', '*7DA'].entries()) {
        call.line.play(at(dtmfTones(keys), levelDb), 1_000 + phaseMs + 2_500 * nth);
      }
      stops += (await undisturbed(call)).farEnd.clears;
    }
    // The detector takes one tone in ten for a voice; nothing comes of it but a pause.
    expect(stops).toBeLessThanOrEqual(6 * 16 * 0.1);
  });

  it.each([-30, -20, -12, -8])('over its own echo of %i dB, at all delays', async (db) => {
    let stops = 0;
    for (const delayMs of [40, 70, 100, 133, 170, 210, 250]) {
      const call = new RealCall({ voices });
      call.line.noise = comfortNoise({ seed: 3, levelDbfs: delayMs % 20 === 0 ? -65 : -50 });
      call.line.echo = { db, delayMs };
      stops += (await undisturbed(call)).farEnd.clears;
    }
    expect(stops).toBeLessThanOrEqual(1);
  });

  it('after a backchannel, within 800 ms', async () => {
    for (const [nth, text] of [
      'mhm',
      'okay',
      'yeah right',
      'I see',
      'yes',
      'right',
      "that's right",
    ].entries()) {
      const call = new RealCall({ voices });
      const clip = clips.at(-1 - nth) as Clip;
      const onsetMs = 1_500 + 700 * nth;
      const pcm = at(clip.pcm.slice(0, 3_200), -24);
      call.callerSays({ name: clip.name, text, pcm }, { atMs: onsetMs });
      call.say(LONG);
      await call.run(18_000);
      expect(call.of('backchannel').map((item) => item.text)).toEqual([text]);
      expect(call.of('interruption')).toEqual([]);
      expect(call.of('utterance-finished')[0]?.report).toMatchObject({ heardText: LONG });
      const silentMs = call.soundEndsAfter(onsetMs);
      const resumed = call.farEnd.frames.find(({ atMs }) => atMs > silentMs);
      expect((resumed?.atMs ?? Number.NaN) - silentMs, text).toBeLessThanOrEqual(800);
    }
  });

  it('to the end of its goodbye, whatever the caller says', async () => {
    for (const clip of clips) {
      const call = new RealCall({ voices });
      call.say(GOODBYE, { interruptible: false });
      call.callerSays({ ...clip, pcm: at(clip.pcm, -18) }, { atMs: 700 });
      await call.run(6_000);
      expect(call.of('utterance-finished')[0]?.report).toMatchObject({
        heardText: GOODBYE,
        interrupted: false,
      });
      expect(call.farEnd.clears).toBe(0);
    }
  });
});

describe('a caller on a line with the agent’s echo', () => {
  it('is heard through it: silence 260 ms after the onset in 95 of 100 cases', async () => {
    const silences: number[] = [];
    for (const [nth, clip] of [clips, clips, clips, clips].flat().entries()) {
      const call = new RealCall({ voices });
      call.line.echo = { db: nth % 2 === 0 ? -20 : -12, delayMs: 40 + (nth % 4) * 70 };
      const levelDb = [-16, -22, -28][nth % 3] as number;
      const { silenceMs, what } = await bargeIn(clip, { nth, levelDb, noiseDb: -60, call });
      expect(call.turns.length, what).toBe(1);
      silences.push(silenceMs);
    }
    expect(percentile(silences, 0.5)).toBeLessThanOrEqual(140);
    expect(percentile(silences, 0.95)).toBeLessThanOrEqual(260);
  }, 60_000);
});

describe('the end of a turn', () => {
  async function turnAfter(clip: Clip, closed: boolean): Promise<number> {
    const call = new RealCall({ voices });
    call.line.noise = comfortNoise({ seed: 3, levelDbfs: -60 });
    const phrases = [clip.text];
    if (closed) call.audio.expect({ closed, phrases, slots: ['yes_no'], boost: [] });
    const endMs = call.callerSays({ ...clip, pcm: at(clip.pcm, -22) }, { atMs: 700 });
    await call.run(endMs + 1_500);
    expect(call.turns, clip.name).toEqual([clip.text]);
    return (call.of('turn')[0]?.atMs ?? Number.NaN) - endMs;
  }

  it('comes within 500 ms of a complete answer, 800 ms of open speech', async () => {
    for (const clip of clips) {
      expect(await turnAfter(clip, true), clip.name).toBeLessThanOrEqual(500);
      expect(await turnAfter(clip, false), clip.name).toBeLessThanOrEqual(800);
    }
  });

  it.each([200, 300, 400, 500, 600])('does not come in a pause of %i ms', async (pauseMs) => {
    const { pcm, words } = voiceOf(OPEN);
    const loud = at(pcm, -22);
    for (const last of [2, 4, 6, 8, 10, 12]) {
      const call = new RealCall({ voices });
      call.line.noise = comfortNoise({ seed: 3, levelDbfs: -60 });
      const cutMs = words[last]?.endMs ?? Number.NaN;
      call.line.play(loud.slice(0, Math.round(cutMs * PER_MS)), 700);
      call.line.play(loud.slice(Math.round(cutMs * PER_MS)), 700 + cutMs + pauseMs);
      call.stt.hears(
        words.map(({ word, endMs }, nth) => ({
          word: word.replace('.', ''),
          endMs: 700 + endMs + (nth > last ? pauseMs : 0),
        })),
      );
      await call.run(700 + pcm.length / PER_MS + pauseMs + 1_500);
      expect(call.turns.length, `after word ${last}`).toBe(1);
    }
  });
});
