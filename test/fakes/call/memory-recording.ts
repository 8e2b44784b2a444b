// A recording file in memory, which can be full.

import type { RecordingFile } from '../../../src/pipeline/recorder.ts';

export class MemoryRecording implements RecordingFile {
  error: Error | undefined;
  closed = false;
  /** Bytes that fit. */
  bytesMax = Number.POSITIVE_INFINITY;
  appends = 0;
  lostBytes = 0;
  /** False while the disk is too slow. */
  hasSpace = true;
  #bytes = Buffer.alloc(1 << 16);
  #length = 0;

  append(bytes: Uint8Array): boolean {
    if (!this.hasSpace) return false;
    this.appends++;
    if (this.#length + bytes.length > this.bytesMax) {
      this.error ??= Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      this.skip(bytes.length);
      return true;
    }
    this.#extend(bytes.length);
    this.#bytes.set(bytes, this.#length - bytes.length);
    return true;
  }

  skip(bytes: number): void {
    this.lostBytes += bytes;
    this.#extend(bytes);
  }

  patch(offset: number, bytes: Uint8Array): boolean {
    if (offset + bytes.length > this.#length) throw new Error('patch beyond the end');
    if (this.hasSpace) this.#bytes.set(bytes, offset);
    return this.hasSpace;
  }

  /** What a killed process leaves behind. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  close(head?: Uint8Array, bytesMax = this.#length): Promise<void> {
    if (head !== undefined) this.#bytes.set(head, 0);
    this.#length = Math.min(this.#length, bytesMax);
    this.closed = true;
    return Promise.resolve();
  }

  #extend(bytes: number): void {
    while (this.#length + bytes > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    }
    this.#length += bytes;
  }
}
