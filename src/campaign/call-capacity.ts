// Free calls of organizations during one round of the dispatcher.

import type { Store } from '../store/store.ts';

export interface CallCapacity {
  /** Concurrent calls of the organization. */
  limit: number;
  /** Free calls of the organization; a claim subtracts its calls. */
  free: number;
}

/** Number of calls that organizations may still start during one round: read from the store once for each, less the
 *  claims. Other processes claim meanwhile; the limit itself is enforced when a call starts. */
export class CallCapacityOfTick {
  readonly #store: Pick<Store, 'accounts' | 'contacts'>;
  readonly #byOrganization = new Map<string, CallCapacity>();

  constructor(store: Pick<Store, 'accounts' | 'contacts'>) {
    this.#store = store;
  }

  async of(organizationId: string): Promise<CallCapacity> {
    const known = this.#byOrganization.get(organizationId);
    if (known !== undefined) return known;
    const { accounts, contacts } = this.#store;
    const limit = await accounts.concurrentCallLimit(organizationId);
    const calls = { limit, free: await contacts.freeSlots(organizationId, limit) };
    this.#byOrganization.set(organizationId, calls);
    return calls;
  }
}
