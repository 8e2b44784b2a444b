// When a session of limited length is replaced, by itself. In calls: stt-fallback.test.ts.

import { expect, it } from 'vitest';
import { SessionRotation } from '../../../../src/speech/stt/fallback/session-rotation.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

function rotation() {
  const clock = new FakeClock();
  const events: string[] = [];
  const at: SessionRotation = new SessionRotation(clock, {
    onDue: () => events.push(`due ${clock.monotonicMs()} ${at.isDue}`),
    onOverdue: () => events.push(`overdue ${clock.monotonicMs()} ${at.isDue}`),
  });
  return { clock, events, at };
}

it('a session is to be replaced in a pause from 95 % of its length on, and at 99 % in any case', () => {
  const { clock, events, at } = rotation();
  at.await(10_000);
  expect(at.isDue).toBe(false);
  clock.advance(20_000);
  expect(events).toEqual(['due 9500 true', 'overdue 9900 true']);
});

it('a session without a limit is never replaced', () => {
  const { clock, events, at } = rotation();
  at.await(undefined);
  clock.advance(1_000_000_000);
  expect([events, clock.timers]).toEqual([[], 0]);
});

it('nothing is due of a session that is over, and the next one has its own time', () => {
  const { clock, events, at } = rotation();
  at.await(10_000);
  clock.advance(9_600);
  at.cancel();
  expect([at.isDue, clock.timers]).toEqual([false, 0]);
  at.await(10_000);
  clock.advance(9_499);
  expect(events).toEqual(['due 9500 true']);
  clock.advance(1);
  expect(events).toEqual(['due 9500 true', 'due 19100 true']);
});
