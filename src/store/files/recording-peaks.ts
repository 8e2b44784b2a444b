// Peaks of stored recordings, for waveforms: the lowest and the highest sample of both channels in equal parts of the
// time. Peaks of 20 ms are kept in memory and follow a file that grows; longer bins are made of them, shorter ones are
// read from the file. Pieces of a file are read one by one, so that other requests run in between.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { FileStatus, FileStore } from './file-store.ts';

const HEADER_BYTES = 44;
/** Bytes of one sample of both channels. */
const MOMENT_BYTES = 4;
const MOMENTS_PER_MS = 8;
/** Samples of a cell, the unit that is kept: 20 ms. */
const CELL = 160;
/** Values of a bin: lowest and highest of the caller, then of the agent. */
const VALUES = 4;

/** Bins of one answer: 16 kB. */
export const PEAK_BINS_MAX = 4_000;
/** Longest part of a recording with peaks: of a longer one these are the first hours. Cells of it are 4 MB. */
const CELLS_MAX = 6 * 3_600 * 50;
/** Memory for kept cells: sixteen hours of calls. */
const KEPT_BYTES_MAX = 12 * 1_048_576;
const KEPT_MAX = 1_000;
/** Cells at the end of a growing file that are read again: late audio is written in place for some seconds. */
const UNSETTLED_CELLS = 250;
/** Files that are read at the same moment, and requests that wait for it. */
const READING_MAX = 2;
const WAITING_MAX = 32;

export interface PeaksWanted {
  /** Milliseconds from the begin of the recording. */
  fromMs: number;
  /** Default: the end of the recording. */
  toMs?: number | undefined;
  /** Bins at most, 1 to PEAK_BINS_MAX. */
  bins: number;
  /** Length of each bin; only whole bins are returned then. Default: as short as `bins` bins cover the span. */
  binMs?: number | undefined;
}

export interface Peaks {
  /** Length of the recording so far. */
  durationMs: number;
  /** Begin of the first bin, and length of each. */
  fromMs: number;
  binMs: number;
  bins: number;
  /** Changes with the file. */
  etag: string;
  /** Per bin lowest and highest of the caller, lowest and highest of the agent: samples divided by 256. */
  values: Int8Array;
}

interface Kept {
  etag: string;
  cells: Int8Array;
  /** Cells with a value. */
  count: number;
}

interface Part {
  from: number;
  /** Samples of a bin. */
  step: number;
  bins: number;
}

export class RecordingPeaks {
  readonly #files: Pick<FileStore, 'stat' | 'read'>;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<Kept>>();
  readonly #waiting: (() => void)[] = [];
  #keptBytes = 0;
  #reading = 0;

  constructor(files: Pick<FileStore, 'stat' | 'read'>) {
    this.#files = files;
  }

  /** Peaks of the recording with that key, as far as it is written. Undefined: there is no such file. Throws
   *  TOO_MANY_REQUESTS, FILES_UNAVAILABLE. */
  async read(key: string, wanted: PeaksWanted): Promise<Peaks | undefined> {
    const status = await this.#files.stat(key);
    if (status === undefined) return undefined;
    const moments = Math.max(0, Math.floor((status.size - HEADER_BYTES) / MOMENT_BYTES));
    const part = partOf(wanted, Math.min(moments, CELLS_MAX * CELL));
    const values = await this.#valuesOf(key, status, part);
    return {
      durationMs: moments / MOMENTS_PER_MS,
      fromMs: part.from / MOMENTS_PER_MS,
      binMs: part.step / MOMENTS_PER_MS,
      bins: part.bins,
      etag: status.etag,
      values,
    };
  }

  async #valuesOf(key: string, status: FileStatus, part: Part): Promise<Int8Array> {
    if (part.bins === 0) return new Int8Array(0);
    if (part.step >= CELL) return joined((await this.#cellsOf(key, status)).cells, part);
    const meter = new PeakMeter(part.step, new Int8Array(part.bins * VALUES), 0);
    await this.#turn(() => this.#measure(key, part.from, part.from + part.bins * part.step, meter));
    return meter.values;
  }

  /** The cells of the whole file, which are read once; of a file that has grown the new ones. */
  async #cellsOf(key: string, { size, etag }: FileStatus): Promise<Kept> {
    const kept = this.#kept.get(key);
    if (kept?.etag === etag) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const name = `${key} ${etag}`;
    const known = this.#underWay.get(name);
    if (known !== undefined) return known;
    const reading = this.#turn(() => this.#readCells(key, { size, etag }, kept)).finally(() =>
      this.#underWay.delete(name),
    );
    this.#underWay.set(name, reading);
    return reading;
  }

  async #readCells(
    key: string,
    { size, etag }: Pick<FileStatus, 'size' | 'etag'>,
    before: Kept | undefined,
  ): Promise<Kept> {
    const moments = Math.floor((size - HEADER_BYTES) / MOMENT_BYTES);
    const count = Math.min(CELLS_MAX, Math.ceil(moments / CELL));
    const settled =
      before === undefined || before.count > count ? 0 : before.count - UNSETTLED_CELLS;
    const first = Math.max(0, settled);
    const values = new Int8Array(count * VALUES);
    if (before !== undefined) values.set(before.cells.subarray(0, first * VALUES));
    const meter = new PeakMeter(CELL, values, first * VALUES);
    await this.#measure(key, first * CELL, Math.min(moments, count * CELL), meter);
    const kept = { etag, cells: values, count };
    this.#keep(key, kept);
    return kept;
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#keptBytes += kept.cells.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= KEPT_BYTES_MAX && this.#kept.size <= KEPT_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#keptBytes -= this.#kept.get(key)?.cells.length ?? 0;
    this.#kept.delete(key);
  }

  async #measure(key: string, from: number, end: number, meter: PeakMeter): Promise<void> {
    const source = await this.#files.read(key, {
      start: HEADER_BYTES + from * MOMENT_BYTES,
      end: HEADER_BYTES + end * MOMENT_BYTES - 1,
    });
    for await (const piece of source) meter.add(Buffer.from(piece));
    meter.finish();
  }

  /** Runs `work` when few others run. Throws TOO_MANY_REQUESTS. */
  async #turn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#reading >= READING_MAX) {
      if (this.#waiting.length >= WAITING_MAX)
        throw new GatewayError('TOO_MANY_REQUESTS', { retryAfterS: 1 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#reading += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }
}

/** The bins of an answer, in samples. Bins of 20 ms and more are whole cells. */
function partOf({ fromMs, toMs, bins, binMs }: PeaksWanted, moments: number): Part {
  const end = Math.min(moments, toMs === undefined ? moments : toMs * MOMENTS_PER_MS);
  const start = Math.min(fromMs * MOMENTS_PER_MS, end);
  const fine = binMs === undefined ? Math.ceil((end - start) / bins) : binMs * MOMENTS_PER_MS;
  const step = fine < CELL ? Math.max(1, fine) : Math.ceil(fine / CELL) * CELL;
  const from = step < CELL ? start : Math.floor(start / CELL) * CELL;
  const count = (end - from) / step;
  return {
    from,
    step,
    bins: Math.min(bins, binMs === undefined ? Math.ceil(count) : Math.floor(count)),
  };
}

/** Bins made of cells. */
function joined(cells: Int8Array, { from, step, bins }: Part): Int8Array {
  const values = new Int8Array(bins * VALUES);
  const width = (step / CELL) * VALUES;
  const first = (from / CELL) * VALUES;
  for (let bin = 0; bin < bins; bin++) {
    const end = Math.min(cells.length, first + (bin + 1) * width);
    for (let side = 0; side < VALUES; side += 2) {
      let low = 127;
      let high = -128;
      for (let at = first + bin * width + side; at < end; at += VALUES) {
        low = Math.min(low, cells[at] as number);
        high = Math.max(high, cells[at + 1] as number);
      }
      values[bin * VALUES + side] = low;
      values[bin * VALUES + side + 1] = high;
    }
  }
  return values;
}

/** Measures stereo samples that come in pieces of any length. */
class PeakMeter {
  readonly values: Int8Array;
  readonly #step: number;
  #place: number;
  #left: number;
  #rest: Buffer = Buffer.alloc(0);
  #callerLow = 32_767;
  #callerHigh = -32_768;
  #agentLow = 32_767;
  #agentHigh = -32_768;

  /** Writes a bin of each `step` samples into `values`, from index `place` on. */
  constructor(step: number, values: Int8Array, place: number) {
    this.#step = step;
    this.#left = step;
    this.values = values;
    this.#place = place;
  }

  add(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = bytes.length - (bytes.length % MOMENT_BYTES);
    for (let at = 0; at < end; at += MOMENT_BYTES) {
      const caller = bytes.readInt16LE(at);
      const agent = bytes.readInt16LE(at + 2);
      if (caller < this.#callerLow) this.#callerLow = caller;
      if (caller > this.#callerHigh) this.#callerHigh = caller;
      if (agent < this.#agentLow) this.#agentLow = agent;
      if (agent > this.#agentHigh) this.#agentHigh = agent;
      this.#left -= 1;
      if (this.#left === 0) this.#endBin();
    }
    this.#rest = bytes.subarray(end);
  }

  /** Ends the last bin, which may have fewer samples. */
  finish(): void {
    if (this.#left < this.#step) this.#endBin();
  }

  #endBin(): void {
    const { values } = this;
    values[this.#place] = eighth(this.#callerLow);
    values[this.#place + 1] = eighth(this.#callerHigh);
    values[this.#place + 2] = eighth(this.#agentLow);
    values[this.#place + 3] = eighth(this.#agentHigh);
    this.#place += VALUES;
    this.#left = this.#step;
    this.#callerLow = 32_767;
    this.#callerHigh = -32_768;
    this.#agentLow = 32_767;
    this.#agentHigh = -32_768;
  }
}

/** A sample in 8 bits, rounded, so that the noise of a silent line is 0. */
function eighth(sample: number): number {
  return Math.min(127, (sample + 128) >> 8);
}
