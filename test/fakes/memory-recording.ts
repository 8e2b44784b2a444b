// A recording file in memory, which can be full.

import type { RecordingFile } from '../../src/pipeline/record.ts';

export class MemoryRecording implements RecordingFile {
  error: Error | undefined;
  closed = false;
  /** Bytes that fit. */
  bytesMax = Number.POSITIVE_INFINITY;
  appends = 0;
  #bytes = Buffer.alloc(1 << 16);
  #length = 0;

  append(bytes: Uint8Array): void {
    if (this.error !== undefined) return;
    this.appends++;
    if (this.#length + bytes.length > this.bytesMax) {
      this.error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      return;
    }
    while (this.#length + bytes.length > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    }
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  patch(offset: number, bytes: Uint8Array): void {
    if (this.error !== undefined) return;
    if (offset + bytes.length > this.#length) throw new Error('patch beyond the end');
    this.#bytes.set(bytes, offset);
  }

  /** What a killed process leaves behind. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
