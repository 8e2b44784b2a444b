// How many calls organizations may still begin, during one look at their campaigns: asked of the store once
// for each, what is claimed taken off. Others claim meanwhile; the limit itself is held when a call begins.

import type { Store } from '../store/store.ts';

export interface CallCapacity {
  /** Calls of the organization at a time. */
  limit: number;
  /** Whoever claims takes off what was claimed. */
  free: number;
}

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
