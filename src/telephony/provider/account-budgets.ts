// One budget of requests for each account in use, by a key. Idle ones make room.

import { createHash } from 'node:crypto';
import type { RequestBudget } from './request-budget.ts';

/** Accounts with a budget in memory. */
const BUDGETS_MAX = 1_000;

/** The key of an account's budget. `address`: the account at its provider, which others may know; with its secret, of which
 *  only a hash is kept, a sender without the secret does not use up the owner's budget. */
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
