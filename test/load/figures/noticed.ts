// What the callers of a load measurement noticed of their agents, all calls together.

import { Histogram } from './histogram.ts';

/** Where all calls put what their callers noticed. */
export interface Noticed {
  measuring: boolean;
  /** From the end of the caller's answer to the agent's first sound. */
  readonly response: Histogram;
  /** From the onset of the caller's voice to silence at the far end. */
  readonly bargeIn: Histogram;
  /** Answers that nothing followed. */
  unanswered: number;
}

export function noticedNothing(): Noticed {
  return { measuring: false, response: new Histogram(), bargeIn: new Histogram(), unanswered: 0 };
}
