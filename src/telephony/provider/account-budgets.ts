// Request budgets by account. Idle ones are removed when there are too many.

import { createHash } from 'node:crypto';
import type { RequestBudget } from './request-budget.ts';

/** Accounts whose budget is kept in memory. */
const BUDGETS_MAX = 1_000;

/** Key of an account's budget. `address`: the account at its provider, which others may know. The key includes a hash
 *  of the secret, so a sender without it does not use up the owner's budget. */
export function accountKey(address: string, secret: string): string {
  return `${address} ${createHash('sha256').update(secret).digest('hex')}`;
}

export class AccountBudgets {
  readonly #create: () => RequestBudget;
  readonly #budgets = new Map<string, RequestBudget>();

  constructor(create: () => RequestBudget) {
    this.#create = create;
  }

  of(account: string): RequestBudget {
    const known = this.#budgets.get(account);
    if (known !== undefined) return known;
    if (this.#budgets.size >= BUDGETS_MAX) {
      for (const [key, budget] of this.#budgets) if (budget.isIdle) this.#budgets.delete(key);
    }
    const budget = this.#create();
    this.#budgets.set(account, budget);
    return budget;
  }
}
