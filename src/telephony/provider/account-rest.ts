// Requests for accounts, within the provider's limit for one account and after the pause that it requests (429 with
// Retry-After). A request that was refused for that reason had no effect, and is sent once more.

import { AccountBudgets, RequestBudget, type RequestLimit } from './request-budget.ts';
import { createRest, type Rest, type RestOptions } from './rest-client.ts';

const TOO_MANY = 429;
/** Longest pause after which a refused request is repeated: a caller waits, or a contact can be postponed. */
const RETRY_MS_MAX = 3_000;
/** Longest time for which an account sends only urgent requests, whatever pause the provider requests. */
const PAUSE_MS_MAX = 10_000;
const ATTEMPTS_MAX = 2;

/** Actions that are urgent: a caller waits for them, or the call costs money until then. */
const URGENT: ReadonlySet<string> = new Set([
  'hang-up',
  'transfer',
  'join',
  'stop-stream',
  'answer',
  'reject',
  'send-digits',
]);

/** A `Rest` with budgets. `limit`: of one account, where the provider documents one. Requests without an account are
 *  not limited. */
export function createAccountRest(options: RestOptions & { limit?: RequestLimit }): Rest {
  const { provider, clock, limit } = options;
  const rest = createRest(options);
  const budgets = new AccountBudgets(() => new RequestBudget({ clock, provider, limit }));
  return {
    async send(request, signal) {
      const { account, action } = request;
      if (account === undefined) return rest.send(request, signal);
      const budget = budgets.of(account);
      const isUrgent = URGENT.has(action);
      for (let attempt = 1; ; attempt += 1) {
        await budget.claim(action, isUrgent, signal);
        const response = await rest.send(request, signal);
        const pauseMs = response.retryAfterMs ?? null;
        if (response.status !== TOO_MANY || pauseMs === null) return response;
        budget.pause(Math.min(pauseMs, PAUSE_MS_MAX), isUrgent);
        if (attempt === ATTEMPTS_MAX || pauseMs > RETRY_MS_MAX) return response;
      }
    },
  };
}
