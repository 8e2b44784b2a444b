// A call's recording as the call goes: WAV, 8 kHz PCM16 stereo, the caller left and the agent right, both
// at their media time. Written in blocks, each followed by a true header, so that a file cut off at any
// moment plays. It opens no file: storage does. What cannot be written is silence, and counted.

import { RATE_HZ } from '../audio/pcm.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { recordingBytes, recordingLostBytes } from '../metrics/metrics.ts';

/** Where a recording goes, as storage offers it. Nothing here waits: errors show in `error`. */
export interface RecordingFile {
  /** `bytes` is borrowed until the call returns. False: there is no room now, nothing was taken. */
  append(bytes: Uint8Array): boolean;
  /** So many bytes of zeros in place of what was not taken. */
  skip(bytes: number): void;
  /** Overwrites bytes that were appended before. `bytes` is borrowed until the call returns. False: there
   *  is no room now, nothing was taken. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** The first failure. The file goes on: the disk may have room again. */
  readonly error: Error | undefined;
  /** `head` replaces the first bytes when all else is written. With `bytesMax` the file ends there. */
  close(head?: Uint8Array, bytesMax?: number): Promise<void>;
}

export interface RecordingSummary {
  seconds: number;
  bytes: number;
}

const CHANNELS = 2;
const SAMPLE_BYTES = 2;
/** Bytes of one moment, both channels. */
const MOMENT_BYTES = CHANNELS * SAMPLE_BYTES;
/** What is written at once: a second. A killed process loses that and BEHIND. */
const BLOCK = RATE_HZ;
/** Made ready for new audio at once: 250 ms. */
const CELL = RATE_HZ / 4;
/** What is kept in memory: 4 s, of which 3 s can still take audio that comes late, and wait for a disk. */
const RING = 4 * BLOCK;
/** Audio is written this long after its time: the agent's comes when it was played, a frame later. */
const BEHIND = RATE_HZ / 5;
/** A step this small between two frames is the clocks' drift: a sample is repeated, not left out. */
const STEP_MAX = 8;

/** Of whichever recorder writes: nothing else runs meanwhile. A moment is an int, its low half the caller. */
const block = new Int32Array(BLOCK);
const blockBytes = new Uint8Array(block.buffer);

export class Recorder {
  /** Samples that came too late to be kept. */
  lost = 0;
  readonly #file: RecordingFile;
  readonly #onFault: (error: GatewayError) => void;
  readonly #caller = new Int16Array(RING);
  readonly #agent = new Int16Array(RING);
  /** Moments written to the file; moments that the ring is clean up to. */
  #written = 0;
  #clean = RING;
  #callerEnd = -1;
  #callerLast = 0;
  #faulted = false;

  constructor(options: { file: RecordingFile; onFault: (error: GatewayError) => void }) {
    this.#file = options.file;
    this.#onFault = options.onFault;
    if (!this.#file.append(header(0))) this.#file.skip(WAV_HEADER_BYTES);
  }

  /** A frame of the caller (borrowed) whose first sample belongs to `atMs` of media time. */
  caller(frame: Int16Array, atMs: number): void {
    const at = toMoment(atMs);
    this.#write(this.#caller, frame, frame.length, at);
    this.#bridge(at);
    this.#callerEnd = at + frame.length;
    this.#callerLast = frame[frame.length - 1] ?? 0;
  }

  /** The first `samples` of a frame (borrowed) that the agent's side played from `atMs` on. */
  agent(frame: Int16Array, samples: number, atMs: number): void {
    this.#write(this.#agent, frame, samples, toMoment(atMs));
  }

  /** Writes the blocks whose time has passed, as far as there is room for them. */
  tick(nowMs: number): void {
    const until = toMoment(nowMs) - BEHIND;
    while (this.#written + BLOCK <= until && this.#append(BLOCK)) this.#renewHeader();
  }

  /** Writes what is left up to `endMs` and closes the file. What was written of a later time is cut off. */
  async close(endMs: number): Promise<RecordingSummary> {
    this.tick(endMs);
    const until = toMoment(endMs);
    while (this.#written < until) this.#flush(Math.min(BLOCK, until - this.#written));
    const bytes = WAV_HEADER_BYTES + until * MOMENT_BYTES;
    try {
      await this.#file.close(header(until), this.#written > until ? bytes : undefined);
    } catch (error) {
      this.#fault(error);
    }
    return { seconds: until / RATE_HZ, bytes };
  }

  #write(ring: Int16Array, frame: Int16Array, samples: number, at: number): void {
    const from = Math.max(at, this.#clean - RING, 0);
    const end = at + samples;
    this.#tooLate(Math.min(from, end) - at);
    if (from >= end) return;
    while (this.#clean < end) this.#makeRoom();
    const place = from % RING;
    if (from === at && samples === frame.length && place + samples <= RING) {
      ring.set(frame, place);
    } else {
      for (let moment = from; moment < end; moment++) {
        ring[moment % RING] = frame[moment - at] as number;
      }
    }
    if (from < this.#written) this.#patch(from, Math.min(end, this.#written));
  }

  #tooLate(samples: number): void {
    if (samples <= 0) return;
    this.lost += samples;
    recordingLostBytes.inc({ reason: 'late' }, samples * SAMPLE_BYTES);
  }

  /** Repeats the caller's last sample up to `at`, if only a few are missing. */
  #bridge(at: number): void {
    const from = Math.max(this.#callerEnd, this.#clean - RING);
    if (this.#callerEnd < 0 || at - this.#callerEnd > STEP_MAX) return;
    for (let moment = from; moment < at; moment++) {
      this.#caller[moment % RING] = this.#callerLast;
    }
  }

  /** Cleans the oldest cell of the ring for new audio; it is written first if need be. */
  #makeRoom(): void {
    if (this.#written < this.#clean - RING + CELL) this.#flush(BLOCK);
    const from = this.#clean % RING;
    this.#caller.fill(0, from, from + CELL);
    this.#agent.fill(0, from, from + CELL);
    this.#clean += CELL;
  }

  /** Now or never: what there is no room for is left out. */
  #flush(moments: number): void {
    if (this.#append(moments)) return;
    this.#file.skip(moments * MOMENT_BYTES);
    this.#written += moments;
    this.#fault(new GatewayError('RECORDING_FAILED', { reason: 'the disk is too slow' }));
  }

  /** False if there is no room. */
  #append(moments: number): boolean {
    while (this.#clean < this.#written + moments) this.#makeRoom();
    const bytes = this.#interleave(this.#written, moments);
    const isTaken = this.#file.append(bytes);
    if (isTaken) {
      this.#written += moments;
      recordingBytes.inc(bytes.length);
    }
    if (this.#file.error !== undefined) this.#fault(this.#file.error);
    return isTaken;
  }

  /** Both channels of so many moments (a block at most), as they are in the file. Valid until the next
   *  call, of whichever recorder. */
  #interleave(from: number, moments: number): Uint8Array {
    if (moments === BLOCK && from % BLOCK === 0) this.#interleaveBlock(from % RING);
    else this.#interleaveAny(from, moments);
    return blockBytes.subarray(0, moments * MOMENT_BYTES);
  }

  /** Two moments a step. Blocks begin at multiples of their length, so none is divided by the ring's end. */
  #interleaveBlock(place: number): void {
    const callers = new Int32Array(this.#caller.buffer, place * SAMPLE_BYTES, BLOCK / 2);
    const agents = new Int32Array(this.#agent.buffer, place * SAMPLE_BYTES, BLOCK / 2);
    for (let nth = 0; nth < callers.length; nth++) {
      const caller = callers[nth] as number;
      const agent = agents[nth] as number;
      block[2 * nth] = (caller & 0xffff) | (agent << 16);
      block[2 * nth + 1] = (caller >>> 16) | (agent & -0x10000);
    }
  }

  #interleaveAny(from: number, moments: number): void {
    for (let nth = 0; nth < moments; nth++) {
      const place = (from + nth) % RING;
      const agent = this.#agent[place] as number;
      block[nth] = ((this.#caller[place] as number) & 0xffff) | (agent << 16);
    }
  }

  /** Audio for a time that is in the file already. */
  #patch(from: number, end: number): void {
    for (let at = from; at < end; at += BLOCK) {
      const count = Math.min(end - at, BLOCK);
      const bytes = this.#interleave(at, count);
      if (this.#file.patch(WAV_HEADER_BYTES + at * MOMENT_BYTES, bytes)) continue;
      recordingLostBytes.inc({ reason: 'slow' }, count * SAMPLE_BYTES);
    }
  }

  /** If there is no room for it now, the next block's will do. */
  #renewHeader(): void {
    this.#file.patch(0, header(this.#written));
  }

  #fault(cause: unknown): void {
    if (this.#faulted) return;
    this.#faulted = true;
    if (cause instanceof GatewayError && cause.code === 'RECORDING_FAILED') {
      this.#onFault(cause);
      return;
    }
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
