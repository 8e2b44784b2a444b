// Shared buffer for the text frames that a server sends: each is written into it and passed to the kernel at once. If
// the kernel does not accept all of it, the sender releases the buffer.
// Source: RFC 6455 §5.2.

import { writeTextHead } from './websocket-frames.ts';

/** A second of telephone audio in base64, and its envelope. */
const BYTES_USUAL = 12 * 1024;
const HEAD_BYTES_MAX = 4;

export class SharedFrameBuffer {
  #bytes = Buffer.allocUnsafeSlow(BYTES_USUAL);
  /** View of `#bytes` with the last frame, reused while the size stays. */
  #frame = this.#bytes.subarray(0, 0);

  /** Frame of a message of up to 65,535 bytes of ASCII, valid until the next one or `release`. */
  textFrame(message: Uint8Array): Buffer {
    if (message.length + HEAD_BYTES_MAX > this.#bytes.length) {
      this.#take(message.length + HEAD_BYTES_MAX);
    }
    const headBytes = writeTextHead(this.#bytes, message.length);
    this.#bytes.set(message, headBytes);
    const bytes = headBytes + message.length;
    if (this.#frame.length !== bytes) this.#frame = this.#bytes.subarray(0, bytes);
    return this.#frame;
  }

  /** Releases the last frame, which the caller then owns. */
  release(): void {
    this.#take(this.#bytes.length);
  }

  #take(bytes: number): void {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
    this.#frame = this.#bytes.subarray(0, 0);
  }
}
