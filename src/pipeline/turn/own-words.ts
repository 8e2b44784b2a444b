// The agent's last words, which may return as echo and be recognised late.

import { wordsOf } from './endpointing.ts';

/** Delay of words from echo: the echo's own delay, and a recogniser that ends an utterance by itself. */
const ECHOED_WORDS_MS = 2_500;
/** Share of an echo's words that a recogniser may misrecognise. */
const ECHOED_SHARE = 0.6;

export class OwnWords {
  #words = new Set<string>();
  #endMs = Number.NEGATIVE_INFINITY;

  /** Notes that the caller heard `text` until `endMs` of media time. */
  said(text: string, endMs: number): void {
    if (text === '') return;
    this.#words = new Set(wordsOf(text));
    this.#endMs = endMs;
  }

  /** Whether `text` is an echo of the agent's words. */
  echo(text: string, nowMs: number): boolean {
    if (nowMs - this.#endMs > ECHOED_WORDS_MS) return false;
    const words = wordsOf(text);
    const same = words.filter((word) => this.#words.has(word)).length;
    return same >= words.length * ECHOED_SHARE;
  }
}
