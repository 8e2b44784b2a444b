// Text to speech: the interface of synthesisers.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../service/service-means.ts';

export interface SpeechRequest {
  /** One sentence or clause, plain text. */
  text: string;
  /** Voice name of the service. Undefined: its default. */
  voice: string | undefined;
  /** Whether the text is said in many calls, so that its audio may be cached. */
  isFixed?: boolean;
  /** Whether no caller waits for it yet. Other requests come first. A service, whose requests are paid, synthesizes
   *  only what it can cache. */
  isAhead?: boolean;
}

/** A word with its times, in milliseconds from the start of this request's or utterance's audio. */
export interface WordTiming {
  word: string;
  startMs: number;
  endMs: number;
}

export interface SpeechListener {
  /** Called with audio at 8 kHz, any length, in order. The listener owns `samples`. */
  onAudio(samples: Int16Array): void;
  /** Called with word times, if there are any, before or after the audio that they describe. */
  onWords(words: readonly WordTiming[]): void;
  onUsage?(usage: ServiceUsage): void;
  /** Called when the voice cannot say a part of the text. The rest is spoken. */
  onUnspoken?(error: GatewayError): void;
}

export interface UtteranceListener extends SpeechListener {
  /** Called when another service or voice continues: later audio speaks the text from this character on, counted in all
   *  pieces joined by one space, with times from 0. Earlier audio speaks the text before it, and perhaps the beginning
   *  of a clause that is repeated. */
  onContinued?(fromCharacter: number): void;
  /** Called when all audio has been delivered. Nothing follows. */
  onDone(): void;
  /** Called on a failure. Nothing follows. */
  onError(error: GatewayError): void;
}

/** An utterance of the agent whose text arrives in pieces; the service keeps its prosody across them. After `cancel`
 *  the listener is not called any more. */
export interface SpeechStream {
  /** Adds a clause or sentence, plain text. */
  push(text: string): void;
  /** Requests speech of all pushed text now, without waiting for more. */
  flush(): void;
  /** Ends the text. */
  end(): void;
  cancel(): void;
}

export interface StreamOptions {
  /** Whether to use a new connection: a kept one may be as dead as the one before. Default: false. */
  isRetry?: boolean;
}

export interface TextToSpeech {
  readonly name: string;
  readonly model: string;
  /** Additional buffering at the beginning of an utterance, since audio has arrived late within utterances.
   *  Milliseconds; default: 0. */
  readonly cushionMs?: number;
  /** How long a caller waits for its audio if no other voice is left. Milliseconds; default: 5 s. */
  readonly audioWaitMs?: number;
  /** Whether it can speak only words in Latin letters. Default: false. */
  readonly isLatinOnly?: boolean;
  /** Resolves when all audio has been delivered. Rejects with TTS_*, or with the signal's reason when aborted, after
   *  which the listener is not called any more. */
  synthesize(request: SpeechRequest, listener: SpeechListener, signal: AbortSignal): Promise<void>;
  /** Opens one utterance, for services that accept text in pieces. Never throws: failures are reported to the listener
   *  after this has returned. Undefined: each sentence is a separate request. */
  stream?(
    voice: string | undefined,
    listener: UtteranceListener,
    options?: StreamOptions,
  ): SpeechStream;
  /** Cached audio of a fixed line, borrowed. Undefined if it is not cached. Call it only for a line that is played at
   *  once: the call then counts as a session of the service's key. */
  kept?(text: string, voice: string | undefined): Int16Array | undefined;
  /** Whether a fixed line is being synthesized, so that a request for it waits for that and costs nothing. Default:
   *  no. */
  isUnderWay?(text: string, voice: string | undefined): boolean;
  /** Opens a connection ahead while the phone rings. Returns at once and never throws. */
  prepare?(): void;
  close(): Promise<void>;
}
