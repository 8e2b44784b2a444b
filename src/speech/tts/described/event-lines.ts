// Server-sent events with data only: one JSON object per line. An incomplete line is kept in pieces, so that small
// chunks cost no more than large ones.

import { ByteParts } from '../../../std/byte-parts.ts';

const LINE_FEED = 10;

export class EventLines {
  readonly #bytesMax: number;
  readonly #parts = new ByteParts();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the data of the lines that `chunk` completes. Throws a RangeError for a line that is too long. */
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

  /** Returns the last line if it has data. An error may arrive as plain JSON instead. */
  end(): string[] {
    const line = this.#parts.take().toString().trim();
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : line;
    return data.startsWith('{') ? [data] : [];
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    if (this.#parts.bytes > this.#bytesMax) throw new RangeError('an event is too long');
  }
}
