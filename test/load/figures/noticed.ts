// What the callers of a load measurement noticed of their agents, all calls together.

import { Histogram, WAIT_MS_MAX } from './histogram.ts';

/** An answer to marked words: the call, their first word, and when its first frame came (shared clock). */
export type AnswerHeard = readonly [call: number, first: number, atMs: number];

/** Where all calls put what their callers noticed. */
export interface Noticed {
  measuring: boolean;
  /** From the end of the caller's answer to the agent's first sound. */
  readonly response: Histogram;
  /** From the end of marked words to the first sound of their answer. */
  readonly answer: Histogram;
  readonly answers: AnswerHeard[];
  /** From the onset of the caller's voice to silence at the far end. */
  readonly bargeIn: Histogram;
  /** Answers that nothing followed. */
  unanswered: number;
}

export function noticedNothing(): Noticed {
  return {
    measuring: false,
    response: new Histogram(WAIT_MS_MAX),
    answer: new Histogram(WAIT_MS_MAX),
    answers: [],
    bargeIn: new Histogram(),
    unanswered: 0,
  };
}
