// Locks an organization's row for changes that must be serialised: its folders, its default configuration, its services. The
// lock of its open calls is the same (migrations/025-lock-open-calls.sql).

import { SerialQueues } from '../../std/serial-queue.ts';
import type { StoreContext, TransactionContext } from './store-context.ts';

/** Changes of one organization that wait for its turn. The API admits at most 64 requests of an organization at a time
 *  (api/admission/admission.ts), so that the gateway's own changes find room too. */
const WAITING_MAX = 200;

/** Of one process: changes of an organization wait for each other here, where they hold no connection. */
export function organizationTurns(): SerialQueues {
  return new SerialQueues('changes of the organization', WAITING_MAX);
}

/** A transaction in the organization's turn, that may lock its row. Only other processes and starts of calls can have the
 *  lock then, for moments. Must not be called within `work`. Throws QUEUE_FULL, and what `work` throws. */
export function inOrganizationTurn<T>(
  { db, organizationTurns: turns }: Pick<StoreContext, 'db' | 'organizationTurns'>,
  organizationId: string,
  work: (tx: TransactionContext) => Promise<T>,
): Promise<T> {
  return turns.run(organizationId, () => db.transaction().execute(work));
}

/** The same with the lock, which is held until the transaction ends. Reads of the organization, and rows that reference it,
 *  do not wait. */
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
