// Puts one answer's delay together from the parts that pipeline and model report: from the caller's
// last speech to the agent's first frame on the wire.

import type { TurnLatency } from '../../model/call-event.ts';

export interface TurnTimes {
  lastSpeechAt: number;
  decidedAt: number;
  finalAt: number;
}

export interface AnswerTimes {
  firstTextAt: number;
  firstAudioAt: number;
  firstFrameAt: number;
}

/** All times are monotonic milliseconds. Parts are never negative; `gatewayMs` is what is left. */
export function turnLatencyOf(turn: TurnTimes, answer: AnswerTimes): TurnLatency {
  const endpointingMs = gap(turn.lastSpeechAt, turn.decidedAt);
  const recognitionMs = gap(turn.decidedAt, turn.finalAt);
  const modelMs = gap(turn.finalAt, answer.firstTextAt);
  const speechMs = gap(Math.max(turn.finalAt, answer.firstTextAt), answer.firstAudioAt);
  const totalMs = gap(turn.lastSpeechAt, answer.firstFrameAt);
  const services = endpointingMs + recognitionMs + modelMs + speechMs;
  return {
    endpointingMs,
    recognitionMs,
    modelMs,
    speechMs,
    totalMs,
    gatewayMs: Math.max(0, rounded(totalMs - services)),
  };
}

function gap(from: number, to: number): number {
  return rounded(Math.max(0, to - from));
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
