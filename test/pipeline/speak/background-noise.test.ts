// Background noise: the loop, and what it does to a call. Source: contract §5.5.

import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import {
  BackgroundNoise,
  loopOf,
  officeBackgroundNoise,
} from '../../../src/pipeline/speak/background-noise.ts';
import { levelDbfs } from '../../audio/sounds.ts';
import { MemoryRecording } from '../../fakes/call/memory-recording.ts';
import { CallRig } from '../call-rig.ts';

const ramp = Int16Array.from({ length: 1_000 }, (_, i) => i);

describe('a loop of noise', () => {
  it('has the position of the media time, and continues from frame to frame', () => {
    const noise = new BackgroundNoise(ramp, 1);
    const frame = new Int16Array(160);
    noise.mixInto(frame, 0);
    expect([...frame.subarray(0, 3), frame[159]]).toEqual([0, 1, 2, 159]);
    const next = new Int16Array(160);
    noise.mixInto(next, 120);
    // 120 ms are 960 samples: 40 more, then it begins again.
    expect([next[0], next[39], next[40], next[159]]).toEqual([960, 999, 0, 119]);
    const again = new Int16Array(160);
    noise.mixInto(again, 125 * 1_000 + 20);
    expect(again[0]).toBe(160);
  });

  it('is added to what is there, at its volume, without wrapping over', () => {
    const frame = Int16Array.of(100, 32_700, -32_700);
    new BackgroundNoise(Int16Array.of(1_000, 1_000, -1_000), 0.5).mixInto(frame, 0);
    expect([...frame]).toEqual([600, 32_767, -32_768]);
    const loud = Int16Array.of(0);
    new BackgroundNoise(Int16Array.of(100), 7).mixInto(loud, 0);
    expect(loud[0]).toBe(100);
    new BackgroundNoise(Int16Array.of(100), -1).mixInto(loud, 0);
    expect(loud[0]).toBe(100);
  });

  it('has no step where it begins again', () => {
    const rising = Int16Array.from({ length: 8_000 }, (_, i) => i);
    const loop = loopOf(rising);
    expect(loop).toHaveLength(7_600);
    expect(Math.abs((loop[0] as number) - (loop[7_599] as number))).toBeLessThan(30);
    expect(loop[400]).toBe(400);
    expect(loopOf(Int16Array.of(5))).toHaveLength(1);
  });

  it('is built in: soft, always the same, without a seam', () => {
    const office = officeBackgroundNoise();
    expect(levelDbfs(office)).toBeCloseTo(-35, 0);
    expect(Math.abs(office.reduce((sum, sample) => sum + sample, 0) / office.length)).toBeLessThan(
      30,
    );
    const steps = office.slice(1).map((sample, i) => Math.abs(sample - (office[i] as number)));
    const seam = Math.abs((office[0] as number) - (office.at(-1) as number));
    expect(seam).toBeLessThanOrEqual(Math.max(...steps));
  });
});

/** A noise that differs from everything else: always the same sample. */
const hiss = () => new BackgroundNoise(Int16Array.of(1_000, 1_000), 0.3);
const HISS = 300;
/** Whether the caller heard the noise and nothing else. */
function isOnlyHiss(rig: CallRig, fromMs: number, untilMs: number): boolean {
  const heard = new Int16Array((untilMs - fromMs) * 8);
  rig.farEnd.heard(fromMs, heard);
  return heard.every((sample) => Math.abs(sample - HISS) < 16);
}

describe('a call with background noise', () => {
  it("gets it before, between and after the agent's utterances", async () => {
    const rig = new CallRig({ ambient: hiss() });
    await rig.run(500);
    rig.say('Hello there.');
    await rig.run(3_000);
    const [report] = rig.reports;
    expect(report?.heardText).toBe('Hello there.');
    expect(isOnlyHiss(rig, 100, 480)).toBe(true);
    expect(isOnlyHiss(rig, 500, 1_000)).toBe(false);
    expect(isOnlyHiss(rig, (report?.endMs ?? 0) + 20, 3_400)).toBe(true);
  });

  it('is one without gaps: a frame for every 20 ms', async () => {
    const rig = new CallRig({ ambient: hiss() });
    await rig.run(10_000);
    const { frames } = rig.farEnd;
    expect(frames.length).toBeGreaterThanOrEqual(500);
    expect(frames.length).toBeLessThanOrEqual(503);
    expect(frames.every(({ atMs }, i) => i === 0 || atMs === frames[i - 1]?.untilMs)).toBe(true);
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(60);
    const without = new CallRig();
    await without.run(1_000);
    expect(without.farEnd.frames).toEqual([]);
  });

  it('answers no more than 40 ms later than without', async () => {
    const startOf = async (rig: CallRig) => {
      await rig.run(1_000);
      rig.say('Hello there.');
      await rig.run(500);
      return rig.of('utterance-started')[0]?.facts.mediaMs ?? 0;
    };
    const later =
      (await startOf(new CallRig({ ambient: hiss() }))) - (await startOf(new CallRig()));
    expect(later).toBeGreaterThanOrEqual(0);
    expect(later).toBeLessThanOrEqual(40);
  });

  it('is interrupted like any other, and the noise goes on', async () => {
    const outcome = async (rig: CallRig) => {
      rig.say('One two three four five six seven eight nine ten eleven twelve.');
      await rig.run(1_500);
      await rig.says('please stop that', 800);
      await rig.run(2_000);
      return [rig.turns, rig.reports.map(({ heardText, interrupted }) => [heardText, interrupted])];
    };
    const rig = new CallRig({ ambient: hiss() });
    const [turns, reports] = await outcome(rig);
    expect([turns, reports]).toEqual(await outcome(new CallRig()));
    expect(reports).toEqual([[expect.stringMatching(/^One/), true]]);
    expect(isOnlyHiss(rig, 3_600, 4_200)).toBe(true);
  });

  it('is recorded as it was sent', async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ ambient: hiss(), recording });
    await rig.run(1_000);
    await rig.audio.close();
    const { samples } = readWav(recording.bytes);
    const agent = samples.filter((_sample, i) => i % 2 === 1).subarray(8 * 100, 8 * 800);
    expect(agent.every((sample) => sample === HISS)).toBe(true);
  });
});
