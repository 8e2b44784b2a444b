// Files that grow while the disk is quick, slow, full or broken; the thread that writes them.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { recordingLostBytes } from '../../../src/metrics/metrics.ts';
import { LocalFileWriter } from '../../../src/store/files/file-writer.ts';
import { noSpace, SlowDisk, SlowFile } from '../../fakes/slow-disk.ts';
import { rounds } from '../../rounds.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-writer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(bytesMax?: number) {
  const disk = new SlowDisk(bytesMax);
  const file = new SlowFile(disk);
  return { disk, file, writer: new LocalFileWriter(file, disk) };
}

async function codeFrom(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => codeOf(error) ?? String(error),
  );
}

async function lost(reason: string): Promise<number> {
  const { values } = await recordingLostBytes.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}

const step = fc.oneof(
  fc.record({ append: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ patchAt: fc.double({ min: 0, max: 0.999, noNaN: true }) }),
  fc.record({ work: fc.integer({ min: 1, max: 4 }) }),
);
type Step = { append: number } | { patchAt: number } | { work: number };

/** What the file must hold after `step`. */
function play(
  { disk, writer }: ReturnType<typeof start>,
  step: Step,
  before: Buffer,
  value: number,
): Buffer {
  if ('work' in step) disk.work(step.work);
  if ('append' in step) {
    const bytes = Buffer.alloc(step.append, value);
    if (writer.append(bytes)) return Buffer.concat([before, bytes]);
    writer.skip(step.append);
    return Buffer.concat([before, Buffer.alloc(step.append)]);
  }
  if ('patchAt' in step && before.length > 0) {
    const offset = Math.floor(step.patchAt * before.length);
    if (writer.patch(offset, Buffer.alloc(1, value))) before[offset] = value;
  }
  return before;
}

describe('a file that grows', () => {
  it('borrows the bytes only until the call returns', async () => {
    const { disk, file, writer } = start();
    const frame = Buffer.from('aaaa');
    writer.append(frame);
    frame.fill('b');
    writer.patch(0, frame.subarray(0, 1));
    frame.fill('c');
    disk.work();
    await writer.close();
    expect(file.bytes.toString()).toBe('baaa');
    expect([file.synced, file.closed]).toEqual([true, true]);
  });

  it('ends where it is cut as it is closed', async () => {
    const { disk, file, writer } = start();
    writer.append(Buffer.from('abcdef'));
    const closed = writer.close(Buffer.from('X'), 4);
    disk.work();
    await closed;
    expect(file.bytes.toString()).toBe('Xbcd');
    expect(writer.size).toBe(4);
  });

  it('holds whatever is appended, skipped and patched, in order, in little memory', async () => {
    const work = fc.array(step, { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(work, fc.integer({ min: 1, max: 500 }), async (steps, atOnceMax) => {
        const all = start(1_000);
        all.disk.atOnceMax = atOnceMax;
        let expected: Buffer = Buffer.alloc(0);
        for (const [index, step] of steps.entries()) {
          expected = play(all, step, expected, 1 + (index % 255));
        }
        expect(all.writer.size).toBe(expected.length);
        const closed = all.writer.close();
        all.disk.work();
        await closed;
        expect(all.file.bytes.equals(expected)).toBe(true);
      }),
      { numRuns: rounds(200) },
    );
  });

  it('is one of many that share the memory, each with its own bytes', async () => {
    const disk = new SlowDisk(10_000);
    const files = Array.from({ length: 9 }, (_none, nth) => new SlowFile(disk, nth));
    const writers = files.map((file) => new LocalFileWriter(file, disk));
    for (let round = 0; round < 40; round++) {
      for (const [nth, writer] of writers.entries()) {
        expect(writer.append(Buffer.alloc(100 + nth, nth))).toBe(true);
      }
      disk.work();
    }
    await Promise.all(writers.map((writer) => writer.close()));
    for (const [nth, { bytes }] of files.entries()) {
      expect(bytes.equals(Buffer.alloc(40 * (100 + nth), nth))).toBe(true);
    }
  });

  it('notifies no caller of a write, only of open and finish', async () => {
    const { disk, writer } = start();
    for (let nth = 0; nth < 50; nth++) writer.append(Buffer.alloc(640));
    expect(disk.wakeUps).toBe(1);
    const closed = writer.close();
    expect(disk.wakeUps).toBe(2);
    disk.work();
    await closed;
    expect(disk.queue.closings).toBe(0);
  });

  it('takes no more than fits while the disk hangs, and goes on after, everything in its place', async () => {
    const { disk, file, writer } = start(64_000);
    const lostBefore = await lost('slow');
    expect([1, 2, 3].map((value) => writer.append(Buffer.alloc(32_000, value)))).toEqual([
      true,
      true,
      false,
    ]);
    expect(writer.patch(0, Buffer.from('x'))).toBe(false);
    writer.skip(32_000);
    disk.work();
    writer.append(Buffer.alloc(100, 4));
    disk.work();
    await writer.close();
    const held = [0, 32_000, 64_000, 95_999, 96_000].map((at) => file.bytes[at]);
    expect(held).toEqual([1, 2, 0, 0, 4]);
    expect([writer.size, writer.lostBytes]).toEqual([96_100, 32_000]);
    expect((await lost('slow')) - lostBefore).toBe(32_000);
  });

  it('is no further behind than so many writes, however small', () => {
    const { disk, writer } = start();
    let taken = 0;
    while (writer.append(Buffer.alloc(1))) taken += 1;
    expect(taken).toBe(16_384);
    expect(disk.work()).toBe(16_384);
    expect(writer.append(Buffer.alloc(1))).toBe(true);
  });

  it('keeps the first error of a full disk, counts what is missing, and goes on when there is room', async () => {
    const { disk, file, writer } = start();
    const lostBefore = await lost('disk');
    writer.append(Buffer.alloc(10, 1));
    disk.work();
    disk.fault = noSpace();
    writer.append(Buffer.alloc(10, 2));
    writer.patch(0, Buffer.alloc(5, 9));
    disk.work();
    expect(writer.error).toMatchObject({ code: 'STORE_FULL' });
    expect(writer.lostBytes).toBe(10);
    disk.fault = undefined;
    writer.append(Buffer.alloc(10, 3));
    disk.work();
    expect(await codeFrom(writer.close())).toBe('STORE_FULL');
    expect(await codeFrom(writer.close())).toBe('STORE_FULL');
    expect([...file.bytes.subarray(9, 21)]).toEqual([1, ...Array(10).fill(0), 3]);
    expect((await lost('disk')) - lostBefore).toBe(10);
    expect(file.closed).toBe(true);
  });

  it('is as long as it claims, even if the disk was full to the end', async () => {
    const { disk, file, writer } = start();
    disk.fault = noSpace();
    writer.append(Buffer.alloc(100, 1));
    disk.work();
    expect(await codeFrom(writer.close(Buffer.from('head')))).toBe('STORE_FULL');
    expect(file.bytes.length).toBe(100);
    expect(file.closed).toBe(true);
  });

  it('reports any other fault of the disk as a failed recording', async () => {
    const { disk, writer } = start();
    disk.fault = Object.assign(new Error('EIO'), { code: 'EIO', errno: -5 });
    writer.append(Buffer.alloc(1));
    disk.work();
    expect(writer.error?.message).toContain('EIO');
    expect(await codeFrom(writer.close())).toBe('RECORDING_FAILED');
  });

  it('fails, and is closed all the same, if the thread that writes is gone', async () => {
    const { disk, file, writer } = start();
    writer.append(Buffer.alloc(7));
    const closed = codeFrom(writer.close());
    disk.queue.abandon();
    expect(await closed).toBe('RECORDING_FAILED');
    expect([writer.lostBytes, file.closed]).toEqual([7, true]);
    const next = new LocalFileWriter(new SlowFile(disk, 4), disk);
    expect(next.append(Buffer.alloc(5))).toBe(true);
    expect(next.error).toMatchObject({ code: 'RECORDING_FAILED' });
    expect(await codeFrom(next.close())).toBe('RECORDING_FAILED');
  });

  it('takes nothing after it was closed', async () => {
    const { disk, file, writer } = start();
    writer.append(Buffer.from('a'));
    const closed = writer.close(Buffer.from('A'));
    writer.append(Buffer.from('b'));
    writer.patch(0, Buffer.from('c'));
    writer.skip(5);
    disk.work();
    await closed;
    expect(file.bytes.toString()).toBe('A');
  });
});

/** Records ten seconds of a call; `then` says what becomes of the process. */
function record(name: string, then: string) {
  const script = `
    import { Recorder } from './src/pipeline/recorder.ts';
    import { systemClock } from './src/std/clock.ts';
    import { systemRandom } from './src/std/random.ts';
    import { LocalFileStore } from './src/store/files/local-file-store.ts';
    const files = new LocalFileStore(process.argv[1], { clock: systemClock, random: systemRandom });
    const file = await files.create('${name}');
    const recorder = new Recorder({ file, onFault: (error) => { throw error; } });
    const frame = new Int16Array(160).fill(1_000);
    for (let atMs = 0; atMs < 10_000; atMs += 20) {
      recorder.caller(frame, atMs);
      recorder.tick(atMs + 20);
    }
    ${then}`;
  const options = ['--import', 'tsx', '--input-type=module', '--eval', script, folder];
  return spawnSync(process.execPath, options, { cwd: process.cwd(), encoding: 'utf8' });
}

describe('the thread that writes', () => {
  it('loses no more than the last second and a half when the process is killed', () => {
    const size = 44 + 9 * 32_000;
    const { signal } = record(
      'killed.wav',
      `const timer = setInterval(async () => {
         const stored = await files.stat('killed.wav');
         if (stored !== undefined && stored.size >= ${size}) process.kill(process.pid, 'SIGKILL');
       }, 5);`,
    );
    expect(signal).toBe('SIGKILL');
    const bytes = readFileSync(join(folder, 'killed.wav'));
    expect(readWav(bytes).samples.length / 16_000).toBeGreaterThanOrEqual(8.5);
    expect(bytes.readUInt32LE(40)).toBeLessThanOrEqual(bytes.length - 44);
  }, 30_000);

  it('keeps the process running only until pending writes are finished', () => {
    const { status, stderr } = record('closed.wav', 'await recorder.close(10_000);');
    expect([status, stderr]).toEqual([0, '']);
    const { samples } = readWav(readFileSync(join(folder, 'closed.wav')));
    expect(samples.length).toBe(160_000);
    expect(samples.filter((_, i) => i % 2 === 0).every((sample) => sample === 1_000)).toBe(true);
    expect(record('left.wav', '').status).toBe(0);
  }, 30_000);
});
