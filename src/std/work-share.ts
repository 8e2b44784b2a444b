// Share of scarce resources that the current work uses: an organization's, or an address's without one. Set where the
// work begins and read where its statements wait for the database (store/db/statement-turns.ts); it follows the work
// through awaits. Work without a share is the gateway's own.

import { AsyncLocalStorage } from 'node:async_hooks';

export interface WorkShare {
  /** Owner of the share. Changes once the client is identified. */
  name: string;
}

const current = new AsyncLocalStorage<WorkShare | undefined>();

/** Share of the current work. Undefined: the gateway's own work. */
export function currentShare(): WorkShare | undefined {
  return current.getStore();
}

/** Runs `work` in a share, including its timers and promises. Undefined: as the gateway's own work. */
export function inShare<T>(share: WorkShare | undefined, work: () => T): T {
  return current.run(share, work);
}

/** Share of all requests of an organization. */
export function organizationShare(id: string): WorkShare {
  return { name: `organization ${id}` };
}

/** Produces the pieces of `source` in the current share, in whatever share they are read later. */
export function inOwnShare<T>(source: AsyncIterable<T>): AsyncIterable<T> {
  const share = current.getStore();
  if (share === undefined) return source;
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = source[Symbol.asyncIterator]();
      return {
        next: () => inShare(share, () => pieces.next()),
        return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
