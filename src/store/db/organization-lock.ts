// Locks an organization's row for changes that must be serialised: its open calls, its folders, its default
// configuration.

import type { TransactionContext } from './store-context.ts';

/** Held until the transaction ends. Reads of the organization, and rows that reference it, do not wait. Returns
 *  its limit of concurrent calls: null without one of its own, undefined if there is no such organization. */
export async function lockOrganization(
  tx: TransactionContext,
  id: string,
): Promise<number | null | undefined> {
  const row = await tx
    .selectFrom('organizations')
    .select('concurrent_call_limit')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row?.concurrent_call_limit;
}
