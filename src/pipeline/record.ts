// A call's recording as the call goes: WAV, 8 kHz PCM16 stereo, the caller left and the agent right, both
// at their media time. Written in blocks; the header is kept true, so that a file cut off at any moment
// plays. It opens no file: storage does.

import { RATE_HZ } from '../audio/pcm.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav.ts';
import { GatewayError } from '../errors.ts';
import { recordingBytes } from '../metrics.ts';

/** Where a recording goes, as storage offers it. Nothing here waits: errors show in `error`. A file
 *  whose disk hangs throws QUEUE_FULL in the end. */
export interface RecordingFile {
  /** `bytes` is borrowed until the call returns. */
  append(bytes: Uint8Array): void;
  /** Overwrites bytes that were appended before. `bytes` is borrowed until the call returns. */
  patch(offset: number, bytes: Uint8Array): void;
  /** The first failure; the file takes nothing more after it. */
  readonly error: Error | undefined;
  close(): Promise<void>;
}

export interface RecordingSummary {
  seconds: number;
  bytes: number;
}

const CHANNELS = 2;
const SAMPLE_BYTES = 2;
/** Bytes of one moment, both channels. */
const MOMENT_BYTES = CHANNELS * SAMPLE_BYTES;
const CALLER = 0;
const AGENT = 1;
/** 250 ms. */
const BLOCK = RATE_HZ / 4;
/** What is kept in memory: 4 s, of which 3 s can still take audio that comes late. */
const BLOCKS = 16;
const RING = BLOCKS * BLOCK;
/** Audio is written this long after its time: the agent's comes when it was played, a frame later. */
const BEHIND = RATE_HZ / 5;
/** The header is renewed after this many blocks: once a second. */
const HEADER_BLOCKS = 4;
/** A step this small between two frames is the clocks' drift: a sample is repeated, not left out. */
const STEP_MAX = 8;

export class Recorder {
  /** Samples that came too late to be kept. */
  lost = 0;
  readonly #file: RecordingFile;
  readonly #onFault: (error: GatewayError) => void;
  readonly #ring = new Int16Array(RING * CHANNELS);
  readonly #bytes = new Uint8Array(this.#ring.buffer);
  /** Moments written to the file; moments that the ring is clean up to. */
  #written = 0;
  #clean = RING;
  #callerEnd = -1;
  #callerLast = 0;
  #failed = false;

  constructor(options: { file: RecordingFile; onFault: (error: GatewayError) => void }) {
    this.#file = options.file;
    this.#onFault = options.onFault;
    this.#append(header(0));
  }

  /** A frame of the caller (borrowed) whose first sample belongs to `atMs` of media time. */
  caller(frame: Int16Array, atMs: number): void {
    const at = toMoment(atMs);
    this.#write(CALLER, frame, frame.length, at);
    this.#bridge(at);
    this.#callerEnd = at + frame.length;
    this.#callerLast = frame[frame.length - 1] ?? 0;
  }

  /** The first `samples` of a frame (borrowed) that the agent's side played from `atMs` on. */
  agent(frame: Int16Array, samples: number, atMs: number): void {
    this.#write(AGENT, frame, samples, toMoment(atMs));
  }

  /** Writes the blocks whose time has passed. */
  tick(nowMs: number): void {
    const until = toMoment(nowMs) - BEHIND;
    while (!this.#failed && this.#written + BLOCK <= until) this.#flush(BLOCK);
  }

  /** Writes what is left up to `nowMs` and closes the file. */
  async close(nowMs: number): Promise<RecordingSummary> {
    this.tick(nowMs);
    const rest = Math.max(0, toMoment(nowMs) - this.#written);
    for (let left = rest; left > 0 && !this.#failed; left -= BLOCK) {
      this.#flush(Math.min(BLOCK, left));
    }
    this.#overwrite(0, header(this.#written));
    try {
      await this.#file.close();
      this.#check();
    } catch (error) {
      this.#fail(error);
    }
    const bytes = WAV_HEADER_BYTES + this.#written * MOMENT_BYTES;
    return { seconds: this.#written / RATE_HZ, bytes };
  }

  #write(channel: number, frame: Int16Array, samples: number, at: number): void {
    if (this.#failed) return;
    const from = Math.max(at, this.#clean - RING, 0);
    const end = at + samples;
    this.lost += Math.max(0, Math.min(from, end) - at);
    if (from >= end) return;
    while (this.#clean < end) this.#makeRoom();
    for (let moment = from; moment < end; moment++) {
      this.#put(channel, moment, frame[moment - at] as number);
    }
    if (from < this.#written) this.#patch(from, Math.min(end, this.#written));
  }

  /** Repeats the caller's last sample up to `at`, if only a few are missing. */
  #bridge(at: number): void {
    const from = Math.max(this.#callerEnd, this.#clean - RING);
    if (this.#callerEnd < 0 || at - this.#callerEnd > STEP_MAX) return;
    for (let moment = from; moment < at; moment++) this.#put(CALLER, moment, this.#callerLast);
  }

  #put(channel: number, moment: number, sample: number): void {
    this.#ring[(moment % RING) * CHANNELS + channel] = sample;
  }

  /** Cleans the oldest block of the ring for new audio; it is written first if need be. */
  #makeRoom(): void {
    if (this.#written < this.#clean - RING + BLOCK) this.#flush(BLOCK);
    const from = (this.#clean % RING) * CHANNELS;
    this.#ring.fill(0, from, from + BLOCK * CHANNELS);
    this.#clean += BLOCK;
  }

  #flush(moments: number): void {
    while (this.#clean < this.#written + moments) this.#makeRoom();
    const from = (this.#written % RING) * MOMENT_BYTES;
    const bytes = moments * MOMENT_BYTES;
    this.#append(this.#bytes.subarray(from, from + bytes));
    if (this.#failed) return;
    this.#written += moments;
    recordingBytes.inc(bytes);
    if ((this.#written / BLOCK) % HEADER_BLOCKS === 0) this.#overwrite(0, header(this.#written));
    this.#check();
  }

  /** Audio for a time that is in the file already. */
  #patch(from: number, end: number): void {
    for (let at = from; at < end; ) {
      const inRing = at % RING;
      const count = Math.min(end - at, RING - inRing);
      const bytes = this.#bytes.subarray(inRing * MOMENT_BYTES, (inRing + count) * MOMENT_BYTES);
      this.#overwrite(WAV_HEADER_BYTES + at * MOMENT_BYTES, bytes);
      at += count;
    }
  }

  #append(bytes: Uint8Array): void {
    if (this.#failed) return;
    try {
      this.#file.append(bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #overwrite(offset: number, bytes: Uint8Array): void {
    if (this.#failed) return;
    try {
      this.#file.patch(offset, bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #check(): void {
    if (this.#file.error !== undefined) this.#fail(this.#file.error);
  }

  #fail(cause: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    this.#onFault(new GatewayError('RECORDING_FAILED', { reason: code }, cause));
  }
}

/** A header for so many moments. Before the first block it claims as much as may come. */
function header(moments: number): Uint8Array {
  const dataBytes = moments === 0 ? Number.MAX_SAFE_INTEGER : moments * MOMENT_BYTES;
  return wavHeader({ rateHz: RATE_HZ, channels: CHANNELS, dataBytes });
}

function toMoment(ms: number): number {
  return Math.max(0, Math.round(ms * (RATE_HZ / 1_000)));
}
