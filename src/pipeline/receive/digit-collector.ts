// Collects the caller's keys into entries: by count, by terminator, or by a pause.

import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';

/** Pause between keys that ends an entry. */
const PAUSE_MS = 2_000;
/** Time after an entry that was complete by its count in which its terminator is part of it. */
const BELATED_MS = 3_000;
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
  #pauseMs = PAUSE_MS;
  /** Time of the last entry that its last digit has completed, and the key that would have done so too. */
  #full = { atMs: Number.NEGATIVE_INFINITY, terminator: '#' };

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
      this.#pauseMs = digits.pauseMs ?? PAUSE_MS;
      return;
    }
    this.#pauseMs = PAUSE_MS;
    // A menu takes one key; any other input may be a number of any length.
    this.#countMax = closed && !slots.includes('digits') ? 1 : KEYS_MAX;
    this.#terminator = this.#countMax === 1 ? null : '#';
  }

  /** Whether the key ends an entry that its last digit has already completed: callers who were told to press it do. */
  isBelated(key: string, nowMs: number): boolean {
    const { atMs, terminator } = this.#full;
    return this.#keys === '' && key === terminator && nowMs - atMs < BELATED_MS;
  }

  /** Takes one key (0-9 * # A-D) at `nowMs`. Returns the entry if this completes it. */
  push(key: string, nowMs: number): DigitEntry | undefined {
    if (this.#keys === '') this.#startMs = nowMs;
    this.#lastMs = nowMs;
    if (key === this.#terminator) return this.#complete(this.#keys === '' ? key : this.#keys);
    this.#keys += key;
    if (this.#keys.length < this.#countMax) return undefined;
    if (this.#terminator !== null) this.#full = { atMs: nowMs, terminator: this.#terminator };
    return this.#complete(this.#keys);
  }

  /** Returns the entry if a pause has ended it. */
  tick(nowMs: number): DigitEntry | undefined {
    if (this.#keys === '') return undefined;
    const full = this.#keys.length >= this.#countMax;
    return full || nowMs - this.#lastMs >= this.#pauseMs ? this.#complete(this.#keys) : undefined;
  }

  #complete(text: string): DigitEntry {
    this.#keys = '';
    return { text, startMs: this.#startMs, endMs: this.#lastMs };
  }
}
