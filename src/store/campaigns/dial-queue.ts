// The queue from which campaigns dial, on PostgreSQL: claims under limits, and returned claims. The step that creates a
// run: attempt-begin.ts; the end of attempts: attempt-settlement.ts; their life cycle: dial-attempts.ts.

import { type RawBuilder, sql } from 'kysely';
import { DIAL_FAULTS_MAX, PROBE_MS } from '../../model/campaign.ts';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { isOpen } from '../runs/runs.ts';
import { retriesBy, returnContact } from './attempt-doubts.ts';
import type { ClaimedAttempt, ClaimLimits } from './dial-attempts.ts';
import { faultsOf, noteWait, waitForProbe } from './provider-faults.ts';

/** Claims that one round returns; the next round returns the rest. */
const GIVE_BACK_MAX = 500;
/** Time without a turn after which one campaign of an account may claim a turn further ahead. Clients' calls take turns
 *  of the next five seconds (`takeDialTurn`), campaigns those of the next second: with more calls than the
 *  pace allows, campaigns would get none. */
const WITHOUT_TURN_MS = 3_000;
/** The claim of such a turn, behind clients' calls. A claim lasts longer. */
const FURTHER = { count: 1, horizonMs: 7_000 };

/** Claims attempts for due contacts under all limits, retries first. One process at a time claims for a campaign; the
 *  others get nothing and try again. */
export async function claimContacts(
  context: StoreContext,
  campaignId: string,
  limits: ClaimLimits,
): Promise<ClaimedAttempt[]> {
  if (!isRowId(campaignId) || limits.count < 1) return [];
  return context.db.transaction().execute(async (tx) => {
    const locked = await lockCampaign(tx, campaignId, limits.configuration);
    if (locked === undefined) return [];
    const { campaign, faults, starts } = locked;
    const isWaiting = faults >= DIAL_FAULTS_MAX;
    const configurationId = isWaiting ? limits.configuration.id : null;
    if (configurationId !== campaign.waits_for_configuration_id) {
      await noteWait(tx, context, { campaignId, configurationId });
    }
    // Read after the locks, which may have taken time, as it gives the current time.
    const { open, now } = await openAttempts(tx, context, campaignId);
    const room = Math.min(isWaiting ? 1 : limits.count, limits.openMax - open);
    const wanted = { ...limits, count: room };
    const inTime = turnsOf(starts, now, wanted);
    const turns = await orFurther(tx, inTime, { campaign, isWaiting, wanted, starts, now });
    if (isWaiting && turns.length === 0) await waitForProbe(tx, campaignId, starts);
    const contacts = await dueContacts(tx, campaignId, { now, count: turns.length });
    const last = turns[contacts.length - 1];
    if (last === undefined) return [];
    return writeClaims(tx, context, { contacts, turns, last, now, limits, faults });
  });
}

interface LockedCampaign {
  campaign: { organization_id: string; waits_for_configuration_id: string | null };
  /** Consecutive dials that the provider has failed. */
  faults: number;
  /** Times before which no call may be placed; null: no limit. */
  starts: (Date | null)[];
}

/** Locks the campaign, then its configuration if that has a pace or waits for its provider: all code locks both in this
 *  order. Undefined if another process claims for the campaign, or it does not run. */
async function lockCampaign(
  tx: TransactionContext,
  campaignId: string,
  { id, callsPerSecond }: ClaimLimits['configuration'],
): Promise<LockedCampaign | undefined> {
  const isPaced = callsPerSecond !== null;
  const { rows } = await sql<{
    organization_id: string;
    waits_for_configuration_id: string | null;
    dial_next_at: Date | null;
    faults_before: number;
    faults: number | null;
    account_next_at: Date | null;
    probe_at: Date | null;
  }>`
    with campaign as materialized (
      select organization_id, waits_for_configuration_id, dial_next_at,
        ${faultsOf(id)} as faults_before
      from campaigns where id = ${campaignId} and state = 'running'
      for no key update skip locked
    ), account as materialized (
      select dial_faults as faults, dial_next_at as account_next_at, probe_at
      from telephony_configurations
      where id = ${id} and exists (select from campaign)
        and (${isPaced} or dial_faults >= ${DIAL_FAULTS_MAX})
      for no key update
    )
    select * from campaign left join account on true`.execute(tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const isLocked = row.faults !== null;
  const faults = row.faults ?? row.faults_before;
  // The provider has answered meanwhile: the next round sees that.
  if (!isLocked && faults >= DIAL_FAULTS_MAX) return undefined;
  const starts = [row.dial_next_at, ...(isLocked ? [row.account_next_at, row.probe_at] : [])];
  return { campaign: row, faults, starts };
}

async function openAttempts(
  tx: TransactionContext,
  { time }: StoreContext,
  campaignId: string,
): Promise<{ open: number; now: Date }> {
  const { open, now } = await tx
    .selectFrom('campaign_attempts')
    .select((attempt) => [attempt.fn.countAll<string>().as('open'), time().as('now')])
    .where('campaign_id', '=', campaignId)
    .where('state', '<>', 'ended')
    .executeTakeFirstOrThrow();
  return { open: Number(open), now };
}

/** The turns of `inTime`. If there is none, and no campaign of the configuration had a turn although the pace alone
 *  allows one, one turn further ahead. */
async function orFurther(
  tx: TransactionContext,
  inTime: Date[],
  { campaign, isWaiting, wanted, starts, now }: Wanted,
): Promise<Date[]> {
  const { id, callsPerSecond } = wanted.configuration;
  if (isWaiting || inTime.length > 0 || wanted.count < 1) return inTime;
  if (callsPerSecond === null) return inTime;
  const { last } = await tx
    .selectFrom('campaigns')
    .select(({ fn }) => fn.max('dial_next_at').as('last'))
    .where('organization_id', '=', campaign.organization_id)
    .where('state', '=', 'running')
    .where((each) =>
      each.or([each('configuration_id', '=', id), each('configuration_id', 'is', null)]),
    )
    .executeTakeFirstOrThrow();
  const withoutMs = now.getTime() - (last?.getTime() ?? 0);
  if (withoutMs < WITHOUT_TURN_MS + 1_000 / callsPerSecond) return inTime;
  return turnsOf(starts, now, { ...wanted, ...FURTHER });
}

interface Wanted {
  campaign: { organization_id: string };
  /** Whether the campaign waits for its provider: one test dial has its own time. */
  isWaiting: boolean;
  wanted: ClaimLimits;
  starts: readonly (Date | null)[];
  now: Date;
}

/** Times of the next calls, none before now or any of `starts`. */
function turnsOf(starts: readonly (Date | null)[], now: Date, limits: ClaimLimits): Date[] {
  const gapMs = gapOf(limits);
  const firstMs = Math.max(now.getTime(), ...starts.map((start) => start?.getTime() ?? 0));
  const turns = Array.from({ length: Math.max(0, limits.count) }, (_each, index) => {
    return new Date(firstMs + index * gapMs);
  });
  return turns.filter((turn) => turn.getTime() <= now.getTime() + limits.horizonMs);
}

/** Milliseconds between two calls of the campaign. */
function gapOf({ ratePerSecond, configuration }: ClaimLimits): number {
  return 1_000 / Math.min(ratePerSecond, configuration.callsPerSecond ?? ratePerSecond);
}

interface DueContact {
  id: string;
  campaign_id: string;
  row_number: number;
  phone_number: string;
  variables: Record<string, unknown>;
  attempts: number;
  retry_reason: ClaimedAttempt['retryReason'];
}

/** Due contacts, retries before first attempts, in one statement. It also locks a few fresh contacts for which the
 *  retries leave no place, until the claims are written. */
async function dueContacts(
  tx: TransactionContext,
  campaignId: string,
  { now, count }: { now: Date; count: number },
): Promise<DueContact[]> {
  if (count < 1) return [];
  const due = (state: 'waiting' | 'fresh', condition: RawBuilder<unknown>) => sql`
    select id, campaign_id, row_number, phone_number, variables, attempts, retry_reason, due_at
    from campaign_contacts
    where campaign_id = ${campaignId} and state = ${sql.lit(state)} and due_at <= ${now}
      and ${condition}
    order by due_at, id limit ${count} for update skip locked`;
  const { rows } = await sql<DueContact>`
    with waiting as materialized (${due('waiting', sql`true`)}),
      fresh as materialized (${due('fresh', sql`(select count(*) from waiting) < ${count}`)})
    select * from (
      select *, 1 as turn from waiting union all select *, 2 from fresh
    ) as due order by turn, due_at, id limit ${count}`.execute(tx);
  return rows;
}

interface Claims {
  contacts: readonly DueContact[];
  turns: readonly Date[];
  /** Turn of the last contact. */
  last: Date;
  now: Date;
  limits: ClaimLimits;
  /** Consecutive dials that the provider has failed. */
  faults: number;
}

/** Writes the attempts, the contacts' state and the next turns in one statement. */
async function writeClaims(
  tx: TransactionContext,
  { node }: StoreContext,
  { contacts, turns, last, now, limits, faults }: Claims,
): Promise<ClaimedAttempt[]> {
  const [{ campaign_id: campaignId } = { campaign_id: '0' }] = contacts;
  const ids = contacts.map(({ id }) => id);
  const retries = Object.entries(retriesBy(1)).map(([of, count]) => sql`${sql.ref(of)} = ${count}`);
  const { rows } = await sql<{ id: string; contact_id: string; dial_at: Date }>`
    with calling as (
      update campaign_contacts
      set state = 'calling', attempts = attempts + 1, ${sql.join(retries)}
      where id = any(${ids}::bigint[])
    ), paced as (
      update campaigns set dial_next_at = ${later(last, 1_000 / limits.ratePerSecond)}
      where id = ${campaignId}
    )${keptAccount(limits, last, faults)}
    insert into campaign_attempts
      (campaign_id, contact_id, number, retry_reason, state, node, lease_until, dial_at)
    select ${campaignId}::bigint, contact_id, number, retry_reason, 'claimed', ${node}::text,
      ${later(now, limits.leaseMs)}::timestamptz, dial_at
    from unnest(
      ${ids}::bigint[],
      ${contacts.map(({ attempts }) => attempts + 1)}::integer[],
      ${contacts.map(({ retry_reason: reason }) => reason)}::text[],
      ${contacts.map((_each, nth) => turns[nth] ?? now)}::timestamptz[]
    ) as claim (contact_id, number, retry_reason, dial_at)
    returning id, contact_id, dial_at`.execute(tx);
  const byContact = new Map(rows.map((row) => [row.contact_id, row]));
  return contacts.flatMap((contact) => {
    const row = byContact.get(contact.id);
    if (row === undefined) return [];
    const waitMs = row.dial_at.getTime() - now.getTime();
    return [claimOf(contact, { attemptId: row.id, waitMs, providerFaults: faults })];
  });
}

function claimOf(
  contact: DueContact,
  attempt: Pick<ClaimedAttempt, 'attemptId' | 'waitMs' | 'providerFaults'>,
): ClaimedAttempt {
  return {
    ...attempt,
    contactId: contact.id,
    campaignId: contact.campaign_id,
    rowNumber: contact.row_number,
    phoneNumber: contact.phone_number,
    variables: contact.variables,
    number: contact.attempts + 1,
    retryReason: contact.retry_reason,
  };
}

/** Stores the next turns of the configuration and of its next test dial. */
function keptAccount(
  { configuration: { id, callsPerSecond } }: ClaimLimits,
  last: Date,
  faults: number,
): RawBuilder<unknown> {
  const changes: RawBuilder<unknown>[] = [];
  if (callsPerSecond !== null) {
    changes.push(sql`dial_next_at = ${later(last, 1_000 / callsPerSecond)}`);
  }
  if (faults >= DIAL_FAULTS_MAX) changes.push(sql`probe_at = ${later(last, PROBE_MS)}`);
  if (changes.length === 0) return sql``;
  return sql`, account as (
      update telephony_configurations set ${sql.join(changes)} where id = ${id}
    )`;
}

function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}

/** Removes an attempt that placed no call, with its run; the contact is due after `delayMs`. */
export async function releaseAttempt(
  { db, time }: StoreContext,
  attemptId: string,
  delayMs: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const attempt = await tx
      .selectFrom('campaign_attempts')
      .select(['id', 'contact_id', 'run_id'])
      .where('id', '=', attemptId)
      .where('state', 'in', ['claimed', 'dialling'])
      .forUpdate()
      .executeTakeFirst();
    if (attempt === undefined) return;
    // A run with a call, or in a later state, shows that a call was placed after all.
    if (attempt.run_id !== null && !(await deleteUntouchedRun(tx, attempt.run_id))) return;
    await returnContact(tx, attempt, shifted(time(), delayMs));
  });
}

async function deleteUntouchedRun(tx: TransactionContext, runId: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('runs')
    .where('id', '=', runId)
    .where('state', '=', 'initialized')
    .where('provider_call_id', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return gone !== undefined;
}

/** Returns claims that did not begin: those of `node` (at its start), and expired ones. Returns their number. Usually
 *  there are none, which one statement finds. An attempt that begins meanwhile is no longer a claim and stays. */
export async function releaseClaims(
  context: StoreContext,
  node: string | undefined,
): Promise<number> {
  const now = context.time();
  const lapsed = (of: Pick<StoreContext['db'], 'selectFrom'>) =>
    of
      .selectFrom('campaign_attempts')
      .select(['id', 'contact_id'])
      .where('state', '=', 'claimed')
      .where((attempt) =>
        node === undefined
          ? attempt('lease_until', '<', now)
          : attempt.or([attempt('lease_until', '<', now), attempt('node', '=', node)]),
      );
  if ((await lapsed(context.db).limit(1).executeTakeFirst()) === undefined) return 0;
  return context.db.transaction().execute(async (tx) => {
    const rows = await lapsed(tx)
      .orderBy('id')
      .limit(GIVE_BACK_MAX)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of rows) await returnContact(tx, row, now);
    return rows.length;
  });
}

/** Number of calls that the organization may still start, counted as in `runs.create`. Claims count too: a campaign
 *  that gets none because of another's claim keeps its place in the order. One statement: a claim that begins meanwhile
 *  counts once. */
export async function freeSlots(
  { db }: StoreContext,
  organizationId: string,
  limit: number,
): Promise<number> {
  const claimed = db
    .selectFrom('campaign_attempts')
    .innerJoin('campaigns', 'campaigns.id', 'campaign_attempts.campaign_id')
    .select((attempt) => attempt.fn.countAll<string>().as('claimed'))
    .where('campaigns.organization_id', '=', organizationId)
    .where('campaign_attempts.state', '=', 'claimed');
  const taken = await db
    .selectFrom('runs')
    .select((run) => [run.fn.countAll<string>().as('open'), claimed.as('claimed')])
    .where('organization_id', '=', organizationId)
    .where(isOpen())
    .executeTakeFirstOrThrow();
  return Math.max(0, limit - Number(taken.open) - Number(taken.claimed));
}
