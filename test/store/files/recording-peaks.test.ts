import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { RecordingPeaks } from '../../../src/store/files/recording-peaks.ts';

const KEY = 'recordings/7.wav';
/** Samples of the caller and of the agent at a moment. */
type At = (moment: number) => [caller: number, agent: number];

/** A file whose content tests set; it comes in pieces that end within samples. */
class OneFile {
  bytes = Buffer.alloc(0);
  readonly ranges: [number, number][] = [];
  stopped: Promise<void> = Promise.resolve();

  record(ms: number, at: At): void {
    const data = Buffer.alloc(ms * 8 * 4);
    for (let moment = 0; moment < ms * 8; moment++) {
      const [caller, agent] = at(moment);
      data.writeInt16LE(caller, moment * 4);
      data.writeInt16LE(agent, moment * 4 + 2);
    }
    const header = wavHeader({ rateHz: 8_000, channels: 2, dataBytes: data.length });
    this.bytes = Buffer.concat([header, data]);
  }

  async stat(key: string) {
    if (key !== KEY) return undefined;
    return { size: this.bytes.length, modifiedAt: new Date(0), etag: `"${this.bytes.length}"` };
  }

  async read(_key: string, range?: { start: number; end: number }) {
    const { start, end } = range ?? { start: 0, end: this.bytes.length - 1 };
    this.ranges.push([start, end]);
    await this.stopped;
    const part = this.bytes.subarray(start, end + 1);
    const pieces = [];
    for (let i = 0; i < part.length; i += 1_023) pieces.push(part.subarray(i, i + 1_023));
    return Readable.from(pieces);
  }
}

describe('peaks of a recording', () => {
  let file: OneFile;
  let peaks: RecordingPeaks;
  beforeEach(() => {
    file = new OneFile();
    peaks = new RecordingPeaks(file);
  });
  const read = async (wanted: { bins: number; fromMs?: number; toMs?: number; binMs?: number }) => {
    const found = await peaks.read(KEY, { fromMs: 0, ...wanted });
    return found && { ...found, values: [...found.values] };
  };

  it('are the lowest and highest samples of both channels in each bin, in 8 bits', async () => {
    file.record(80, (moment) => [moment < 320 ? -25_600 : 12_800, moment === 639 ? 32_767 : 0]);
    expect(await read({ bins: 2 })).toEqual({
      durationMs: 80,
      fromMs: 0,
      binMs: 40,
      bins: 2,
      etag: expect.any(String),
      values: [-100, -100, 0, 0, 50, 50, 0, 127],
    });
  });

  it('have bins shorter than 20 ms, read from the part alone', async () => {
    file.record(100, (moment) => [moment * 10, -moment * 10]);
    const found = await read({ bins: 10, fromMs: 50, toMs: 60 });
    expect(found).toMatchObject({ fromMs: 50, binMs: 1, bins: 10 });
    expect(found?.values.slice(0, 4)).toEqual([16, 16, -16, -16]);
    expect(file.ranges).toEqual([[44 + 400 * 4, 44 + 480 * 4 - 1]]);
  });

  it('are the same for any bins as those of all samples', async () => {
    const at: At = (moment) => [((moment * 7_919) % 60_000) - 30_000, (moment * 31) % 9_000];
    file.record(12_345, at);
    const found = await read({ bins: 100, fromMs: 1_007 });
    const { fromMs = 0, binMs = 0, values = [] } = found ?? {};
    expect([fromMs, binMs % 20, found?.bins]).toEqual([1_000, 0, Math.ceil(11_345 / binMs)]);
    for (let bin = 0; bin < (found?.bins ?? 0); bin++) {
      const from = (fromMs + bin * binMs) * 8;
      const moments = Array.from({ length: Math.min(binMs * 8, 12_345 * 8 - from) }, (_, i) =>
        at(from + i),
      );
      const eighths = (side: 0 | 1) =>
        moments.map((each) => Math.min(127, (each[side] + 128) >> 8));
      const of = (side: 0 | 1) => [Math.min(...eighths(side)), Math.max(...eighths(side))];
      expect(values.slice(bin * 4, bin * 4 + 4)).toEqual([...of(0), ...of(1)]);
    }
  });

  it('of a file that grows: only what is new is read, and late audio of the last seconds', async () => {
    const at: At = (moment) => [moment > 79_000 ? 25_600 : 0, 0];
    file.record(10_000, () => [0, 0]);
    await read({ bins: 4_000, binMs: 20 });
    file.record(11_000, at);
    const found = await read({ bins: 4_000, binMs: 20, fromMs: 9_800 });
    expect(found).toMatchObject({ durationMs: 11_000, fromMs: 9_800, bins: 60 });
    expect(found?.values.filter((_, i) => i % 4 === 1).slice(0, 6)).toEqual([
      0, 0, 0, 100, 100, 100,
    ]);
    expect(file.ranges.at(-1)?.[0]).toBe(44 + 5_000 * 8 * 4);
  });

  it('have whole bins only where their length is given', async () => {
    file.record(95, () => [0, 0]);
    expect(await read({ bins: 100, binMs: 20 })).toMatchObject({ bins: 4 });
    expect(await read({ bins: 100, binMs: 30 })).toMatchObject({ bins: 2, binMs: 40 });
    expect(await read({ bins: 3, binMs: 20 })).toMatchObject({ bins: 3 });
  });

  it('of an unchanged file are read once, by however many at once', async () => {
    file.record(1_000, () => [0, 0]);
    await Promise.all([read({ bins: 10 }), read({ bins: 20 }), read({ bins: 50 })]);
    await read({ bins: 25 });
    expect(file.ranges).toHaveLength(1);
  });

  it.each([0, 20, 44, 46])('are none of a file of %i bytes', async (size) => {
    file.record(0, () => [0, 0]);
    file.bytes = Buffer.concat([file.bytes, Buffer.alloc(100)]).subarray(0, size);
    expect(await read({ bins: 10 })).toMatchObject({ durationMs: 0, bins: 0, values: [] });
    expect(file.ranges).toEqual([]);
  });

  it('are none beyond the end, and undefined without a file', async () => {
    file.record(100, () => [0, 0]);
    expect(await read({ bins: 10, fromMs: 5_000 })).toMatchObject({ bins: 0 });
    expect(await peaks.read('recordings/8.wav', { fromMs: 0, bins: 1 })).toBeUndefined();
  });

  it('are refused while many wait, and come when there is room', async () => {
    file.record(100, () => [0, 0]);
    let start = (): void => undefined;
    file.stopped = new Promise((resolve) => {
      start = resolve;
    });
    const short = { bins: 1_000 };
    const all = Array.from({ length: 40 }, () => read(short).catch((error) => error.code));
    await new Promise((resolve) => setTimeout(resolve, 20));
    start();
    const ends = await Promise.all(all);
    expect(ends.filter((end) => end === 'TOO_MANY_REQUESTS')).toHaveLength(6);
    expect(await read(short)).toMatchObject({ bins: 800 });
  });
});
