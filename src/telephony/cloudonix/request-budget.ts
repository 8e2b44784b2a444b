// The limit of one Cloudonix domain: ten requests in ten seconds, hang-ups and reads included. Source: providers §5.8.

import type { Clock } from '../../std/clock.ts';
import { RequestBudget } from '../provider/request-budget.ts';

/** Cloudonix' limit. */
export const REQUESTS_MAX = 10;
/** A little longer than Cloudonix' ten seconds: requests do not all take equally long to arrive. */
export const WINDOW_MS = 10_500;
/** Requests of the limit that only urgent ones may use. */
export const RESERVED_REQUESTS = 3;
/** Longest queue. Fewer requests than these start within the longest wait. */
const WAITING_MAX = 50;

export function domainBudget({
  clock,
  requestsMax = REQUESTS_MAX,
}: {
  clock: Clock;
  requestsMax?: number;
}): RequestBudget {
  const words = `the ${REQUESTS_MAX} requests in 10 seconds that a domain may send`;
  const limit = { requestsMax, windowMs: WINDOW_MS, reserved: RESERVED_REQUESTS, words };
  return new RequestBudget({
    clock,
    provider: 'cloudonix',
    limit: { ...limit, waitingMax: WAITING_MAX },
  });
}
