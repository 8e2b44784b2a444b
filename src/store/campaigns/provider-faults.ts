// Consecutive dials that a provider has failed, stored with the configuration, so that the count holds for all
// campaigns and processes and after a restart. Campaigns wait for such a provider; one dial at a time tests whether it
// answers again.

import { sql } from 'kysely';
import { type CampaignLogEntry, DIAL_FAULTS_MAX, PROBE_MS } from '../../model/campaign.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { logged } from './campaigns.ts';

/** Largest count. */
const COUNTED_MAX = 1_000_000;

/** Counts a dial over the configuration that the provider failed. Returns the number of consecutive failures; at
 *  DIAL_FAULTS_MAX the campaign starts to wait. Two statements, because claims lock a campaign before its
 *  configuration; a claim repairs a missing second one. */
export async function providerFailed(
  context: StoreContext,
  configurationId: string,
  campaignId: string,
): Promise<number> {
  const { db, time } = context;
  const probeAt = shifted(time(), PROBE_MS);
  const row = await db
    .updateTable('telephony_configurations')
    .set({
      dial_faults: sql`least(dial_faults + 1, ${COUNTED_MAX})`,
      probe_at: sql`case when dial_faults + 1 = ${DIAL_FAULTS_MAX} then ${probeAt} else probe_at end`,
    })
    .where('id', '=', configurationId)
    .returning('dial_faults')
    .executeTakeFirst();
  const faults = row?.dial_faults ?? 0;
  if (faults >= DIAL_FAULTS_MAX) await noteWait(db, context, { campaignId, configurationId });
  return faults;
}

/** Clears the count when the provider has answered a dial: no campaign waits for it any more. True if one did. */
export async function providerAnswered(
  context: StoreContext,
  configurationId: string,
): Promise<boolean> {
  const { db, time } = context;
  const { rows } = await sql<{ dial_faults: number }>`
    update telephony_configurations configuration set dial_faults = 0, probe_at = null
    from (select id, dial_faults from telephony_configurations
          where id = ${configurationId} and dial_faults > 0 for no key update) before
    where configuration.id = before.id
    returning before.dial_faults`.execute(db);
  const faults = rows[0]?.dial_faults ?? 0;
  if (faults < DIAL_FAULTS_MAX) return false;
  await db
    .updateTable('campaigns')
    .set({
      waits_for_configuration_id: null,
      dial_next_at: sql`${time()} + interval '1 second' / rate_per_second`,
      logs: logged(context, ENDED),
    })
    .where('waits_for_configuration_id', '=', configurationId)
    .where('state', 'in', ['running', 'paused'])
    .execute();
  return true;
}

const BEGAN = {
  level: 'warning',
  event: 'provider_wait_began',
  message: `The provider failed ${DIAL_FAULTS_MAX} dials in a row: the campaign waits, tries one every ${PROBE_MS / 1_000} seconds and goes on by itself`,
} as const satisfies Partial<CampaignLogEntry>;

const ENDED = {
  event: 'provider_wait_ended',
  message: 'The provider answers again: the campaign continues',
} as const satisfies Partial<CampaignLogEntry>;

/** Writes the campaign's log when a wait begins or (without a configuration) ends, once per wait. */
export async function noteWait(
  db: StoreContext['db'] | TransactionContext,
  context: StoreContext,
  { campaignId, configurationId }: { campaignId: string; configurationId: string | null },
): Promise<void> {
  await db
    .updateTable('campaigns')
    .set({
      waits_for_configuration_id: configurationId,
      logs: logged(context, configurationId === null ? ENDED : BEGAN),
    })
    .where('id', '=', campaignId)
    .where('state', 'in', ['running', 'paused'])
    .where('waits_for_configuration_id', 'is distinct from', configurationId)
    .execute();
}

/** Number of consecutive dials over the configuration that its provider has failed. */
export function faultsOf(configurationId: string | null) {
  return sql<number>`coalesce(
    (select dial_faults from telephony_configurations where id = ${configurationId}), 0)`;
}

/** Skips a campaign until its turn to test its provider. */
export async function waitForProbe(
  tx: TransactionContext,
  campaignId: string,
  starts: readonly (Date | null)[],
): Promise<void> {
  const turn = new Date(Math.max(...starts.map((start) => start?.getTime() ?? 0)));
  await tx
    .updateTable('campaigns')
    .set({ dial_next_at: turn })
    .where('id', '=', campaignId)
    .execute();
}
