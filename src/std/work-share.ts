// Whose share of what is short the work under way takes: that of an organization, or of an address without one. Set
// where the work begins, read where its statements wait for the database (store/db/statement-turns.ts); it follows the
// work through everything that is awaited. Work without one is the gateway's own.

import { AsyncLocalStorage } from 'node:async_hooks';

export interface WorkShare {
  /** Changes once it is known who asks. */
  name: string;
}

const current = new AsyncLocalStorage<WorkShare | undefined>();

/** Undefined: the gateway's own work. */
export function currentShare(): WorkShare | undefined {
  return current.getStore();
}

/** All that `work` begins is of that share, timers and promises too; with undefined the gateway's own. */
export function inShare<T>(share: WorkShare | undefined, work: () => T): T {
  return current.run(share, work);
}

/** Of everything that an organization asks for. */
export function organizationShare(id: string): WorkShare {
  return { name: `organization ${id}` };
}

/** The pieces of `source`, made in the share of this moment, whoever reads them later. */
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
