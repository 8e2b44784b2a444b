// Circuit breaker: pauses a campaign when too many of its calls fail. Source: contract §9.6, §9.7.

import {
  type AttemptOutcome,
  BREAKER_DEFAULT,
  type BreakerSettings,
  type CampaignLogEntry,
  UNHEARD,
} from '../model/campaign.ts';

/** Busy and unanswered calls show that calls reach their destination. */
const FAILURES: readonly AttemptOutcome[] = ['failed', 'error'];

/** The log entry with which the campaign stops; undefined while it may go on. `outcomes`: those in the breaker's
 *  window. */
export function isCircuitOpen(
  outcomes: ReadonlyMap<AttemptOutcome, number>,
  settings: BreakerSettings | null,
): Omit<CampaignLogEntry, 'at'> | undefined {
  const { enabled, failureThreshold, windowS, minCalls } = settings ?? BREAKER_DEFAULT;
  if (!enabled) return undefined;
  // Calls interrupted by our own stop, and dials that a provider failed, are left out: campaigns wait for such a
  // provider, and resume by themselves.
  const calls = sum(
    [...outcomes].flatMap(([name, count]) => (UNHEARD.includes(name) ? [] : count)),
  );
  const failures = sum(FAILURES.map((name) => outcomes.get(name) ?? 0));
  // With a threshold of 0 a single failure is enough.
  if (failures === 0 || calls < minCalls || failures / calls < failureThreshold) return undefined;
  return {
    level: 'warning',
    event: 'circuit_breaker_tripped',
    message: `${failures} of the last ${calls} calls failed: find out why, then resume the campaign`,
    details: {
      failure_rate: failures / calls,
      failure_count: failures,
      success_count: calls - failures,
      threshold: failureThreshold,
      window_seconds: windowS,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
