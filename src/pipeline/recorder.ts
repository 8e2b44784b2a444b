// The recording of a call, written while it runs: WAV, 8 kHz PCM16 stereo, the caller left and the agent right,
// both at their media time. Written in blocks, each followed by an updated header, so that a file cut off at any
// moment can be played. The store opens the file. Audio that cannot be written becomes silence and is counted.

import { RATE_HZ } from '../audio/pcm.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { recordingBytes, recordingLostBytes } from '../metrics/metrics.ts';

/** The file of a recording, as the store provides it. No call waits; failures appear in `error`. */
export interface RecordingFile {
  /** Appends `bytes`, borrowed until the call returns. False if the write buffer is full; nothing was appended then. */
  append(bytes: Uint8Array): boolean;
  /** Appends this many zero bytes in place of audio that was refused. */
  skip(bytes: number): void;
  /** Overwrites bytes that were appended before. `bytes` is borrowed until the call returns. False if the write buffer
   *  is full; nothing was overwritten then. */
  patch(offset: number, bytes: Uint8Array): boolean;
  /** The first failure. Writing continues: the disk may have space again. */
  readonly error: Error | undefined;
  /** Closes the file. `head` replaces its first bytes when all else is written. With `bytesMax` the file ends there. */
  close(head?: Uint8Array, bytesMax?: number): Promise<void>;
}

/** A recording that another process has begun. */
export interface ContinuedRecording {
  /** Time of the recording at which the media begin, in milliseconds. */
  startMs: number;
  /** Length of the file, in milliseconds. */
  writtenMs: number;
}

export interface RecordingSummary {
  seconds: number;
  bytes: number;
}

const CHANNELS = 2;
const SAMPLE_BYTES = 2;
/** Bytes of one sample of both channels. */
const MOMENT_BYTES = CHANNELS * SAMPLE_BYTES;
/** Samples of a write: one second. A killed process loses that and BEHIND. */
const BLOCK = RATE_HZ;
/** Part of the ring that is cleared at once for new audio: 250 ms. */
const CELL = RATE_HZ / 4;
/** Samples kept in memory: 4 s. 3 s of it can still take late audio, and wait for a slow disk. */
const RING = 4 * BLOCK;
/** Delay of writing after the audio's time: the agent's audio arrives when it was played, a frame later. */
const BEHIND = RATE_HZ / 5;
/** Largest gap between two frames that counts as clock drift: the last sample is repeated there. */
const STEP_MAX = 8;

/** Scratch memory shared by all recorders, as each uses it synchronously. One int per sample pair, its low half the
 *  caller. */
const block = new Int32Array(BLOCK);
const blockBytes = new Uint8Array(block.buffer);

export class Recorder {
  /** Number of samples that came too late. */
  lost = 0;
  readonly #file: RecordingFile;
  readonly #onFault: (error: GatewayError) => void;
  readonly #startMs: number;
  readonly #caller = new Int16Array(RING);
  readonly #agent = new Int16Array(RING);
  /** Number of sample pairs written to the file, and position up to which the ring is cleared. */
  #written = 0;
  #clean = RING;
  #callerEnd = -1;
  #callerLast = 0;
  #faulted = false;

  constructor(options: {
    file: RecordingFile;
    onFault: (error: GatewayError) => void;
    continued?: ContinuedRecording | undefined;
  }) {
    const { file, continued } = options;
    this.#file = file;
    this.#onFault = options.onFault;
    this.#startMs = continued?.startMs ?? 0;
    if (continued === undefined) {
      if (!file.append(header(0))) file.skip(WAV_HEADER_BYTES);
      return;
    }
    this.#written = this.#momentAt(continued.writtenMs - this.#startMs);
    this.#clean = this.#written + RING;
    this.#renewHeader();
  }

  /** Records a frame of the caller (borrowed) at media time `atMs`. */
  caller(frame: Int16Array, atMs: number): void {
    const at = this.#momentAt(atMs);
    this.#write(this.#caller, frame, frame.length, at);
    this.#bridge(at);
    this.#callerEnd = at + frame.length;
    this.#callerLast = frame[frame.length - 1] ?? 0;
  }

  /** Records the first `samples` of a frame (borrowed) that the far end played from `atMs` on. */
  agent(frame: Int16Array, samples: number, atMs: number): void {
    this.#write(this.#agent, frame, samples, this.#momentAt(atMs));
  }

  /** Writes the blocks whose time has passed, as far as the write buffer has space. */
  tick(nowMs: number): void {
    const until = this.#momentAt(nowMs) - BEHIND;
    while (this.#written + BLOCK <= until && this.#append(BLOCK)) this.#renewHeader();
  }

  /** Writes the rest up to `endMs` and closes the file. Audio of a later time is cut off. */
  async close(endMs: number): Promise<RecordingSummary> {
    this.tick(endMs);
    const until = this.#momentAt(endMs);
    while (this.#written < until) this.#flush(Math.min(BLOCK, until - this.#written));
    const bytes = WAV_HEADER_BYTES + until * MOMENT_BYTES;
    try {
      await this.#file.close(header(until), this.#written > until ? bytes : undefined);
    } catch (error) {
      this.#fault(error);
    }
    return { seconds: until / RATE_HZ, bytes };
  }

  /** The sample pair at a media time. */
  #momentAt(mediaMs: number): number {
    return toMoment(this.#startMs + mediaMs);
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

  /** Repeats the caller's last sample up to `at`, if only a few samples are missing. */
  #bridge(at: number): void {
    const from = Math.max(this.#callerEnd, this.#clean - RING);
    if (this.#callerEnd < 0 || at - this.#callerEnd > STEP_MAX) return;
    for (let moment = from; moment < at; moment++) {
      this.#caller[moment % RING] = this.#callerLast;
    }
  }

  /** Clears the oldest cell of the ring for new audio, after writing it if necessary. */
  #makeRoom(): void {
    if (this.#written < this.#clean - RING + CELL) this.#flush(BLOCK);
    const from = this.#clean % RING;
    this.#caller.fill(0, from, from + CELL);
    this.#agent.fill(0, from, from + CELL);
    this.#clean += CELL;
  }

  /** Writes, as the last chance: audio without space in the write buffer is lost. */
  #flush(moments: number): void {
    if (this.#append(moments)) return;
    this.#file.skip(moments * MOMENT_BYTES);
    this.#written += moments;
    this.#fault(new GatewayError('RECORDING_FAILED', { reason: 'the disk is too slow' }));
  }

  /** Appends sample pairs. False if the write buffer is full. */
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

  /** This many sample pairs (a block at most) of both channels, interleaved as in the file. Valid until the next call
   *  of any recorder. */
  #interleave(from: number, moments: number): Uint8Array {
    if (moments === BLOCK && from % BLOCK === 0) this.#interleaveBlock(from % RING);
    else this.#interleaveAny(from, moments);
    return blockBytes.subarray(0, moments * MOMENT_BYTES);
  }

  /** Interleaves two sample pairs per step. Blocks begin at multiples of their length, so no block wraps around. */
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

  /** Overwrites audio of a time that is already written. */
  #patch(from: number, end: number): void {
    for (let at = from; at < end; at += BLOCK) {
      const count = Math.min(end - at, BLOCK);
      const bytes = this.#interleave(at, count);
      if (this.#file.patch(WAV_HEADER_BYTES + at * MOMENT_BYTES, bytes)) continue;
      recordingLostBytes.inc({ reason: 'slow' }, count * SAMPLE_BYTES);
    }
  }

  /** Updates the header. If the write buffer is full, the next block does. */
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

/** A header for this many sample pairs. Before the first block it claims the maximum length. */
function header(moments: number): Uint8Array {
  const dataBytes = moments === 0 ? Number.MAX_SAFE_INTEGER : moments * MOMENT_BYTES;
  return wavHeader({ rateHz: RATE_HZ, channels: CHANNELS, dataBytes });
}

/** Size of a recording of that length. */
export function recordingBytesOf(ms: number): number {
  return WAV_HEADER_BYTES + toMoment(ms) * MOMENT_BYTES;
}

function toMoment(ms: number): number {
  return Math.max(0, Math.round(ms * (RATE_HZ / 1_000)));
}
