// The audio of a call that the kernel buffered while the process was suspended.

import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { MemoryRecording } from '../../fakes/call/memory-recording.ts';
import { CallRig } from '../call-rig.ts';

const STALL_MS = 8_000;
const VOICE = [
  { fromMs: 500, toMs: 6_000 },
  { fromMs: 7_500, toMs: 8_000 },
];

/** Seconds of the caller's channel in which there is a sound. */
function sounds(file: MemoryRecording): number[] {
  const { samples } = readWav(file.bytes);
  const tenths: number[] = [];
  for (let at = 0; at + 1_600 <= samples.length; at += 1_600) {
    const caller = samples.subarray(at, at + 1_600).filter((_, i) => i % 2 === 0);
    if (caller.some((each) => Math.abs(each) > 1_000)) tenths.push(at / 1_600);
  }
  return tenths;
}

const tenths = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe.each([true, false])('a backlog of 8 s (packets with timestamps: %s)', (isStamped) => {
  it('is passed over up to its last second; the recording is silent for as long, and says so', async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ recording });
    rig.isStamped = isStamped;
    await rig.voice(1_000);
    rig.standStill(STALL_MS, VOICE);
    await rig.run(1_000);
    const faults = rig.of('fault').map(({ error: { code, facts } }) => ({ code, facts }));
    expect(faults).toEqual([{ code: 'MEDIA_BACKLOG', facts: { ms: 7_000 } }]);
    // The call goes on.
    await rig.says('tea');
    await rig.run(2_000);
    expect(rig.of('turn').map(({ turn }) => turn.text)).toContain('tea');
    await rig.audio.close();
    const heard = sounds(recording);
    expect(heard.filter((at) => at < 100)).toEqual([...tenths(0, 10), ...tenths(85, 90)]);
    expect(heard.filter((at) => at >= 100)).toEqual(tenths(100, 106));
  });

  it("that is the network's is heard in full", async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ recording });
    rig.isStamped = isStamped;
    await rig.voice(1_000);
    rig.standStill(STALL_MS, VOICE, false);
    await rig.run(1_000);
    expect(rig.of('fault')).toEqual([]);
    await rig.audio.close();
    // The recording has memory for the last seconds of it.
    expect(sounds(recording).filter((at) => at >= 10)).toEqual([
      ...tenths(40, 70),
      ...tenths(85, 90),
    ]);
  });
});

it('a short suspension of the process costs nothing', async () => {
  const recording = new MemoryRecording();
  const rig = new CallRig({ recording });
  await rig.voice(1_000);
  rig.standStill(900, [{ fromMs: 0, toMs: 900 }]);
  await rig.run(1_000);
  expect(rig.of('fault')).toEqual([]);
  await rig.audio.close();
  expect(sounds(recording)).toEqual(tenths(0, 19));
});
