// The row of an organization as the place where those stand in line who change something of it that is
// counted or is there once: its open calls, its folders, its default configuration.

import type { TransactionContext } from './store-context.ts';

/** Until the transaction ends. Reads of the organization, and rows that name it, do not wait. Its limit of
 *  concurrent calls: null if it has none of its own, undefined if there is no such organization. */
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
