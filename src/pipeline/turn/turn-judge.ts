// The interface that decides whether the caller has finished; implemented by endpointing (turn/endpointing.ts). One
// judge per call, synchronous: a slow judge, such as a semantic model, returns its present estimate, and another one
// when it knows more.

import type { ExpectedInput } from '../../model/expected-input.ts';

export interface CallerWords {
  /** The words recognised so far; empty if none. */
  text: string;
  /** Language (BCP 47). Undefined if it is not known. */
  language?: string | undefined;
  expectation: ExpectedInput;
  /** Whether the recogniser gives interim words. */
  interimWords: boolean;
  /** Whether the held agent waits for the decision. */
  hurried: boolean;
  /** Whether it may be the greeting of a caller whom the agent has not greeted yet. Default: false. */
  opening?: boolean;
}

export interface TurnJudge {
  /** Takes the words of the turn, or the rest of `said`, before the properties are read; again only after a change. */
  consider(said: CallerWords): void;
  /** Milliseconds of silence that end the turn. Read with every frame of a pause. */
  readonly silenceNeededMs: number;
  /** Whether parts of a value are missing: then a recogniser's own end of the turn does not end it. */
  readonly isIncomplete: boolean;
}
