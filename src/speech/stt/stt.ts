// Speech to text: the interface of recognisers. One Recognizer per call.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';
import type { ServiceUsage } from '../service/service-means.ts';

/** Milliseconds from the first sample that the recogniser was given. */
export interface RecognizedWord {
  word: string;
  startMs: number;
  endMs: number;
}

export interface RecognizedWords {
  /** Lower or mixed case as the service returns it; empty if nothing was recognised. */
  text: string;
  /** 0..1, or null where the service has none. */
  confidence: number | null;
  /** Undefined where the service has no times. */
  words?: readonly RecognizedWord[] | undefined;
  /** BCP 47, where the service detects it. */
  language?: string | undefined;
}

/** A turn as the service sees it. `eager-end`: probably over, with these words; `resumed`: it was not. */
export type VendorTurn = 'started' | 'eager-end' | 'resumed' | 'ended';

export interface RecognizerListener {
  onPartial(words: RecognizedWords): void;
  /** The answer to `finalize`, exactly once, with all words since the last final. While no answer is due, a service
   *  with its own endpointing may also send finals unasked: each has the words that the finals before it have not. */
  onFinal(words: RecognizedWords): void;
  /** The service sent something, also without words: it is alive. */
  onActivity?(): void;
  /** Of services that see turns. The words of `ended` come in `onFinal`, before this. */
  onTurn?(turn: VendorTurn, words: RecognizedWords): void;
  onUsage?(usage: ServiceUsage): void;
  /** Another recogniser answers from here on. */
  onReplaced?(capabilities: SttCapabilities): void;
  /** The final words that are due, or asked for at this moment, come later by so much: audio is replayed. */
  onDelayed?(ms: number): void;
  /** The recogniser has failed for good and must not be used any more. */
  onError(error: GatewayError): void;
}

export interface Recognizer {
  /** False while its connection is being opened: what is pushed goes out at once then, faster than the service may take
   *  it. Undefined: it takes audio at any time. */
  readonly isReady?: boolean;
  /** Every 20 ms of the caller at 8 kHz, speech or not. `frame` is borrowed. */
  push(frame: Int16Array): void;
  /** The VAD detected the start of speech. Gated recognisers start here, with the 500 ms before it. */
  speechStarted(): void;
  /** The VAD detected the end of speech: audio that waits for a full packet goes out. */
  speechStopped?(): void;
  /** The VAD detected speech again, before the final words were asked for. */
  speechResumed?(): void;
  /** The caller has probably finished: the final words may be prepared. `finalize` follows soon, unless `speechResumed` does. */
  prepareFinal?(): void;
  /** Asks for the final words since `speechStarted`. */
  finalize(): void;
  /** Expected input from the next utterance on. */
  expect(expectation: ExpectedInput): void;
  /** What the caller has heard from the agent and may answer; of services that recognise answers better with it. */
  agentSaid?(text: string): void;
  /** BCP 47, or as the service names it; from now on, in this session. Of services that declare `setsLanguage`. */
  setLanguage?(language: string): void;
  /** The list of services for another step of the conversation goes on, from the next pause of the caller: a turn keeps
   *  the recogniser that it began with. Of recognisers that were opened with several lists. */
  switchTo?(list: number): void;
  /** The call is over: as `close`, and the service's last words (in `onFinal`) and what it bills come before this resolves,
   *  within seconds. Never rejects. Of recognisers whose services answer the end of a session; a fault (in `onError`) comes
   *  before it resolves as well, and other words may follow. */
  finish?(): Promise<void>;
  close(): void;
}

export interface SttCapabilities {
  /** Whether it has partial results. */
  interimWords: boolean;
  /** Final words come within this time after `finalize` at the 99th percentile. */
  finalMsP99: number;
  /** It recognises the phrases of the expected input only, nothing else. Default: false. */
  closedOnly?: boolean;
  /** `answered`: an exact answer; `by-silence`: the service ends an utterance by its own endpointing only. Default:
   *  answered. */
  finalize?: 'answered' | 'by-silence';
  /** Whether the service decides when a turn ends, and whether early. Default: none: an `ended` ends no turn then. */
  ownTurns?: 'none' | 'ends' | 'eager';
  /** Of services with `ownTurns`: the silence that is enough otherwise ends a turn as well, without waiting for the
   *  service. Default: false. */
  silenceEnds?: boolean;
  /** Whether an open session changes its language. Default: false. */
  setsLanguage?: boolean;
  /** It gets speech only, not the silence between. Default: false. */
  gated?: boolean;
  /** The longest session; the fallback opens the next one in a pause before that. */
  sessionMsMax?: number;
  /** How much faster than real time replayed audio may come. Default: 1.8. */
  replaySpeedMax?: number;
}

export interface SpeechToText {
  readonly name: string;
  readonly model: string;
  readonly capabilities: SttCapabilities;
  /** Never throws: failures go to the listener, after this has returned. `list`: that with which a recogniser of several
   *  lists begins (`switchTo`). Default: 0. */
  open(expectation: ExpectedInput, listener: RecognizerListener, list?: number): Recognizer;
  /** Called while the phone rings: opens a connection ahead. Returns at once and never throws. */
  prepare?(): void;
  close(): Promise<void>;
}
