// Reseals the secrets inside agents with the newest key.

import { sql } from 'kysely';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { isFresh, openContent } from './sealed-content.ts';
import { sealedContent } from './workflow-versions.ts';

/** Versions in one transaction. */
const ROWS_MAX = 100;

/** Reseals all secrets, after which the older keys may be removed. Returns the number of changed versions. Throws
 *  SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export async function resealWorkflows(context: StoreContext): Promise<number> {
  let changed = 0;
  for (let after = '0'; ; ) {
    const last = await context.db.transaction().execute(async (tx) => {
      const rows = await sealedVersions(tx, after);
      for (const row of rows) if (await reseal(context, tx, row)) changed += 1;
      return rows.at(-1)?.id;
    });
    if (last === undefined) return changed;
    after = last;
  }
}

type SealedVersion = Awaited<ReturnType<typeof sealedVersions>>[number];

function sealedVersions(tx: TransactionContext, after: string) {
  return tx
    .selectFrom('workflow_versions')
    .innerJoin('workflows', 'workflows.id', 'workflow_versions.workflow_id')
    .select('workflows.organization_id')
    .select(['workflow_versions.id', 'definition', 'configurations', 'sealed_fields'])
    .where('workflow_versions.id', '>', after)
    .where(sql<boolean>`cardinality(sealed_fields) > 0`)
    .orderBy('workflow_versions.id')
    .limit(ROWS_MAX)
    .forUpdate('workflow_versions')
    .execute();
}

async function reseal(
  context: StoreContext,
  tx: TransactionContext,
  { id, organization_id: organizationId, sealed_fields: sealed, ...stored }: SealedVersion,
): Promise<boolean> {
  const own = { organizationId, secrets: context.secrets };
  const columns = ['definition', 'configurations'] as const;
  if (columns.every((column) => isFresh(stored[column], sealed, { ...own, column }))) return false;
  const clear = {
    definition: openContent(stored.definition, sealed, { ...own, column: 'definition' }),
    configurations: openContent(stored.configurations, sealed, {
      ...own,
      column: 'configurations',
    }),
  };
  await tx
    .updateTable('workflow_versions')
    .set(sealedContent(context, organizationId, clear))
    .where('id', '=', id)
    .execute();
  return true;
}
