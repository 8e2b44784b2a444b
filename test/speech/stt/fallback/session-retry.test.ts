// Whether a recogniser at fault gets another session, by itself. In calls: stt-fallback.test.ts.

import { describe, expect, it } from 'vitest';
import { type FaultKind, ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { SessionRetry } from '../../../../src/speech/stt/fallback/session-retry.ts';

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
