// A file that grows during a call. Nothing here waits for the disk: bytes are copied to the writing thread. Bytes that
// a full or broken disk refuses are silence in the file, and all others are in their place; `close` throws the first
// error.

import { GatewayError } from '../../errors/gateway-error.ts';
import { recordingLostBytes } from '../../metrics/metrics.ts';
import type { FileWriter } from './file-store.ts';
import type { FileWrites, OnFailed } from './write-queue.ts';

/** The used part of an open file (node:fs FileHandle). */
export interface OpenedFile {
  readonly fd: number;
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<unknown>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The thread that writes (write-queue). */
export interface Writes {
  open(descriptor: number, onFailed: OnFailed): FileWrites;
}

export class LocalFileWriter implements FileWriter {
  readonly #file: OpenedFile;
  readonly #writes: FileWrites;
  #size: number;
  #lostBytes = 0;
  #error: GatewayError | undefined;
  #closed: Promise<void> | undefined;

  /** `size`: of the file, or of the part that is kept. */
  constructor(file: OpenedFile, writes: Writes, size = 0) {
    this.#file = file;
    this.#size = size;
    this.#writes = writes.open(file.fd, (bytes, reason) => this.#failed(bytes, reason));
  }

  get size(): number {
    return this.#size;
  }

  get lostBytes(): number {
    return this.#lostBytes;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  append(bytes: Uint8Array): boolean {
    if (this.#closed !== undefined) return true;
    if (!this.#writes.write(bytes, this.#size, false)) return false;
    this.#size += bytes.length;
    return true;
  }

  skip(bytes: number): void {
    if (this.#closed !== undefined) return;
    this.#size += bytes;
    this.#lose(bytes, 'slow');
  }

  patch(offset: number, bytes: Uint8Array): boolean {
    if (this.#closed !== undefined) return true;
    return this.#writes.write(bytes, offset, true);
  }

  close(head?: Uint8Array, bytesMax?: number): Promise<void> {
    this.#closed ??= this.#finish(head, bytesMax);
    return this.#closed;
  }

  #failed(bytes: number, reason: string): void {
    this.#error ??= errorOf(reason);
    this.#lose(bytes, 'disk');
  }

  #lose(bytes: number, reason: 'slow' | 'disk'): void {
    this.#lostBytes += bytes;
    recordingLostBytes.inc({ reason }, bytes);
  }

  async #finish(head: Uint8Array | undefined, bytesMax: number | undefined): Promise<void> {
    await this.#writes.finish();
    const isCut = bytesMax !== undefined && bytesMax < this.#size;
    if (isCut) this.#size = bytesMax;
    try {
      // The end may be missing.
      if (isCut || this.#lostBytes > 0) await this.#file.truncate(this.#size);
      if (head !== undefined) await this.#file.write(head, 0, head.length, 0);
      await this.#file.sync();
    } catch (error) {
      this.#error ??= diskError(error);
    } finally {
      await this.#file.close();
    }
    if (this.#error !== undefined) throw this.#error;
  }
}

/** The GatewayError of a file system error. */
export function diskError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return errorOf(reason, error);
}

function errorOf(reason: string, cause?: unknown): GatewayError {
  return reason === 'ENOSPC' || reason === 'EDQUOT'
    ? new GatewayError('STORE_FULL', {}, cause)
    : new GatewayError('RECORDING_FAILED', { reason }, cause);
}
