import { describe, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import type { GatewayError } from '../../src/errors/gateway-error.ts';
import { Recorder, recordingBytesOf } from '../../src/pipeline/recorder.ts';
import { MemoryRecording } from '../fakes/call/memory-recording.ts';

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

  it('goes on in the file of a killed process, behind a silence', async () => {
    const { file, recorder } = start();
    for (let atMs = 0; atMs < 3_000; atMs += 20) {
      recorder.caller(frame(7), atMs);
      recorder.tick(atMs + 20);
    }
    file.skip(recordingBytesOf(5_001) - file.bytes.length);
    const faults: GatewayError[] = [];
    const continued = { startMs: 5_500, writtenMs: 5_001 };
    const next = new Recorder({ file, continued, onFault: (error) => faults.push(error) });
    expect(channels(file).caller.length).toBe(5_001 * 8);
    for (let atMs = 0; atMs < 4_000; atMs += 20) {
      next.caller(frame(9), atMs);
      next.agent(frame(5), 160, atMs);
      next.tick(atMs + 20);
    }
    const summary = await next.close(4_000);
    expect(summary).toEqual({ seconds: 9.5, bytes: recordingBytesOf(9_500) });
    const { caller, agent } = channels(file);
    expect([caller.indexOf(7), caller.indexOf(9), agent.indexOf(5)]).toEqual([0, 44_000, 44_000]);
    expect(caller.lastIndexOf(7)).toBeLessThan(24_000);
    expect([caller.lastIndexOf(9), agent.lastIndexOf(5)]).toEqual([75_999, 75_999]);
    expect(caller.subarray(24_000, 44_000).every((sample) => sample === 0)).toBe(true);
    expect(caller.subarray(44_000).every((sample) => sample === 9)).toBe(true);
    expect(faults).toEqual([]);
  });

  it('ends where the call ended, whatever was written of a later time', async () => {
    const { file, recorder } = start();
    for (let atMs = 0; atMs < 3_000; atMs += 20) recorder.caller(frame(7), atMs);
    recorder.tick(60_000);
    const summary = await recorder.close(2_500);
    expect(summary).toEqual({ seconds: 2.5, bytes: file.bytes.length });
    expect(channels(file).caller).toEqual(new Int16Array(20_000).fill(7));
    expect(file.bytes.readUInt32LE(40)).toBe(file.bytes.length - 44);
  });

  it('claims to be endless until its first second is there', () => {
    const { file } = start();
    expect(file.bytes.readUInt32LE(40)).toBeGreaterThan(0xffff_0000);
  });

  it('takes audio that comes up to three seconds late, in its place', async () => {
    const { file, recorder } = start();
    recorder.agent(frame(3), 160, 4_980);
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

  it('has late audio over more than a block and the end of the ring in its place', async () => {
    const { file, recorder } = start();
    for (let atMs = 0; atMs < 6_000; atMs += 20) recorder.agent(frame(3), 160, atMs);
    recorder.tick(6_000);
    recorder.caller(frame(9, 20_000), 3_100);
    await recorder.close(6_000);
    const { caller, agent } = channels(file);
    expect([caller.indexOf(9), caller.lastIndexOf(9)]).toEqual([24_800, 44_799]);
    expect(agent.every((sample) => sample === 3)).toBe(true);
  });

  it('holds any samples of both sides, whatever their sign', async () => {
    const { file, recorder } = start();
    const [left, right] = [7, 11].map((step) =>
      Int16Array.from({ length: 12_003 }, (_none, i) => ((i * step * 1_999) % 65_536) - 32_768),
    );
    recorder.caller(left as Int16Array, 0);
    recorder.agent(right as Int16Array, 12_003, 0);
    await recorder.close(1_500);
    const { caller, agent } = channels(file);
    expect(caller).toEqual(left?.subarray(0, 12_000));
    expect(agent).toEqual(right?.subarray(0, 12_000));
  });

  it('faults once when the disk is full, and goes on: the disk may be freed', async () => {
    const { file, faults, recorder } = start();
    file.bytesMax = 40_000;
    for (let atMs = 0; atMs < 5_000; atMs += 20) {
      if (atMs === 3_000) file.bytesMax = Number.POSITIVE_INFINITY;
      recorder.caller(frame(1 + atMs / 20), atMs);
      recorder.tick(atMs);
    }
    const summary = await recorder.close(5_000);
    expect(faults.map(({ code, facts }) => [code, facts])).toEqual([
      ['RECORDING_FAILED', { reason: 'ENOSPC' }],
    ]);
    expect(summary.seconds).toBe(5);
    const { caller } = channels(file);
    const seconds = [0, 1, 2, 3, 4].map((nth) => caller[nth * 8_000 + 7_999]);
    expect(seconds).toEqual([50, 0, 150, 200, 250]);
    expect(file.lostBytes).toBe(32_000);
  });

  it('holds audio for a disk that stalls for two seconds, and loses none', async () => {
    const { file, faults, recorder } = start();
    for (let atMs = 0; atMs < 8_000; atMs += 20) {
      file.hasSpace = atMs < 2_000 || atMs >= 4_000;
      recorder.caller(frame(1 + atMs / 20), atMs);
      recorder.tick(atMs);
    }
    await recorder.close(8_000);
    expect(faults).toEqual([]);
    expect(file.lostBytes).toBe(0);
    const { caller } = channels(file);
    for (let nth = 0; nth < 400; nth++) expect(caller[nth * 160]).toBe(1 + nth);
  });

  it('leaves out what a disk that is too slow has no time for, and the rest is in its place', async () => {
    const { file, faults, recorder } = start();
    for (let atMs = 0; atMs < 12_000; atMs += 20) {
      file.hasSpace = atMs < 2_000 || atMs >= 8_000;
      recorder.caller(frame(1 + atMs / 20), atMs);
      recorder.tick(atMs);
    }
    const summary = await recorder.close(12_000);
    expect(faults.map(({ code, facts }) => [code, facts])).toEqual([
      ['RECORDING_FAILED', { reason: 'the disk is too slow' }],
    ]);
    expect(summary.seconds).toBe(12);
    const { caller } = channels(file);
    const heard = Array.from({ length: 12 }, (_none, nth) => caller[nth * 8_000]);
    expect(heard.map((sample, nth) => sample === 1 + nth * 50)).toEqual(
      [1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1].map((isThere) => isThere === 1),
    );
    expect(file.lostBytes).toBe(3 * 32_000);
  });
});
