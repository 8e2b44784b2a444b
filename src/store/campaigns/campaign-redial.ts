// Redial campaigns: contacts that another campaign did not reach, copied in pieces so that other statements can run in
// between. Until the last piece the campaign is hidden, like a deleted one, and has no parent. The organization's next
// redial deletes the incomplete copy of a dead process. Source: contract §9.2, §9.11.

import { sql } from 'kysely';
import {
  type Campaign,
  type RetryReason,
  type RetrySettings,
  UNHEARD,
} from '../../model/campaign.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { getCampaign } from './campaigns.ts';
import { contactSpans } from './contact-spans.ts';
import { analyzeContacts, deleteSomeContacts } from './contact-sync-claims.ts';

/** Contacts of the parent in one statement, which takes some 10 ms of the embedded engine if all of them are copied. */
const PIECE_ROWS_MAX = 500;
/** Age in milliseconds from which an incomplete copy counts as that of a dead process: requests take minutes at
 *  most. */
const LEFT_OVER_MS = 900_000;
/** Copies of dead processes that one redial deletes. */
const LEFT_OVERS_MAX = 10;

export interface Redial {
  /** Name; null for the parent's, with a suffix. */
  name: string | null;
  /** Outcomes of a contact's last call. Contacts whose phone may never have rung (UNHEARD) are always included. */
  outcomes: readonly RetryReason[];
  /** Retry settings; null for the parent's. */
  retry: RetrySettings | null;
}

interface Parent {
  organizationId: string;
  parentId: string;
}

/** Creates a campaign in state `created` with the parent's agent, file, telephony and settings, and stores its
 *  contacts. Undefined if the parent is not completed or has been redialed; 'nobody' if no contact ended with such an
 *  outcome. */
export async function createRedialCampaign(
  context: StoreContext,
  organizationId: string,
  parentId: string,
  redial: Redial,
): Promise<Campaign | 'nobody' | undefined> {
  if (!isRowId(organizationId) || !isRowId(parentId)) return undefined;
  await deleteLeftOvers(context, organizationId);
  const parent = { organizationId, parentId };
  const id = await insertChild(context, parent, redial);
  if (id === undefined) return undefined;
  try {
    const contacts = await copyContacts(context, { id, parentId, redial });
    await analyzeContacts(context, contacts);
    if (contacts > 0 && (await show(context, parent, { id, contacts }))) {
      return await getCampaign(context, organizationId, id);
    }
    await deleteChild(context, id);
    return contacts === 0 ? 'nobody' : undefined;
  } catch (error) {
    await deleteChild(context, id).catch(() => undefined); // The next redial deletes it.
    throw error;
  }
}

/** Inserts the campaign, hidden and without its parent. Undefined if the parent may not be redialed. */
async function insertChild(
  { db, clock, time }: StoreContext,
  { organizationId, parentId }: Parent,
  { name, retry }: Redial,
): Promise<string | undefined> {
  const now = new Date(clock.now());
  const { rows } = await sql<{ id: string }>`
    insert into campaigns (
      organization_id, workflow_id, name, state, source_id, source_sync,
      source_synced_at, retry, max_concurrency, schedule, breaker, rate_per_second,
      deleted_at, created_at
    )
    select organization_id, workflow_id,
      coalesce(${name}::text, left(name, ${NAME_CHARACTERS_MAX - SUFFIX.length}) || ${SUFFIX}),
      'created', source_id, 'completed', ${now},
      coalesce(${retry && jsonText(retry)}::json, retry), max_concurrency, schedule, breaker,
      rate_per_second, ${time()}, ${now}
    from campaigns as parent
    where id = ${parentId} and organization_id = ${organizationId} and ${mayBeRedialed}
    returning id`.execute(db);
  return rows[0]?.id;
}

const mayBeRedialed = sql`
  parent.state = 'completed' and parent.deleted_at is null
  and not exists (select from campaigns as child where child.parent_campaign_id = parent.id)`;

/** Longest name that the API accepts. */
const NAME_CHARACTERS_MAX = 255;
const SUFFIX = ' (Redial)';

/** Copies the contacts and returns their number. Contacts whose phone may never have rung are always included. */
async function copyContacts(
  context: StoreContext,
  { id, parentId, redial }: { id: string; parentId: string; redial: Redial },
): Promise<number> {
  const outcomes = [...redial.outcomes, ...UNHEARD];
  let copied = 0n;
  for await (const [span] of contactSpans(context, [parentId], PIECE_ROWS_MAX)) {
    if (span === undefined) break;
    const { numAffectedRows = 0n } = await sql`
      insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
      select ${id}, row_number, phone_number, variables, ${context.time()}
      from campaign_contacts
      where campaign_id = ${parentId} and row_number > ${span.after} and row_number <= ${span.to}
        and last_outcome = any(${outcomes})`.execute(context.db);
    copied += numAffectedRows;
  }
  return Number(copied);
}

/** Makes the campaign visible. False if the parent may no longer be redialed: another redial was faster, or it was
 *  deleted. */
async function show(
  { db }: StoreContext,
  { organizationId, parentId }: Parent,
  { id, contacts }: { id: string; contacts: number },
): Promise<boolean> {
  try {
    const { numAffectedRows = 0n } = await sql`
      update campaigns set deleted_at = null, parent_campaign_id = parent.id,
        configuration_id = parent.configuration_id, total_rows = ${contacts}
      from campaigns as parent
      where campaigns.id = ${id} and parent.id = ${parentId}
        and parent.organization_id = ${organizationId} and ${mayBeRedialed}`.execute(db);
    return numAffectedRows > 0n;
  } catch (error) {
    if (violated(error) === 'campaigns_parent') return false;
    throw error;
  }
}

async function deleteChild(context: StoreContext, id: string): Promise<void> {
  while (await deleteSomeContacts(context, id));
  await context.db
    .deleteFrom('campaigns')
    .where('id', '=', id)
    .where('state', '=', 'created')
    .where('deleted_at', 'is not', null)
    .execute();
}

/** Deletes incomplete copies of dead processes. Only these are deleted in state `created`: other campaigns must have
 *  ended first. */
async function deleteLeftOvers(context: StoreContext, organizationId: string): Promise<void> {
  const rows = await context.db
    .selectFrom('campaigns')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('state', '=', 'created')
    .where('deleted_at', '<', shifted(context.time(), -LEFT_OVER_MS))
    .limit(LEFT_OVERS_MAX)
    .execute();
  for (const { id } of rows) await deleteChild(context, id);
}
