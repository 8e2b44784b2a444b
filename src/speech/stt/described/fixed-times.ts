// The times in the stream whose words a service has fixed. A final may come twice, and it may come after the final behind
// it: words between two finals are new, words within one are not.

import type { RecognizedWord } from '../stt.ts';

/** Finals behind which one may still come: services send them within seconds. */
const SPANS_MAX = 20;

export class FixedTimes {
  /** From the first to the last word of each final, in the order in which they came. */
  readonly #spans: { startMs: number; endMs: number }[] = [];
  /** The latest end. */
  #endMs = 0;
  /** Before it, only what is behind `#endMs` is new. */
  #closedMs = 0;

  isNew({ startMs, endMs }: RecognizedWord): boolean {
    const middleMs = (startMs + endMs) / 2;
    if (middleMs >= this.#endMs) return true;
    if (middleMs < this.#closedMs) return false;
    return !this.#spans.some((span) => middleMs >= span.startMs && middleMs < span.endMs);
  }

  add(words: readonly RecognizedWord[]): void {
    const [first] = words;
    const last = words.at(-1);
    if (first === undefined || last === undefined) return;
    this.#spans.push({ startMs: first.startMs, endMs: last.endMs });
    this.#endMs = Math.max(this.#endMs, last.endMs);
    if (this.#spans.length <= SPANS_MAX) return;
    this.close(this.#spans.shift()?.endMs ?? 0);
  }

  /** No final that comes out of its order has words before `ms` that have not gone out. */
  close(ms: number): void {
    this.#closedMs = Math.max(this.#closedMs, ms);
  }
}
