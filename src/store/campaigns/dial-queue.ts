// The queue from which campaigns dial, on PostgreSQL: claims under limits, and returned claims. The step that creates
// a run: attempt-begin.ts; the end of attempts: attempt-settlement.ts; their life: dial-attempts.ts.

import { sql } from 'kysely';
import { DIAL_FAULTS_MAX } from '../../model/campaign.ts';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { isOpen } from '../runs/runs.ts';
import { retriesBy, returnContact } from './attempt-doubts.ts';
import type { ClaimedAttempt, ClaimLimits } from './dial-attempts.ts';
import { faultsOf, keepProbe, noteWait, waitForProbe } from './provider-faults.ts';

/** Claims that one round gives back; the next round takes the rest. */
const GIVE_BACK_MAX = 500;
/** Clients' calls take the turns of their account for the next five seconds (telephony/dial-turns.ts), and campaigns those
 *  of the next second: with more calls than the pace allows, campaigns would get no turn. So one campaign of an account
 *  takes one further ahead, if none had a turn for this time. */
const WITHOUT_TURN_MS = 3_000;
/** That one: behind clients' calls. A claim lasts longer. */
const FURTHER = { count: 1, horizonMs: 7_000 };

/** Attempts for due contacts, under all limits; retries first. One process at a time claims for a campaign; the
 *  others get nothing and try again. */
export async function claimContacts(
  context: StoreContext,
  campaignId: string,
  limits: ClaimLimits,
): Promise<ClaimedAttempt[]> {
  if (!isRowId(campaignId) || limits.count < 1) return [];
  return context.db.transaction().execute(async (tx) => {
    const campaign = await tx
      .selectFrom('campaigns')
      .select(['organization_id', 'dial_next_at', 'waits_for_configuration_id'])
      .select(faultsOf(limits.configuration.id).as('faults'))
      .where('id', '=', campaignId)
      .where('state', '=', 'running')
      .forNoKeyUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (campaign === undefined) return [];
    const { faults } = campaign;
    const isWaiting = faults >= DIAL_FAULTS_MAX;
    const configurationId = isWaiting ? limits.configuration.id : null;
    if (configurationId !== campaign.waits_for_configuration_id) {
      await noteWait(tx, context, { campaignId, configurationId });
    }
    const starts = [campaign.dial_next_at, ...(await lockConfiguration(tx, limits, isWaiting))];
    // Read after the locks, which it may have waited for: it gives the time.
    const { open, now } = await openAttempts(tx, context, campaignId);
    const room = Math.min(isWaiting ? 1 : limits.count, limits.openMax - open);
    const wanted = { ...limits, count: room };
    const inTime = turnsOf(starts, now, wanted);
    const turns = await orFurther(tx, inTime, { campaign, isWaiting, wanted, starts, now });
    if (isWaiting && turns.length === 0) await waitForProbe(tx, campaignId, starts);
    const contacts = await dueContacts(tx, campaignId, { now, count: turns.length });
    const last = turns[contacts.length - 1];
    if (last === undefined) return [];
    await keepPace(tx, campaignId, limits, last);
    if (isWaiting) await keepProbe(tx, limits.configuration.id, last);
    return writeClaims(tx, context, contacts, { turns, now, leaseMs: limits.leaseMs, faults });
  });
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

/** Before this time no call may be placed over the configuration; null: no limit. */
async function lockConfiguration(
  tx: TransactionContext,
  { configuration: { id, callsPerSecond } }: ClaimLimits,
  isWaiting: boolean,
): Promise<(Date | null)[]> {
  if (callsPerSecond === null && !isWaiting) return [];
  const row = await tx
    .selectFrom('telephony_configurations')
    .select(['dial_next_at', 'probe_at'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row === undefined ? [] : [row.dial_next_at, row.probe_at];
}

/** `inTime`; if that is none, and no campaign over the configuration had a turn although the pace alone gives one, one
 *  turn further ahead. */
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
  /** For its provider: one probe has its own time. */
  isWaiting: boolean;
  wanted: ClaimLimits;
  starts: readonly (Date | null)[];
  now: Date;
}

/** The times of the next calls, none before now or any of `starts`. */
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

/** Retries before first attempts. */
async function dueContacts(
  tx: TransactionContext,
  campaignId: string,
  { now, count }: { now: Date; count: number },
): Promise<DueContact[]> {
  const found: DueContact[] = [];
  for (const state of ['waiting', 'fresh'] as const) {
    if (found.length >= count) break;
    const rows = await tx
      .selectFrom('campaign_contacts')
      .select(['id', 'campaign_id', 'row_number', 'phone_number', 'variables'])
      .select(['attempts', 'retry_reason'])
      .where('campaign_id', '=', campaignId)
      .where('state', '=', state)
      .where('due_at', '<=', now)
      .orderBy('due_at')
      .orderBy('id')
      .limit(count - found.length)
      .forUpdate()
      .skipLocked()
      .execute();
    found.push(...rows);
  }
  return found;
}

interface Written {
  turns: readonly Date[];
  now: Date;
  leaseMs: number;
  /** Dials in a row that the provider has failed. */
  faults: number;
}

async function writeClaims(
  tx: TransactionContext,
  { node }: StoreContext,
  contacts: readonly DueContact[],
  { turns, now, leaseMs, faults }: Written,
): Promise<ClaimedAttempt[]> {
  await tx
    .updateTable('campaign_contacts')
    .set({ state: 'calling', attempts: sql`attempts + 1`, ...retriesBy(1) })
    .where(
      'id',
      'in',
      contacts.map(({ id }) => id),
    )
    .execute();
  const rows = await tx
    .insertInto('campaign_attempts')
    .values(
      contacts.map((contact, index) => ({
        campaign_id: contact.campaign_id,
        contact_id: contact.id,
        number: contact.attempts + 1,
        retry_reason: contact.retry_reason,
        state: 'claimed' as const,
        node,
        lease_until: new Date(now.getTime() + leaseMs),
        dial_at: turns[index] ?? now,
      })),
    )
    .returning(['id', 'contact_id', 'dial_at'])
    .execute();
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

/** The turn after the last one given. */
async function keepPace(
  tx: TransactionContext,
  campaignId: string,
  limits: ClaimLimits,
  last: Date,
): Promise<void> {
  const { id, callsPerSecond } = limits.configuration;
  const dialNextAt = new Date(last.getTime() + 1_000 / limits.ratePerSecond);
  await tx
    .updateTable('campaigns')
    .set({ dial_next_at: dialNextAt })
    .where('id', '=', campaignId)
    .execute();
  if (callsPerSecond === null) return;
  await tx
    .updateTable('telephony_configurations')
    .set({ dial_next_at: new Date(last.getTime() + 1_000 / callsPerSecond) })
    .where('id', '=', id)
    .execute();
}

/** Nothing was placed: the attempt and its run are removed, and the contact is due after `delayMs`. */
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

/** Gives back claims that did not begin: those of `node` (at its start), and expired ones. Returns their number.
 *  One step: an attempt that begins meanwhile is no longer a claim and stays. */
export async function releaseClaims(
  context: StoreContext,
  node: string | undefined,
): Promise<number> {
  const now = context.time();
  return context.db.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('campaign_attempts')
      .select(['id', 'contact_id'])
      .where('state', '=', 'claimed')
      .where((attempt) =>
        node === undefined
          ? attempt('lease_until', '<', now)
          : attempt.or([attempt('lease_until', '<', now), attempt('node', '=', node)]),
      )
      .orderBy('id')
      .limit(GIVE_BACK_MAX)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of rows) await returnContact(tx, row, now);
    return rows.length;
  });
}

/** Calls that the organization may still start, counted as in `runs.create`. Claims count as well: a campaign
 *  that gets none because of another's claim keeps its place in the order. One statement: a claim that begins
 *  meanwhile counts once. */
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
