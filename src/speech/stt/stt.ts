// Speech to text: the interface that every recogniser implements. One Recognizer per call.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';

export interface RecognizedWords {
  /** Lower or mixed case as the service gives it; empty if nothing was understood. */
  text: string;
  /** 0..1, or null where the service gives none. */
  confidence: number | null;
}

export interface RecognizerListener {
  onPartial(words: RecognizedWords): void;
  /** Answers `finalize` exactly once, and may come unasked where the service endpoints by itself. */
  onFinal(words: RecognizedWords): void;
  /** The recogniser is of no more use; the call goes on with the keypad. */
  onError(error: GatewayError): void;
}

export interface Recognizer {
  /** Every 20 ms of the caller at 8 kHz, speech or not. `frame` is borrowed. */
  push(frame: Int16Array): void;
  /** The VAD heard speech begin. Gated recognisers start here, with the last 500 ms before it. */
  speechStarted(): void;
  /** Asks for the final words of what was heard since `speechStarted`. */
  finalize(): void;
  /** What is expected from the next utterance on. */
  expect(expectation: ExpectedInput): void;
  close(): void;
}

export interface SpeechToText {
  readonly name: string;
  readonly model: string;
  readonly capabilities: {
    /** Gives partial results. */
    interimWords: boolean;
    /** Final words come within this time after `finalize` at the 99th percentile. */
    finalMsP99: number;
  };
  /** Never throws: failures reach the listener, once this has returned. */
  open(expectation: ExpectedInput, listener: RecognizerListener): Recognizer;
  close(): Promise<void>;
}
