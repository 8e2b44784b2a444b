// Collects the caller's keys into entries: by count, by terminator, or by a pause.

import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';

/** Pause between keys that ends an entry. */
const PAUSE_MS = 2_000;
/** Longest entry: longer than any number that people enter. */
const KEYS_MAX = 32;

export interface DigitEntry {
  /** The keys without the terminator; the terminator itself if it was the only key. */
  text: string;
  startMs: number;
  endMs: number;
}

export class DigitCollector {
  #keys = '';
  #startMs = 0;
  #lastMs = 0;
  #countMax = KEYS_MAX;
  #terminator: string | null = '#';

  constructor() {
    this.expect(OPEN_SPEECH);
  }

  /** Whether an entry has begun. */
  get isOpen(): boolean {
    return this.#keys !== '';
  }

  /** Sets the expected input. Keys pressed before count for it: callers type ahead. */
  expect({ digits, slots, closed }: ExpectedInput): void {
    if (digits !== undefined) {
      this.#countMax = Math.max(1, Math.min(KEYS_MAX, digits.countMax));
      this.#terminator = digits.terminator;
      return;
    }
    // A menu takes one key; any other input may be a number of any length.
    this.#countMax = closed && !slots.includes('digits') ? 1 : KEYS_MAX;
    this.#terminator = this.#countMax === 1 ? null : '#';
  }

  /** Takes one key (0-9 * # A-D) at `nowMs`. Returns the entry if this completes it. */
  push(key: string, nowMs: number): DigitEntry | undefined {
    if (this.#keys === '') this.#startMs = nowMs;
    this.#lastMs = nowMs;
    if (key === this.#terminator) return this.#complete(this.#keys === '' ? key : this.#keys);
    this.#keys += key;
    return this.#keys.length >= this.#countMax ? this.#complete(this.#keys) : undefined;
  }

  /** Returns the entry if a pause has ended it. */
  tick(nowMs: number): DigitEntry | undefined {
    if (this.#keys === '') return undefined;
    const full = this.#keys.length >= this.#countMax;
    return full || nowMs - this.#lastMs >= PAUSE_MS ? this.#complete(this.#keys) : undefined;
  }

  #complete(text: string): DigitEntry {
    this.#keys = '';
    return { text, startMs: this.#startMs, endMs: this.#lastMs };
  }
}
