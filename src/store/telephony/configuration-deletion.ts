// Deletion of a telephony configuration, which takes its numbers, trunks and leases along; its runs stay. They lose their
// configuration in pieces before it goes: in one statement that is a rewrite of every run, for which its calls, and all
// others at the embedded engine, waited seconds, and that never ended within the deadline of a statement where there were
// many. After a kill in between, the next deletion goes on.

import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isRowId } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Runs of one statement: some 20 ms of a server. */
const PIECE_ROWS_MAX = 500;

/** False if there is none with that id. Throws CONFIGURATION_IN_USE if a campaign uses it. */
export async function deleteConfiguration(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<boolean> {
  if (!isRowId(organizationId) || !isRowId(id)) return false;
  const { db } = context;
  const own = await db
    .selectFrom('telephony_configurations')
    .select((of) =>
      of
        .exists(
          of.selectFrom('campaigns').select('campaigns.id').where('configuration_id', '=', id),
        )
        .as('is_used'),
    )
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (own === undefined) return false;
  if (own.is_used) throw new GatewayError('CONFIGURATION_IN_USE', { id });
  while (await leaveSomeRuns(context, id));
  try {
    const { numDeletedRows } = await db
      .deleteFrom('telephony_configurations')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  } catch (error) {
    if (violated(error) !== 'campaigns_configuration') throw error;
    throw new GatewayError('CONFIGURATION_IN_USE', { id }, error);
  }
}

/** Completed runs: those of calls under way are few, and leave with the configuration. False after the last of them. */
async function leaveSomeRuns({ db }: StoreContext, id: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update runs set configuration_id = null where id = any(array(
      select id from runs where configuration_id = ${id} and state = 'completed'
      limit ${PIECE_ROWS_MAX} for no key update skip locked
    ))`.execute(db);
  return numAffectedRows >= BigInt(PIECE_ROWS_MAX);
}
