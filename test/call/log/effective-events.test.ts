// What counts of a log in which a conversation was taken back.

import { expect, it } from 'vitest';
import { effectiveEvents } from '../../../src/call/log/effective-events.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';

const said = (digit: string): CallEventBody => ({ type: 'dtmf', digit });
const back = (toSeq: number): CallEventBody => ({ type: 'chat.rewound', toSeq });
const cost: CallEventBody = {
  type: 'model.usage',
  service: 's',
  model: 'm',
  firstTokenMs: 0,
  totalMs: 0,
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
};

function seqsOf(bodies: CallEventBody[]): number[] {
  const events: CallEvent[] = bodies.map((body, index) => {
    return { runId: '1', seq: index + 1, at: 0, mediaMs: 0, body };
  });
  return effectiveEvents(events).map(({ seq }) => seq);
}

it('everything counts where nothing was taken back', () => {
  expect(seqsOf([said('1'), cost, said('2')])).toEqual([1, 2, 3]);
});

it('what stands between the turn and the taking back counts no more, but for its cost', () => {
  expect(seqsOf([said('1'), said('2'), cost, said('3'), back(1), said('4')])).toEqual([1, 3, 6]);
});

it('a taking back within a later one does nothing', () => {
  expect(seqsOf([said('1'), said('2'), back(1), back(2), said('3')])).toEqual([1, 2, 5]);
});

it('each counts from its own turn', () => {
  expect(seqsOf([said('1'), said('2'), back(1), said('3'), back(4), back(0), said('4')])).toEqual([
    7,
  ]);
});
