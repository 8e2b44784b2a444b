import { describe, expect, it } from 'vitest';
import { isCircuitOpen } from '../../src/campaign/attempt-settler.ts';
import type { AttemptOutcome } from '../../src/model/campaign.ts';

const outcomes = (facts: Partial<Record<AttemptOutcome, number>>) =>
  new Map(Object.entries(facts) as [AttemptOutcome, number][]);

describe('the circuit breaker', () => {
  it('trips when half of at least five calls failed, if nothing else is set', () => {
    expect(isCircuitOpen(outcomes({ failed: 2, error: 1, answered: 2 }), null)).toEqual({
      level: 'warning',
      event: 'circuit_breaker_tripped',
      message: expect.stringContaining('3 of the last 5'),
      details: {
        failure_rate: 0.6,
        failure_count: 3,
        success_count: 2,
        threshold: 0.5,
        window_seconds: 120,
      },
    });
    expect(isCircuitOpen(outcomes({ failed: 2, error: 2 }), null)).toBeUndefined();
    expect(isCircuitOpen(outcomes({ failed: 2, answered: 3 }), null)).toBeUndefined();
  });

  it('takes busy, unanswered and canceled calls for a line that works', () => {
    const quiet = { busy: 20, no_answer: 20, canceled: 20, voicemail: 20 };
    expect(isCircuitOpen(outcomes({ ...quiet, failed: 5 }), null)).toBeUndefined();
  });

  it('leaves out what our own stops broke off, and dials that the provider failed', () => {
    const unheard = { interrupted: 100, unknown: 100, not_placed: 100 };
    expect(isCircuitOpen(outcomes({ ...unheard, failed: 5 }), null)).toBeDefined();
    expect(isCircuitOpen(outcomes({ ...unheard, failed: 4 }), null)).toBeUndefined();
  });

  it('does not trip without a failure, whatever its threshold', () => {
    const any = { enabled: true, failureThreshold: 0, windowS: 60, minCalls: 2 };
    expect(isCircuitOpen(outcomes({ answered: 9, busy: 9 }), any)).toBeUndefined();
    expect(isCircuitOpen(outcomes({ answered: 9, failed: 1 }), any)).toBeDefined();
  });

  it('goes by its settings, and can be switched off', () => {
    const settings = { enabled: true, failureThreshold: 0.1, windowS: 60, minCalls: 2 };
    expect(isCircuitOpen(outcomes({ error: 1, answered: 9 }), settings)).toBeDefined();
    expect(
      isCircuitOpen(outcomes({ failed: 99 }), { ...settings, enabled: false }),
    ).toBeUndefined();
  });
});
