// Explains a stored run: reads a limited number of its events. The explanation itself: explain.ts.

import type { Run } from '../../model/run.ts';
import type { Store } from '../../store/store.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';

/** Events that are read: how a call began, and what led to its end. An hour of a talkative call has fewer. */
export const FIRST_EVENTS_MAX = 500;
export const LAST_EVENTS_MAX = 4_500;

export interface RunExplanation extends Explanation {
  events: { read: number; total: number };
}

/** Throws STORE_UNAVAILABLE. */
export async function explainRun(
  { runs }: { runs: Pick<Store['runs'], 'eventEnds'> },
  run: Run,
): Promise<RunExplanation> {
  const limits = { first: FIRST_EVENTS_MAX, last: LAST_EVENTS_MAX };
  const { events, total } = await runs.eventEnds(run.id, limits);
  return { ...explain(run, events), events: { read: events.length, total } };
}
