// The row of an organization as the place where those stand in line who change something of it that is
// counted or is there once: its open calls, its folders, its default configuration.

import type { Transacting } from './context.ts';

/** Until the transaction ends. Reads of the organization, and rows that name it, do not wait. */
export async function lockOrganization(tx: Transacting, id: string): Promise<void> {
  await tx.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}
