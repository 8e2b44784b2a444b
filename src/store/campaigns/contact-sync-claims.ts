// Claims on the import of contact files: one process at a time reads a file, batch after batch, and may be killed
// at any of them; the next one starts again and finds the stored rows. campaign/contact-rows parses a file. Source:
// contract §9.2.

import { type RawBuilder, sql } from 'kysely';
import type { Campaign } from '../../model/campaign.ts';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { logged, names, toCampaign } from './campaigns.ts';
import { contactsStored } from './contact-counts.ts';

/** Lease of a claim: a process that stores nothing for this long is dead, or may be replaced without harm. */
const LEASE_MS = 30_000;
/** Time after which a node whose disk does not have a file searches it again. */
const MISSED_MS = 30_000;
/** Longest wait for the node with the file, which may be under repair. */
const MISSED_MS_MAX = 86_400_000;
/** Longest wait where all nodes see the same files: one of them may still bring there what was on its disk. */
const MISSED_BY_ALL_MS_MAX = 600_000;
/** Fewest contacts after which tables are analyzed: with fewer, the worst plan takes a few milliseconds. */
const ANALYZED_MIN = 1_000;
/** Contacts of one delete statement, so that other connections do not wait long for the engine. */
const DELETED_MAX = 2_000;

/** Claims the oldest campaign, of any organization and also a paused one, whose unread file no process reads. The claim
 *  lasts until half a minute after the last batch. */
export async function claimSync(context: StoreContext): Promise<Campaign | undefined> {
  const { db } = context;
  const row = await db
    .updateTable('campaigns')
    .set({ sync_lease_until: leaseEnd(context), sync_node: context.node, sync_missed_node: null })
    .where('id', '=', (of) =>
      of
        .selectFrom('campaigns as next')
        .select('next.id')
        .where('next.source_sync', '=', 'in_progress')
        .where((next) =>
          next.or([
            next('next.sync_lease_until', 'is', null),
            next('next.sync_lease_until', '<=', context.time()),
            // Another node does not have the file.
            next('next.sync_missed_node', '<>', context.node),
          ]),
        )
        .orderBy('next.id')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .returning(names)
    .executeTakeFirst();
  return row === undefined ? undefined : toCampaign(row);
}

/** Extends the claim by half a minute. False if the file need not be read any more. */
export async function renewSync(context: StoreContext, id: string): Promise<boolean> {
  if (!isRowId(id)) return false;
  const { numUpdatedRows } = await context.db
    .updateTable('campaigns')
    .set({ sync_lease_until: leaseEnd(context) })
    .where('id', '=', id)
    .where('source_sync', '=', 'in_progress')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Releases a campaign whose file this node does not have: another one takes it, or this one after half a minute; any
 *  of them after that time if `isMissedByAll`, as all see the same files. False after a day of that (ten minutes), or
 *  if the file is no longer to be read. */
export async function waitForFile(
  context: StoreContext,
  id: string,
  { isMissedByAll }: { isMissedByAll: boolean },
): Promise<boolean> {
  if (!isRowId(id)) return false;
  const { db, node } = context;
  const now = context.time();
  const waitMs = isMissedByAll ? MISSED_BY_ALL_MS_MAX : MISSED_MS_MAX;
  const waiting = logged(context, {
    level: 'warning',
    event: 'source_waits',
    message: 'The contact file was not found where it was looked for: the campaign waits for it',
  });
  const { numUpdatedRows } = await db
    .updateTable('campaigns')
    .set({
      sync_lease_until: shifted(now, MISSED_MS),
      sync_node: null,
      sync_missed_node: isMissedByAll ? null : node,
      sync_missed_since: sql`coalesce(sync_missed_since, ${now})`,
      logs: sql`case when sync_missed_since is null then ${waiting} else logs end`,
    })
    .where('id', '=', id)
    .where('source_sync', '=', 'in_progress')
    .where(sql<boolean>`coalesce(sync_missed_since > ${shifted(now, -waitMs)}, true)`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends the import when all contacts are stored: `syncing` to `running`, or to `completed` without any contact; a
 *  paused campaign stays paused. Undefined if the file was not to be read. */
export async function finishSync(context: StoreContext, id: string): Promise<Campaign | undefined> {
  if (!isRowId(id)) return undefined;
  const now = new Date(context.clock.now());
  // Another process that reads the same file adds no contacts that are not stored by now.
  const stored = await contactsStored(context, id);
  await analyzeContacts(context, stored);
  const nothing = logged(context, {
    event: 'completed',
    message: 'The campaign was completed: its contact file has no contacts',
  });
  const isDone = sql`state = 'syncing' and ${stored}::integer = 0`;
  const row = await context.db
    .updateTable('campaigns')
    .set({
      source_sync: 'completed',
      source_synced_at: now,
      total_rows: stored,
      state: sql`
        case when ${isDone} then 'completed' when state = 'syncing' then 'running' else state end`,
      completed_at: sql`case when ${isDone} then ${now}::timestamptz end`,
      logs: sql`case when ${isDone} then ${nothing} else logs end`,
    })
    .where('id', '=', id)
    .where('source_sync', '=', 'in_progress')
    .returningAll()
    .returning(names)
    .executeTakeFirst();
  return row === undefined ? undefined : toCampaign(row);
}

/** Updates the planner's statistics before rounds and claims search the new contacts that are due. Otherwise each sorts
 *  all of them until the database's own maintenance, a minute later or more (60,000 contacts: 0.1 to 0.4 s of the
 *  engine). Does nothing while another process analyzes the table. */
export async function analyzeContacts({ db, log }: StoreContext, stored: number): Promise<void> {
  if (stored < ANALYZED_MIN) return;
  try {
    await sql`analyze (skip_locked) campaign_contacts (campaign_id, state, due_at)`.execute(db);
  } catch (error) {
    // Without it the campaign is slower for a while.
    log.warn({ err: error }, 'contacts of a campaign not analyzed');
  }
}

/** Changes the campaign to `failed`, also a paused one, and deletes its stored contacts. Undefined if the file was not
 *  to be read. */
export async function failSync(
  context: StoreContext,
  id: string,
  error: string,
): Promise<Campaign | undefined> {
  if (!isRowId(id)) return undefined;
  // Deleted first: after a kill in between the file is read again.
  while ((await renewSync(context, id)) && (await deleteSomeContacts(context, id)));
  return context.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable('campaigns')
      .set({
        state: 'failed',
        source_sync: 'failed',
        source_error: error,
        logs: logged(context, {
          level: 'error',
          event: 'source_sync_failed',
          message:
            'The contact file could not be read: correct it and create a new campaign with it',
          details: { error },
        }),
      })
      .where('id', '=', id)
      .where('source_sync', '=', 'in_progress')
      .returningAll()
      .returning(names)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    await tx.deleteFrom('campaign_contacts').where('campaign_id', '=', id).execute();
    return toCampaign(row);
  });
}

/** Deletes some contacts of one campaign in one short statement. False if there were none. */
export async function deleteSomeContacts({ db }: StoreContext, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('campaign_contacts')
    .where('id', 'in', (of) =>
      of
        .selectFrom('campaign_contacts')
        .select('id')
        .where('campaign_id', '=', id)
        .limit(DELETED_MAX),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function leaseEnd({ time }: StoreContext): RawBuilder<Date> {
  return shifted(time(), LEASE_MS);
}
