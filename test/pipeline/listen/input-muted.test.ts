// A call that is recorded before it is listened to.

import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { BackgroundNoise } from '../../../src/pipeline/speak/background-noise.ts';
import { MemoryRecording } from '../../fakes/call/memory-recording.ts';
import { CallRig } from '../call-rig.ts';

const noise = () => new BackgroundNoise(new Int16Array(8_000).fill(500), 1);

describe('before it is listened to', () => {
  it('speech is recorded and not recognised', async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ isInputMuted: true, recording });
    rig.line = 'voice';
    await rig.run(3_000);
    expect(rig.news).toEqual([]);
    expect(rig.stt.framesHeard).toBe(0);
    expect(rig.stt.expectation).toBeUndefined();
    expect(await rig.audio.close()).toMatchObject({ seconds: 3 });
    const { samples } = readWav(recording.bytes);
    expect(samples.some((sample, at) => at % 2 === 0 && Math.abs(sample) > 1_000)).toBe(true);
    expect(samples.some((sample, at) => at % 2 === 1 && sample !== 0)).toBe(false);
  });

  it('nothing is sent, no noise either', async () => {
    const rig = new CallRig({ isInputMuted: true, ambient: noise() });
    await rig.run(1_000);
    expect(rig.farEnd.frames).toEqual([]);
    rig.audio.listen();
    await rig.run(1_000);
    expect(rig.farEnd.frames.length).toBeGreaterThan(40);
    expect(rig.farEnd.frames[0]?.atMs).toBeGreaterThanOrEqual(1_000);
  });
});

describe('from then on', () => {
  it('it is a call like any other, however long that was', async () => {
    const rig = new CallRig({ isInputMuted: true });
    rig.line = 'voice';
    await rig.run(30_000);
    rig.line = 'silence';
    await rig.run(20);
    rig.audio.listen();
    rig.audio.listen();
    await rig.run(500);
    rig.say('Thank you for calling, all of our agents are busy at the moment.');
    await rig.run(1_000);
    expect(rig.farEnd.frames[0]?.atMs).toBeGreaterThanOrEqual(30_500);
    const onsetMs = rig.nowMs;
    await rig.says('I want to talk to sales', 900);
    expect(rig.farEnd.silentSince(onsetMs + 900) - onsetMs).toBeLessThanOrEqual(200);
    await rig.run(1_500);
    expect(rig.turns).toEqual(['I want to talk to sales']);
  });

  it('nothing begins any more in a call that is closed', async () => {
    const rig = new CallRig({ isInputMuted: true });
    await rig.audio.close();
    rig.audio.listen();
    expect(rig.stt.expectation).toBeUndefined();
  });
});
