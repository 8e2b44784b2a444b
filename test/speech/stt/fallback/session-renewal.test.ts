// When a recogniser gets another session, by itself: after a fault, and before the end of a session of limited length.
// In calls: stt-fallback.test.ts.

import { describe, expect, it } from 'vitest';
import { type FaultKind, ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import {
  SessionRetry,
  SessionRotation,
} from '../../../../src/speech/stt/fallback/session-renewal.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const faultOf = (kind: FaultKind) => new ServiceFault('stt', 'a', kind, { detail: 'test' });
const SHORT = { livedMs: 29_999, isLastResort: false };
const LONG = { livedMs: 30_000, isLastResort: false };

describe('another session of a recogniser at fault', () => {
  it.each([
    ['network', true, true],
    ['overload', true, true],
    ['session', true, true],
    ['timeout', false, true],
    ['protocol', false, true],
    ['rate', false, false],
    ['auth', false, false],
    ['forbidden', false, false],
    ['request', false, false],
    ['quota', false, false],
  ] as const)('after %s: %s; with nothing for free speech behind it: %s', (kind, usual, last) => {
    expect(new SessionRetry().take(faultOf(kind), SHORT)).toBe(usual);
    const isLastResort = true;
    expect(new SessionRetry().take(faultOf(kind), { ...SHORT, isLastResort })).toBe(last);
  });

  it('comes once, until a session has lasted 30 s or another service is used', () => {
    const retry = new SessionRetry();
    const fault = faultOf('network');
    expect([retry.take(fault, LONG), retry.take(fault, SHORT)]).toEqual([true, false]);
    expect([retry.take(fault, LONG), retry.take(fault, SHORT)]).toEqual([true, false]);
    retry.reset();
    expect([retry.take(fault, SHORT), retry.take(fault, SHORT)]).toEqual([true, false]);
  });

  it('is not used up by a fault that gets none', () => {
    const retry = new SessionRetry();
    expect(retry.take(faultOf('auth'), SHORT)).toBe(false);
    expect(retry.take(faultOf('network'), SHORT)).toBe(true);
  });
});

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
