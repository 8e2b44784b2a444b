// Text to speech: the interface of synthesisers.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../service/service-means.ts';

export interface SpeechRequest {
  /** One sentence or clause, plain text. */
  text: string;
  /** The service's voice name; its default if undefined. */
  voice: string | undefined;
  /** The text is said in many calls: its audio may be kept. */
  isFixed?: boolean;
  /** No caller waits for it yet: requests without this go first. A service, whose requests are paid, makes only what it
   *  can keep. */
  isAhead?: boolean;
}

/** Word timings are milliseconds from the start of this request's or utterance's audio. */
export interface WordTiming {
  word: string;
  startMs: number;
  endMs: number;
}

export interface SpeechListener {
  /** Audio at 8 kHz, any length, in order. The listener keeps `samples`. */
  onAudio(samples: Int16Array): void;
  /** Optional; may come before or after the audio they describe. */
  onWords(words: readonly WordTiming[]): void;
  onUsage?(usage: ServiceUsage): void;
  /** The voice cannot say a part of the text; the rest is spoken. */
  onUnspoken?(error: GatewayError): void;
}

export interface UtteranceListener extends SpeechListener {
  /** Another service or voice goes on: what follows speaks the text from this character on, counted in all pieces joined
   *  by one space, and its times begin at 0. Audio before speaks the text before, and perhaps the begin of a clause
   *  that is spoken again. */
  onContinued?(fromCharacter: number): void;
  /** All audio has been delivered. Nothing follows. */
  onDone(): void;
  /** Nothing follows. */
  onError(error: GatewayError): void;
}

/** An utterance of the agent whose text comes in pieces; the service keeps its prosody across them. After `cancel`,
 *  the listener gets nothing more. */
export interface SpeechStream {
  /** A clause or sentence, plain text. */
  push(text: string): void;
  /** What was pushed is spoken now, without waiting for more text. */
  flush(): void;
  /** No more text. */
  end(): void;
  cancel(): void;
}

export interface StreamOptions {
  /** On a new connection: one that was kept open may be as dead as the one before. Default: false. */
  isRetry?: boolean;
}

export interface TextToSpeech {
  readonly name: string;
  readonly model: string;
  /** How much longer the begin of an utterance is to be gathered, as its audio has come late within utterances.
   *  Milliseconds; default: 0. */
  readonly cushionMs?: number;
  /** How long a caller waits for its audio where no other voice is left. Milliseconds; default: 5 s. */
  readonly audioWaitMs?: number;
  /** It says words in Latin letters only. Default: false. */
  readonly isLatinOnly?: boolean;
  /** Resolves when all audio has been delivered. Rejects with TTS_*; with the signal's reason when aborted,
   *  after which the listener gets nothing more. */
  synthesize(request: SpeechRequest, listener: SpeechListener, signal: AbortSignal): Promise<void>;
  /** One utterance of the agent, for services that take text in pieces. Never throws: failures go to the listener,
   *  after this has returned. Undefined: each sentence is a request of its own. */
  stream?(
    voice: string | undefined,
    listener: UtteranceListener,
    options?: StreamOptions,
  ): SpeechStream;
  /** The audio of a fixed line, borrowed. Undefined: it is not kept, or nothing is. The voice of a call is asked for what
   *  it plays at once: the call counts with the key of the service. */
  kept?(text: string, voice: string | undefined): Int16Array | undefined;
  /** Called while the phone rings: opens a connection ahead. Returns at once and never throws. */
  prepare?(): void;
  close(): Promise<void>;
}
