// All that one call's audio reports, as one union: the caller's turns and keys, what became of each utterance,
// who answered, what failed. A handler gets the events synchronously, in order, never from within another one
// of the same call. Nothing is reported per frame.

import type { GatewayError } from '../errors/gateway-error.ts';
import type { AnsweredBy } from './listen/answering-machine-detector.ts';
import type { TurnEvent } from './turn/turn-event.ts';

export interface UtteranceStart {
  utteranceId: number;
  interruptible: boolean;
  /** Monotonic milliseconds: first text given, first audio synthesised, first frame on the wire. */
  firstTextAt: number;
  firstAudioAt: number;
  firstFrameAt: number;
  /** Media time of the first frame. */
  mediaMs: number;
}

export interface UtteranceReport {
  utteranceId: number;
  /** Only words that the caller heard. */
  heardText: string;
  interrupted: boolean;
  /** Media time of the first and the last audio; both the time of the report if none was sent. */
  startMs: number;
  endMs: number;
}

export type CallAudioEvent =
  | TurnEvent
  /** Each key, for the log; the entry itself comes as a turn. */
  | { type: 'digit'; digit: string }
  | { type: 'utterance-started'; facts: UtteranceStart }
  /** Exactly once per utterance, in order. `heardText` is empty if it never began. */
  | { type: 'utterance-finished'; report: UtteranceReport }
  /** At most twice: a beep may follow what was known before. */
  | { type: 'answered-by'; answeredBy: AnsweredBy }
  /** A service or the recording failed; the call goes on as far as it can. */
  | { type: 'fault'; error: GatewayError }
  /** Our own code failed: the call must end. At most once; its handler must not throw. */
  | { type: 'broken'; error: unknown };
