// Server-sent events of which the data alone counts: one JSON object on one line each. What comes of an incomplete line
// is kept in pieces, so that small chunks cost no more than large ones.

const LINE_FEED = 10;
/** Pieces of a line before they become one. */
const PARTS_MAX = 20_000;

export class EventLines {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The data of the lines that `chunk` completes. Throws a RangeError for a line that is too long. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      lines.push(...this.end());
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return lines;
  }

  /** The last line, if it has data. An error may come as plain JSON instead. */
  end(): string[] {
    const line = Buffer.concat(this.#parts).toString().trim();
    this.#parts = [];
    this.#bytes = 0;
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : line;
    return data.startsWith('{') ? [data] : [];
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) throw new RangeError('an event is too long');
    if (this.#parts.length >= PARTS_MAX) this.#parts = [Buffer.concat(this.#parts)];
    this.#parts.push(part);
  }
}
