// The events of one call's audio, as one union: the caller's turns and keys, the result of each utterance,
// answering machine detection, failures. A handler gets the events synchronously and in order, never from within
// another event of the same call. There are no events per frame.

import type { GatewayError } from '../errors/gateway-error.ts';
import type { ServiceUsage } from '../speech/service/service-means.ts';
import type { AnswerVerdict } from './answer/answer-verdict.ts';
import type { DigitEntry } from './receive/digit-collector.ts';
import type { Utterance, UtteranceResult } from './speak/utterance.ts';
import type { CallerTurn, TurnEvent } from './turn/turn-event.ts';

export interface UtteranceStart {
  utteranceId: number;
  interruptible: boolean;
  /** Monotonic milliseconds: first text received, first audio synthesised, first frame on the wire. */
  firstTextAt: number;
  firstAudioAt: number;
  firstFrameAt: number;
  /** Media time of the first frame. */
  mediaMs: number;
}

export interface UtteranceReport {
  utteranceId: number;
  /** Only the words that the caller heard. */
  heardText: string;
  /** What was to be said and was not heard; absent if all was. */
  unheardText?: string;
  interrupted: boolean;
  /** Media time of the first and the last audio; both the time of the report if none was sent. */
  startMs: number;
  endMs: number;
}

export type CallAudioEvent =
  | TurnEvent
  /** The caller's last words, after the call's audio has ended: no answer follows. */
  | { type: 'last-turn'; turn: CallerTurn }
  /** The recogniser is closed: no words of the caller follow. */
  | { type: 'words-complete' }
  /** Each key, for the log. The whole entry comes as a turn. */
  | { type: 'digit'; digit: string }
  | { type: 'utterance-started'; facts: UtteranceStart }
  /** The end of each utterance, exactly once and in order. `heardText` is empty if it never began. */
  | { type: 'utterance-finished'; report: UtteranceReport }
  /** A verdict of the answer supervisor; others may follow. */
  | { type: 'answered'; verdict: AnswerVerdict }
  /** Usage that a speech service has counted, a few times in a call. */
  | { type: 'usage'; usage: ServiceUsage }
  /** A service or the recording failed; the call continues as far as it can. */
  | { type: 'fault'; error: GatewayError }
  /** Speech recognition has failed: the caller has the keypad, until `recognizer-restored`. */
  | { type: 'recognizer-lost' }
  /** The recogniser of another node has recognised words. */
  | { type: 'recognizer-restored' }
  /** Our own code failed: the call must end. Reported at most once; its handler must not throw. */
  | { type: 'broken'; error: unknown };

/** Times of an utterance's first frame. `firstFrameAt`: monotonic milliseconds; `nowMs`: media time. */
export function utteranceStart(
  { id, interruptible, firstTextAt, firstAudioAt, startMs }: Utterance,
  firstFrameAt: number,
  nowMs: number,
): UtteranceStart {
  return {
    utteranceId: id,
    interruptible,
    firstTextAt: firstTextAt ?? firstFrameAt,
    firstAudioAt: firstAudioAt ?? firstFrameAt,
    firstFrameAt,
    mediaMs: startMs ?? nowMs,
  };
}

export function reportOf({
  utterance,
  heardText,
  interrupted,
  endMs,
}: UtteranceResult): UtteranceReport {
  const { id: utteranceId, startMs } = utterance;
  const unheardText = interrupted && heardText !== '' ? utterance.unheardText() : '';
  const report = { utteranceId, heardText, interrupted, startMs: startMs ?? endMs, endMs };
  return unheardText === '' ? report : { ...report, unheardText };
}

/** The caller's turn of an entry of keys. `startAt`: monotonic milliseconds at the start of media time; `nowMs`: media
 *  time. */
export function turnOfKeys(
  { text, startMs, endMs }: DigitEntry,
  startAt: number,
  nowMs: number,
): CallerTurn {
  const now = startAt + nowMs;
  const times = { startMs, endMs, lastSpeechAt: startAt + endMs, decidedAt: now, finalAt: now };
  return { text, confidence: 1, source: 'dtmf', ...times };
}
