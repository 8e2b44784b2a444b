// Time ranges of a stream whose words are final. A final may arrive twice, or after a later one: words between two
// finals are new, words within one are not.

import type { RecognizedWord } from '../stt.ts';

/** Finals that a late one may precede: services send them within seconds. */
const SPANS_MAX = 20;

export class FixedTimes {
  /** Range of each final from its first to its last word, in order of arrival. */
  readonly #spans: { startMs: number; endMs: number }[] = [];
  /** Latest end of a final. */
  #endMs = 0;
  /** Position before which only words after `#endMs` are new. */
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

  /** Declares that no late final has new words before `ms`. */
  close(ms: number): void {
    this.#closedMs = Math.max(this.#closedMs, ms);
  }
}
