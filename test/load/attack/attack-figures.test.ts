// What clients of an attacked API measure.

import { expect, it } from 'vitest';
import { newHonestFigures, noteReply, pathLines } from './honest-clients.ts';
import { newCallFigures } from './new-calls.ts';

it('has the p99 of replies that take longer than 2 s', () => {
  const calls = newCallFigures();
  for (const durations of [newHonestFigures().durations, calls.webhook, calls.upgrade]) {
    for (let reply = 1; reply <= 98; reply++) durations.add(reply);
    durations.add(12_345.6);
    durations.add(29_999.9);
    expect([durations.at(0.98), durations.at(0.99), durations.at(1)]).toEqual([
      98, 12_345.6, 29_999.9,
    ]);
  }
});

it('tells the durations of each page of a dashboard apart', () => {
  const figures = newHonestFigures();
  noteReply(figures, { path: '/calls/active', ms: 10, isOk: true });
  noteReply(figures, { path: '/calls/active', ms: 30, isOk: true });
  noteReply(figures, { path: '/workflow/summary', ms: 700, isOk: false });
  expect(pathLines(figures)).toEqual([
    '/calls/active 2 requests, 10, 30, 30 ms',
    '/workflow/summary 1 requests, 700, 700, 700 ms',
  ]);
  expect(figures).toMatchObject({ requests: 3, failed: 1 });
});
