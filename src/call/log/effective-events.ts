// What counts of a run's event log: a conversation in writing may be taken back to an earlier turn, and
// what was said after that stays in the log without counting.

import type { CallEvent } from '../../model/call-event.ts';

/** In the order of the log. What language models were used for counts all the same. */
export function effectiveEvents(events: readonly CallEvent[]): CallEvent[] {
  const counting: CallEvent[] = [];
  // From the end: a taking back that was itself taken back does nothing.
  let seqMax = Number.POSITIVE_INFINITY;
  for (const event of events.toReversed()) {
    const { seq, body } = event;
    if (seq <= seqMax && body.type === 'chat.rewound') seqMax = Math.min(seqMax, body.toSeq);
    else if (seq <= seqMax || body.type === 'model.usage') counting.push(event);
  }
  return counting.reverse();
}
