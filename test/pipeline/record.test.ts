import { describe, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { GatewayError } from '../../src/errors.ts';
import { Recorder } from '../../src/pipeline/record.ts';
import { MemoryRecording } from '../fakes/memory-recording.ts';

function start() {
  const file = new MemoryRecording();
  const faults: GatewayError[] = [];
  const recorder = new Recorder({ file, onFault: (error) => faults.push(error) });
  return { file, faults, recorder };
}

function frame(value: number, samples = 160): Int16Array {
  return new Int16Array(samples).fill(value);
}

/** Both channels of what the file holds, as any player would read it. */
function channels(file: MemoryRecording) {
  const { samples, rateHz, channels: count } = readWav(file.bytes);
  expect({ rateHz, count }).toEqual({ rateHz: 8_000, count: 2 });
  return {
    caller: samples.filter((_, i) => i % 2 === 0),
    agent: samples.filter((_, i) => i % 2 === 1),
  };
}

describe('the recording', () => {
  it('has the caller left and the agent right, at their media time', async () => {
    const { file, recorder } = start();
    recorder.caller(frame(100), 500);
    recorder.agent(frame(200), 160, 700);
    const summary = await recorder.close(1_000);
    expect(summary).toEqual({ seconds: 1, bytes: file.bytes.length });
    const { caller, agent } = channels(file);
    expect(caller.indexOf(100)).toBe(4_000);
    expect(caller.lastIndexOf(100)).toBe(4_159);
    expect(agent.indexOf(200)).toBe(5_600);
    expect(agent.lastIndexOf(200)).toBe(5_759);
    expect(caller.length).toBe(8_000);
  });

  it('is written as the call goes, and plays if the process is killed', () => {
    const { file, recorder } = start();
    for (let atMs = 0; atMs < 10_000; atMs += 20) {
      recorder.caller(frame(1 + (atMs % 1_000)), atMs);
      recorder.tick(atMs + 20);
    }
    expect(file.closed).toBe(false);
    const { caller } = channels(file);
    // The header is at most a second and a block behind.
    expect(caller.length).toBeGreaterThanOrEqual(8_000 * 8.5);
    expect(caller[8_000 * 5]).toBe(1);
    expect(file.bytes.readUInt32LE(40)).toBeLessThanOrEqual(file.bytes.length - 44);
  });

  it('claims to be endless until its first second is there', () => {
    const { file } = start();
    expect(file.bytes.readUInt32LE(40)).toBeGreaterThan(0xffff_0000);
  });

  it('takes audio that comes up to three seconds late, in its place', async () => {
    const { file, recorder } = start();
    recorder.tick(5_000);
    recorder.caller(frame(7), 2_400);
    recorder.caller(frame(8), 100);
    await recorder.close(5_000);
    const { caller } = channels(file);
    expect(caller.indexOf(7)).toBe(19_200);
    expect(caller.indexOf(8)).toBe(-1);
    expect(recorder.lost).toBe(160);
  });

  it('keeps what came before a long stall of the process', async () => {
    const { file, recorder } = start();
    for (let atMs = 0; atMs < 9_000; atMs += 20) recorder.caller(frame(1 + atMs / 20), atMs);
    recorder.tick(9_000);
    await recorder.close(9_000);
    const { caller } = channels(file);
    for (let nth = 0; nth < 450; nth++) expect(caller[nth * 160]).toBe(1 + nth);
  });

  it('repeats a sample where the clocks drift apart by one', async () => {
    const { file, recorder } = start();
    recorder.caller(frame(5), 0);
    recorder.caller(frame(5), 20.125);
    await recorder.close(1_000);
    expect(
      channels(file)
        .caller.subarray(0, 321)
        .every((sample) => sample === 5),
    ).toBe(true);
  });

  it('faults once when the disk is full, and writes no more', async () => {
    const { file, faults, recorder } = start();
    file.bytesMax = 40_000;
    for (let atMs = 0; atMs < 5_000; atMs += 20) {
      recorder.caller(frame(1), atMs);
      recorder.tick(atMs);
    }
    const summary = await recorder.close(5_000);
    expect(faults.map(({ code, facts }) => [code, facts])).toEqual([
      ['RECORDING_FAILED', { reason: 'ENOSPC' }],
    ]);
    expect(summary.seconds).toBeLessThan(2);
  });

  it('faults once, and throws nothing, when the disk hangs and storage takes no more', async () => {
    const { file, faults, recorder } = start();
    const refuse = () => {
      throw new GatewayError('QUEUE_FULL', { queue: 'file' });
    };
    recorder.caller(frame(1), 0);
    recorder.tick(1_000);
    Object.assign(file, { append: refuse, patch: refuse });
    for (let atMs = 1_000; atMs < 3_000; atMs += 20) {
      recorder.caller(frame(1), atMs - 500);
      recorder.tick(atMs);
    }
    const summary = await recorder.close(3_000);
    expect(faults.map(({ code, facts }) => [code, facts])).toEqual([
      ['RECORDING_FAILED', { reason: 'QUEUE_FULL' }],
    ]);
    expect(summary.seconds).toBeLessThan(1.5);
  });
});
