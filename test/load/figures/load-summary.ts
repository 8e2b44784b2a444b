// What the load process reports at its end: everything that the far ends heard and their callers noticed.

import type { Heard } from '../caller/heard.ts';
import type { Histogram } from './histogram.ts';
import type { AnswerHeard, Noticed } from './noticed.ts';

/** Null: nothing of the kind was heard. Durations are of the measured seconds, counts of the whole time. */
export interface LoadSummary {
  calls: number;
  refused: number;
  /** Calls that ended before they were hung up. */
  dropped: number;
  failures: string[];
  framesReceived: number;
  markedFrames: number;
  lostFrames: number;
  reorderedFrames: number;
  underruns: number;
  underrunMs: number;
  latenessP50Ms: number | null;
  latenessP95Ms: number | null;
  latenessP99Ms: number | null;
  latenessMaxMs: number | null;
  spacingP50Ms: number | null;
  spacingP95Ms: number | null;
  spacingP99Ms: number | null;
  spacingMaxMs: number | null;
  responses: number;
  responseP50Ms: number | null;
  responseP95Ms: number | null;
  /** Marked words of each call of a series. */
  said: [call: number, words: number][];
  /** Answers to marked words, and when each was heard. */
  answers: AnswerHeard[];
  answerP50Ms: number | null;
  answerP95Ms: number | null;
  answerP99Ms: number | null;
  responseP99Ms: number | null;
  bargeIns: number;
  bargeInP50Ms: number | null;
  bargeInP95Ms: number | null;
  unanswered: number;
  /** Messages that are none of the provider's protocol. */
  faults: number;
  unsentFrames: number;
  /** How late this process was itself: what it measures may be as much too high. */
  clientDelayP99Ms: number | null;
}

export interface Counted {
  calls: number;
  refused: number;
  dropped: number;
  failures: string[];
  faults: number;
  unsentFrames: number;
  heard: Heard;
  noticed: Noticed;
  /** How late the load process was for its own frames. */
  delay: Histogram;
  said: [number, number][];
}

export function summaryOf({ heard, noticed, delay, ...counts }: Counted): LoadSummary {
  const { lateness, spacing } = heard;
  const { response, answer, answers, bargeIn } = noticed;
  return {
    ...counts,
    framesReceived: heard.frames,
    markedFrames: heard.markedFrames,
    lostFrames: heard.lostFrames,
    reorderedFrames: heard.reorderedFrames,
    underruns: heard.underruns,
    underrunMs: heard.underrunMs,
    latenessP50Ms: lateness.at(0.5),
    latenessP95Ms: lateness.at(0.95),
    latenessP99Ms: lateness.at(0.99),
    latenessMaxMs: lateness.max,
    spacingP50Ms: spacing.at(0.5),
    spacingP95Ms: spacing.at(0.95),
    spacingP99Ms: spacing.at(0.99),
    spacingMaxMs: spacing.max,
    responses: response.count,
    responseP50Ms: response.at(0.5),
    responseP95Ms: response.at(0.95),
    responseP99Ms: response.at(0.99),
    answers,
    answerP50Ms: answer.at(0.5),
    answerP95Ms: answer.at(0.95),
    answerP99Ms: answer.at(0.99),
    bargeIns: bargeIn.count,
    bargeInP50Ms: bargeIn.at(0.5),
    bargeInP95Ms: bargeIn.at(0.95),
    unanswered: noticed.unanswered,
    clientDelayP99Ms: delay.at(0.99),
  };
}
