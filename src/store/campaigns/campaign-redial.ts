// A redial campaign for contacts that another campaign did not reach. One transaction: the child with its contacts,
// or nothing. Source: contract §9.2, §9.11.

import { sql } from 'kysely';
import {
  type Campaign,
  type RetryReason,
  type RetrySettings,
  UNHEARD,
} from '../../model/campaign.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { violated } from '../db/connections.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { getCampaign } from './campaigns.ts';

export interface Redial {
  /** Null: the parent's, with a suffix. */
  name: string | null;
  /** Outcomes of the last call of a contact. Contacts whose phone may never have rung (UNHEARD) are included as
   *  well. */
  outcomes: readonly RetryReason[];
  /** Null: the parent's. */
  retry: RetrySettings | null;
}

/** A campaign in state `created` with the parent's agent, file, telephony and settings, its contacts stored.
 *  Undefined if the parent is not completed or has been redialed; 'nobody' if no contact ended with such an
 *  outcome. */
export async function createRedialCampaign(
  context: StoreContext,
  organizationId: string,
  parentId: string,
  redial: Redial,
): Promise<Campaign | 'nobody' | undefined> {
  if (!isRowId(organizationId) || !isRowId(parentId)) return undefined;
  const { db } = context;
  try {
    const childId = await db.transaction().execute(async (tx) => {
      const id = await insertChild(tx, context, { organizationId, parentId, redial });
      if (id === undefined) return undefined;
      const contacts = await copyContacts(tx, context, { id, parentId, redial });
      if (contacts === 0) throw new NobodyLeft();
      await tx
        .updateTable('campaigns')
        .set({ total_rows: contacts })
        .where('id', '=', id)
        .execute();
      return id;
    });
    return childId === undefined ? undefined : await getCampaign(context, organizationId, childId);
  } catch (error) {
    if (error instanceof NobodyLeft) return 'nobody';
    // Of two concurrent redials the second finds the first one's child.
    if (violated(error) === 'campaigns_parent') return undefined;
    throw error;
  }
}

/** Takes the child back. */
class NobodyLeft extends Error {
  override readonly name = 'NobodyLeft';
}

interface Child {
  organizationId: string;
  parentId: string;
  redial: Redial;
}

async function insertChild(
  tx: TransactionContext,
  { clock }: StoreContext,
  { organizationId, parentId, redial }: Child,
): Promise<string | undefined> {
  const { name, retry } = redial;
  const now = new Date(clock.now());
  const { rows } = await sql<{ id: string }>`
    insert into campaigns (
      organization_id, workflow_id, configuration_id, name, state, source_id, source_sync,
      source_synced_at, retry, max_concurrency, schedule, breaker, rate_per_second,
      parent_campaign_id, created_at
    )
    select organization_id, workflow_id, configuration_id,
      coalesce(${name}::text, left(name, ${NAME_CHARACTERS_MAX - SUFFIX.length}) || ${SUFFIX}),
      'created', source_id, 'completed', ${now},
      coalesce(${retry && jsonText(retry)}::json, retry), max_concurrency, schedule, breaker,
      rate_per_second, id, ${now}
    from campaigns
    where id = ${parentId} and organization_id = ${organizationId} and state = 'completed'
      and deleted_at is null
    returning id`.execute(tx);
  return rows[0]?.id;
}

/** In the API's form. */
const NAME_CHARACTERS_MAX = 255;
const SUFFIX = ' (Redial)';

/** Their number. Contacts whose phone may never have rung are included, whatever outcomes were chosen. */
async function copyContacts(
  tx: TransactionContext,
  { time }: StoreContext,
  { id, parentId, redial }: { id: string; parentId: string; redial: Redial },
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
    select ${id}, row_number, phone_number, variables, ${time()}
    from campaign_contacts
    where campaign_id = ${parentId}
      and last_outcome = any(${[...redial.outcomes, ...UNHEARD]})`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}
