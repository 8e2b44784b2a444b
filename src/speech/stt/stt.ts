// Speech to text: the interface of recognisers. One Recognizer per call.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';

export interface RecognizedWords {
  /** Lower or mixed case as the service returns it; empty if nothing was recognised. */
  text: string;
  /** 0..1, or null where the service has none. */
  confidence: number | null;
}

export interface RecognizerListener {
  onPartial(words: RecognizedWords): void;
  /** The answer to `finalize`, exactly once; services with their own endpointing may also send it unasked. */
  onFinal(words: RecognizedWords): void;
  /** The recogniser has failed for good; the call goes on with the keypad. */
  onError(error: GatewayError): void;
}

export interface Recognizer {
  /** Every 20 ms of the caller at 8 kHz, speech or not. `frame` is borrowed. */
  push(frame: Int16Array): void;
  /** The VAD detected the start of speech. Gated recognisers start here, with the 500 ms before it. */
  speechStarted(): void;
  /** Asks for the final words since `speechStarted`. */
  finalize(): void;
  /** Expected input from the next utterance on. */
  expect(expectation: ExpectedInput): void;
  close(): void;
}

export interface SpeechToText {
  readonly name: string;
  readonly model: string;
  readonly capabilities: {
    /** Whether it has partial results. */
    interimWords: boolean;
    /** Final words come within this time after `finalize` at the 99th percentile. */
    finalMsP99: number;
  };
  /** Never throws: failures go to the listener, after this has returned. */
  open(expectation: ExpectedInput, listener: RecognizerListener): Recognizer;
  close(): Promise<void>;
}
