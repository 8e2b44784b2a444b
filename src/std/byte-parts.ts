// Bytes that arrive in pieces and are read as a whole. Small pieces are joined on the way: a buffer for each byte
// would need a hundred times the memory of the bytes themselves. How many bytes there may be is the owner's limit.

/** Pieces before they become one: some 2 MB of objects. */
const PARTS_MAX = 20_000;

export class ByteParts {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Of all pieces. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `part` must not change afterwards. */
  push(part: Buffer): void {
    if (this.#parts.length >= PARTS_MAX) this.#parts = [Buffer.concat(this.#parts, this.#bytes)];
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** All pieces as one; empty afterwards. */
  take(): Buffer {
    const whole = Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return whole;
  }
}
