// The ring-back tone in a call's audio. Source: contract §8.1.

import { describe, expect, it } from 'vitest';
import { ringbackTone } from '../../../src/audio/tones/tone-generator.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { BackgroundNoise } from '../../../src/pipeline/speak/background-noise.ts';
import { levelDbfs } from '../../audio/sounds.ts';
import { MemoryRecording } from '../../fakes/call/memory-recording.ts';
import { CallRig } from '../call-rig.ts';

/** What the caller heard. */
function heard(rig: CallRig, fromMs: number, untilMs: number): Int16Array {
  const pcm = new Int16Array((untilMs - fromMs) * 8);
  rig.farEnd.heard(fromMs, pcm);
  return pcm;
}

const level = (rig: CallRig, fromMs: number, untilMs: number) =>
  levelDbfs(heard(rig, fromMs, untilMs));

describe('a call that rings', () => {
  it('sounds two seconds of six, without gaps, and reports nothing', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    await rig.run(8_500);
    const first = rig.farEnd.frames[0]?.atMs ?? Number.NaN;
    expect(first).toBeLessThanOrEqual(20);
    const tone = new Int16Array(8_000 * 8);
    ringbackTone().fill(tone);
    const sounds = heard(rig, first, first + 8_000);
    // Half of the largest step of G.711 below a level of 8,000.
    expect(sounds.every((sample, i) => Math.abs(sample - (tone[i] ?? 0)) <= 128)).toBe(true);
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(60);
    expect(rig.news).toEqual([]);
    expect(rig.audio.speaking).toBe(false);
  });

  it('is silent within 60 ms of its end, without a click', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    await rig.run(1_000);
    rig.audio.ring(false);
    await rig.run(1_000);
    expect(level(rig, 900, 1_000)).toBeGreaterThan(-25);
    expect(level(rig, 1_060, 2_000)).toBe(-100);
    const end = heard(rig, 900, 1_100);
    const steps = end.subarray(1).map((sample, i) => Math.abs(sample - (end[i] ?? 0)));
    const last = end.findLastIndex((sample) => Math.abs(sample) > 64);
    expect(Math.max(...steps.subarray(last - 8))).toBeLessThan(Math.max(...steps) / 2);
    expect(rig.farEnd.frames.at(-1)?.untilMs).toBeLessThanOrEqual(1_060);
    expect(rig.farEnd.clears).toBe(0);
  });

  it('sounds not at all if it ends in the tick in which it began', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    rig.audio.ring(false);
    await rig.run(500);
    expect(rig.farEnd.frames).toEqual([]);
    rig.audio.ring(false);
    await rig.run(100);
    expect(rig.farEnd.frames).toEqual([]);
  });

  it('starts again the next time', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    await rig.run(3_000);
    rig.audio.ring(false);
    await rig.run(500);
    rig.audio.ring(true);
    await rig.run(500);
    expect(level(rig, 2_500, 3_000)).toBe(-100);
    expect(level(rig, 3_600, 3_900)).toBeGreaterThan(-25);
  });

  it('is answered in full, at most 60 ms later than one that does not', async () => {
    const outcome = async (rig: CallRig, rings: boolean) => {
      rig.audio.ring(rings);
      await rig.run(1_000);
      rig.audio.ring(false);
      rig.say('Hello there.');
      await rig.run(3_000);
      expect(rig.reports.map(({ heardText }) => heardText)).toEqual(['Hello there.']);
      return rig.of('utterance-started')[0]?.facts.mediaMs ?? 0;
    };
    const later = (await outcome(new CallRig(), true)) - (await outcome(new CallRig(), false));
    expect(later).toBeGreaterThanOrEqual(0);
    expect(later).toBeLessThanOrEqual(60);
  });

  it("reports the caller's speech, and rings on", async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    await rig.run(500);
    await rig.says('hello', 600);
    await rig.run(1_500);
    expect(rig.turns).toEqual(['hello']);
    expect(rig.of('interruption')).toEqual([]);
    expect(level(rig, 1_500, 1_900)).toBeGreaterThan(-25);
  });

  it('does not sound under words that are said all the same', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    rig.say('Hello there.');
    await rig.run(3_000);
    const plain = new CallRig();
    plain.say('Hello there.');
    await plain.run(3_000);
    const span = ({ reports: [report] }: CallRig) => (report?.endMs ?? 0) - (report?.startMs ?? 0);
    expect(span(rig)).toBe(span(plain));
  });

  it('stops when the audio is stopped or closed', async () => {
    const rig = new CallRig();
    rig.audio.ring(true);
    await rig.run(500);
    rig.audio.stop();
    await rig.run(500);
    expect(level(rig, 580, 1_000)).toBe(-100);
    const closed = new CallRig();
    closed.audio.ring(true);
    await closed.run(500);
    await closed.audio.close();
    await closed.run(500);
    expect(level(closed, 580, 1_000)).toBe(-100);
    closed.audio.ring(true);
    await closed.run(500);
    expect(level(closed, 1_000, 1_500)).toBe(-100);
  });

  it('is recorded as it was sent, on the side of the agent', async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ recording });
    rig.audio.ring(true);
    await rig.run(1_000);
    await rig.audio.close();
    const { samples } = readWav(recording.bytes);
    const side = (nth: number) =>
      samples.filter((_sample, i) => i % 2 === nth).subarray(8 * 100, 8 * 900);
    expect(levelDbfs(side(0))).toBe(-100);
    expect(levelDbfs(side(1))).toBeGreaterThan(-25);
  });

  it('rings over background noise, which goes on', async () => {
    const rig = new CallRig({ ambient: new BackgroundNoise(Int16Array.of(1_000, 1_000), 0.3) });
    rig.audio.ring(true);
    await rig.run(1_000);
    rig.audio.ring(false);
    await rig.run(1_000);
    expect(level(rig, 200, 900)).toBeGreaterThan(-25);
    expect(heard(rig, 1_060, 1_900).every((sample) => Math.abs(sample - 300) < 16)).toBe(true);
  });
});
