// Locks an organization's row for changes that must be serialised: folders, default configuration, services. The count
// of its open calls uses the same lock (migrations/025-lock-open-calls.sql).

import { SerialQueues } from '../../std/serial-queue.ts';
import type { StoreContext, TransactionContext } from './store-context.ts';

/** Changes of one organization that wait for its turn. The API admits at most 64 requests of an organization at a time
 *  (api/admission/admission.ts), which leaves capacity for the gateway's own changes. */
const WAITING_MAX = 200;

/** Queues of this process, in which changes of an organization wait without a connection. */
export function organizationTurns(): SerialQueues {
  return new SerialQueues('changes of the organization', WAITING_MAX);
}

/** Runs a transaction in the organization's turn, which may lock its row. Only other processes and starts of calls can
 *  have the lock then, for moments. Must not be called within `work`. Throws QUEUE_FULL, and what `work` throws. */
export function inOrganizationTurn<T>(
  { db, organizationTurns: turns }: Pick<StoreContext, 'db' | 'organizationTurns'>,
  organizationId: string,
  work: (tx: TransactionContext) => Promise<T>,
): Promise<T> {
  return turns.run(organizationId, () => db.transaction().execute(work));
}

/** Runs such a transaction with the lock, which is held until it ends. Reads of the organization, and rows that
 *  reference it, do not wait. */
export function withOrganizationLock<T>(
  context: Pick<StoreContext, 'db' | 'organizationTurns'>,
  organizationId: string,
  work: (tx: TransactionContext) => Promise<T>,
): Promise<T> {
  return inOrganizationTurn(context, organizationId, async (tx) => {
    await tx
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', organizationId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    return work(tx);
  });
}
