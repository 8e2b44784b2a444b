// Bytes that arrive in pieces and are read as a whole. Small pieces are joined on the way: a buffer for each byte would
// need a hundred times the memory of the bytes themselves. The owner limits the total.

/** Pieces before they are joined: some 2 MB of objects. */
const PARTS_MAX = 20_000;

export class ByteParts {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Bytes of all pieces. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a piece, which must not change afterwards. */
  push(part: Buffer): void {
    if (this.#parts.length >= PARTS_MAX) this.#parts = [Buffer.concat(this.#parts, this.#bytes)];
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** Returns all pieces joined, and removes them. */
  take(): Buffer {
    const whole = Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return whole;
  }
}
