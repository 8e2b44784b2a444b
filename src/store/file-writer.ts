// A file that grows as a call goes. `append` only copies bytes into a chunk; chunks are written when
// full or a quarter of a second old, one write at a time. A full or broken disk never throws into
// the audio: the first error is kept, the rest of the file is dropped, `close` tells.

import { GatewayError } from '../errors.ts';
import type { Clock, Timer } from '../std/clock.ts';
import type { FileWriter } from './store.ts';

/** One write of two seconds of stereo at 8 kHz. */
const CHUNK_BYTES = 64 * 1024;
/** What a killed process may lose. */
const HELD_MS_MAX = 250;
/** Two minutes of stereo at 8 kHz for a disk that hangs. */
const QUEUE_BYTES_MAX = 4 * 1024 * 1024;
/** Headers are patched now and then; more patches than this wait for no disk that works. */
const QUEUE_PIECES_MAX = 1_024;

/** What is needed of an open file (node:fs FileHandle has it). */
export interface WritableFile {
  write(
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A stretch of bytes on its way to its place. */
interface Piece {
  bytes: Buffer;
  length: number;
  position: number;
}

export class LocalFileWriter implements FileWriter {
  readonly #file: WritableFile;
  readonly #clock: Clock;
  readonly #pieces: Piece[] = [];
  /** Chunks to use again. */
  readonly #spare: Buffer[] = [];
  #chunk: Piece | undefined;
  #timer: Timer | undefined;
  #queuedBytes = 0;
  #size = 0;
  #error: GatewayError | undefined;
  #writing: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(file: WritableFile, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /** Bytes appended so far, written or not. */
  get size(): number {
    return this.#size;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  /** Throws QUEUE_FULL, and takes nothing of `bytes` then. After an error it does nothing. */
  append(bytes: Uint8Array): void {
    if (this.#isOver()) return;
    this.#limit(bytes.length);
    for (let from = 0; from < bytes.length; ) {
      const chunk = this.#openChunk();
      const count = Math.min(bytes.length - from, CHUNK_BYTES - chunk.length);
      chunk.bytes.set(bytes.subarray(from, from + count), chunk.length);
      chunk.length += count;
      from += count;
      this.#size += count;
      if (chunk.length === CHUNK_BYTES) this.#flushChunk();
    }
    this.#queuedBytes += bytes.length;
  }

  /** Throws QUEUE_FULL. `bytes` must lie within what was appended. */
  patch(offset: number, bytes: Uint8Array): void {
    if (this.#isOver()) return;
    this.#limit(bytes.length);
    this.#queuedBytes += bytes.length;
    this.#queueChunk();
    this.#pieces.push({ bytes: Buffer.from(bytes), length: bytes.length, position: offset });
    this.#writeOn();
  }

  /** Everything is on the disk then. Throws the first error (STORE_FULL, RECORDING_FAILED). */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  #isOver(): boolean {
    return this.#error !== undefined || this.#closed !== undefined;
  }

  #limit(bytes: number): void {
    const isFull =
      this.#queuedBytes + bytes > QUEUE_BYTES_MAX || this.#pieces.length >= QUEUE_PIECES_MAX;
    if (isFull) throw new GatewayError('QUEUE_FULL', { queue: 'file' });
  }

  #openChunk(): Piece {
    if (this.#chunk !== undefined) return this.#chunk;
    const bytes = this.#spare.pop() ?? Buffer.allocUnsafe(CHUNK_BYTES);
    this.#chunk = { bytes, length: 0, position: this.#size };
    this.#timer = this.#clock.after(HELD_MS_MAX, () => this.#flushChunk());
    return this.#chunk;
  }

  #queueChunk(): void {
    this.#timer?.cancel();
    if (this.#chunk !== undefined) this.#pieces.push(this.#chunk);
    this.#chunk = undefined;
  }

  #flushChunk(): void {
    this.#queueChunk();
    this.#writeOn();
  }

  /** At most one loop writes. */
  #writeOn(): void {
    if (this.#writing !== undefined) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#pieces.length > 0) this.#writeOn();
    });
  }

  async #writeAll(): Promise<void> {
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      try {
        await this.#writePiece(piece);
      } catch (error) {
        this.#error = diskError(error);
        this.#pieces.length = 0;
        return;
      }
      this.#pieces.shift();
      this.#queuedBytes -= piece.length;
      if (piece.bytes.length === CHUNK_BYTES && this.#spare.length < 2) {
        this.#spare.push(piece.bytes);
      }
    }
  }

  async #writePiece({ bytes, length, position }: Piece): Promise<void> {
    for (let done = 0; done < length; ) {
      const left = length - done;
      const { bytesWritten } = await this.#file.write(bytes, done, left, position + done);
      if (bytesWritten === 0) throw new Error('the disk took nothing');
      done += bytesWritten;
    }
  }

  async #finish(): Promise<void> {
    this.#queueChunk();
    this.#writeOn();
    while (this.#writing !== undefined) await this.#writing;
    try {
      if (this.#error === undefined) await this.#file.sync();
    } catch (error) {
      this.#error = diskError(error);
    } finally {
      await this.#file.close();
    }
    if (this.#error !== undefined) throw this.#error;
  }
}

/** An error of the file system as one of ours. */
export function diskError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new GatewayError('STORE_FULL', {}, error)
    : new GatewayError('RECORDING_FAILED', { reason: code }, error);
}
