// Speech to text: the interface of recognisers. One Recognizer per call.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';
import type { ServiceUsage } from '../service/service-means.ts';

/** A word with its times, in milliseconds from the first sample that was pushed. */
export interface RecognizedWord {
  word: string;
  startMs: number;
  endMs: number;
}

export interface RecognizedWords {
  /** Text in lower or mixed case as the service returns it; empty if nothing was recognised. */
  text: string;
  /** Confidence 0..1, or null if the service has none. */
  confidence: number | null;
  /** Undefined if the service has no times. */
  words?: readonly RecognizedWord[] | undefined;
  /** Language tag (BCP 47), if the service detects it. */
  language?: string | undefined;
}

/** Turn events of a service. `eager-end`: probably over, with these words; `resumed`: it was not. */
export type VendorTurn = 'started' | 'eager-end' | 'resumed' | 'ended';

export interface RecognizerListener {
  onPartial(words: RecognizedWords): void;
  /** The answer to `finalize`, exactly once, with all words since the last final. While no answer is due, a service
   *  with its own endpointing may also send finals unasked: each has the words that the finals before it have not. */
  onFinal(words: RecognizedWords): void;
  /** Called when the service sent anything, even without words: it is alive. */
  onActivity?(): void;
  /** Called for turn events, if the service has them. The words of `ended` arrive in `onFinal` before this. */
  onTurn?(turn: VendorTurn, words: RecognizedWords): void;
  onUsage?(usage: ServiceUsage): void;
  /** Called when another recogniser takes over. */
  onReplaced?(capabilities: SttCapabilities): void;
  /** Called when due or just requested final words will be late by `ms`, because audio is replayed, or a busy recogniser
   *  is still at work. */
  onDelayed?(ms: number): void;
  /** Called when the recogniser has failed permanently. It must not be used any more. */
  onError(error: GatewayError): void;
}

export interface Recognizer {
  /** False while its connection is being opened: audio pushed meanwhile is sent at once afterwards, faster than the
   *  service may accept. Undefined: it accepts audio at any time. */
  readonly isReady?: boolean;
  /** Adds 20 ms of the caller's audio at 8 kHz, speech or not. `frame` is borrowed. */
  push(frame: Int16Array): void;
  /** The VAD detected the start of speech. Gated recognisers start here, with the 500 ms before it. */
  speechStarted(): void;
  /** The VAD detected the end of speech: an incomplete packet of audio is sent. */
  speechStopped?(): void;
  /** The VAD detected speech again, before the final words were requested. */
  speechResumed?(): void;
  /** The caller has probably finished: the final words may be prepared. `finalize` follows soon, unless `speechResumed`
   *  does. */
  prepareFinal?(): void;
  /** Requests the final words since `speechStarted`. */
  finalize(): void;
  /** Sets the expected input from the next utterance on. */
  expect(expectation: ExpectedInput): void;
  /** Text that the caller has heard from the agent and may answer. For services that use it to recognise answers. */
  agentSaid?(text: string): void;
  /** Changes the language of the session: BCP 47, or the service's name for it. For services that declare
   *  `setsLanguage`. */
  setLanguage?(language: string): void;
  /** Selects the list of services for another step of the conversation, from the caller's next pause: a turn keeps its
   *  recogniser. For recognisers that were opened with several lists. */
  switchTo?(list: number): void;
  /** Ends the call like `close`. The service's last words (in `onFinal`) and its billed usage arrive before this
   *  resolves, within seconds. Never rejects. For recognisers whose services answer the end of a session. A fault (in
   *  `onError`) also arrives before it resolves, and other words may follow. */
  finish?(): Promise<void>;
  close(): void;
}

export interface SttCapabilities {
  /** Whether it reports interim words. */
  interimWords: boolean;
  /** 99th percentile of the milliseconds from `finalize` to the final words. */
  finalMsP99: number;
  /** Whether it recognises only the phrases of the expected input. Default: false. */
  closedOnly?: boolean;
  /** `answered`: every `finalize` gets its answer; `by-silence`: only the service's own endpointing ends an utterance.
   *  Default: answered. */
  finalize?: 'answered' | 'by-silence';
  /** Whether the service does its own endpointing, and whether it reports probable ends early. Default: none; then an
   *  `ended` ends no turn. */
  ownTurns?: 'none' | 'ends' | 'eager';
  /** For services with `ownTurns`: whether silence alone also ends a turn, without waiting for the service. Default:
   *  false. */
  silenceEnds?: boolean;
  /** Whether an open session can change its language. Default: false. */
  setsLanguage?: boolean;
  /** Whether it receives only speech, without the silence between. Default: false. */
  gated?: boolean;
  /** Longest session in milliseconds. The fallback opens the next one in a pause before that. */
  sessionMsMax?: number;
  /** Maximum speed of replayed audio, as a factor of real time. Default: 1.8. */
  replaySpeedMax?: number;
}

export interface SpeechToText {
  readonly name: string;
  readonly model: string;
  readonly capabilities: SttCapabilities;
  /** Opens a recogniser. Never throws: failures are reported to the listener after this has returned. `list`: number of
   *  the first list (see `switchTo`). Default: 0. */
  open(expectation: ExpectedInput, listener: RecognizerListener, list?: number): Recognizer;
  /** Opens a connection ahead while the phone rings. Returns at once and never throws. */
  prepare?(): void;
  close(): Promise<void>;
}
