// The probable end of the caller's turn, reported by the recogniser before it is certain, so that an answer can be
// prepared. The turn's own end confirms it, further words withdraw it.

import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';
import type { RecognizedWords } from '../../speech/stt/stt.ts';
import { isExpectedAnswer, plainOf, wordsOf } from './endpointing.ts';

/** Reports in one turn. Each may cost an answer of a model, and a caller who pauses often gains nothing. */
const REPORTS_MAX = 2;
/** Fewest words of a report: fewer are the start of a sentence, unless they are expected. */
const WORDS_MIN = 2;

export class EarlyEnd {
  #expectation: ExpectedInput = OPEN_SPEECH;
  #words: string | undefined;
  #reports = 0;

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
  }

  /** Whether the end with these words is worth a report. */
  report({ text, language }: Pick<RecognizedWords, 'text' | 'language'>): boolean {
    const words = wordsOf(text);
    const joined = plainOf(text);
    if (this.#reports >= REPORTS_MAX || joined === this.#words) return false;
    if (words.length < WORDS_MIN && !isExpectedAnswer(text, this.#expectation, language)) {
      return false;
    }
    this.#words = joined;
    this.#reports += 1;
    return true;
  }

  /** Whether these words, of the same turn, are others than the reported ones. */
  contradicts(text: string): boolean {
    return this.#words !== undefined && plainOf(text) !== this.#words;
  }

  /** Withdraws the report. Returns whether there was one. */
  withdraw(): boolean {
    const isReported = this.#words !== undefined;
    this.#words = undefined;
    return isReported;
  }

  /** Resets the state: the turn is over. */
  reset(): void {
    this.#words = undefined;
    this.#reports = 0;
  }
}
