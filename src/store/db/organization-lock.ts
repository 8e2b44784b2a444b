// Locks an organization's row for changes that must be serialised: its folders, its default configuration. The lock of its
// open calls is the same (migrations/025-lock-open-calls.sql).

import type { TransactionContext } from './store-context.ts';

/** Held until the transaction ends. Reads of the organization, and rows that reference it, do not wait. */
export async function lockOrganization(tx: TransactionContext, id: string): Promise<void> {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
