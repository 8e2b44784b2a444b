// Campaigns as one repository. Every change of state is one conditional statement: of two concurrent requests, the
// second gets undefined.

import { sql } from 'kysely';
import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { createRedialCampaign } from './campaign-redial.ts';
import {
  getCampaign,
  insertCampaign,
  listCampaigns,
  markCampaignCancelled,
  markCampaignDeleted,
  markCampaignPaused,
  markCampaignResumed,
  markCampaignStarted,
  updateCampaign,
} from './campaigns.ts';
import { claimSync, failSync, finishSync, renewSync, waitForFile } from './contact-sync-claims.ts';

export type CampaignStore = ReturnType<typeof campaignStore>;

export function campaignStore(context: StoreContext) {
  return withContext(context, {
    create: insertCampaign,
    get: getCampaign,
    list: listCampaigns,
    update: updateCampaign,
    start: markCampaignStarted,
    pause: markCampaignPaused,
    resume: markCampaignResumed,
    cancel: markCampaignCancelled,
    delete: markCampaignDeleted,
    queue: queueOf,
    claimSync,
    renewSync,
    waitForFile,
    finishSync,
    failSync,
    redial: createRedialCampaign,
  });
}

/** State of one campaign's queue, as the dispatcher uses it, for a client that wants to know why nobody is called. */
export interface CampaignQueue {
  /** Attempts that have not ended. */
  openAttempts: number;
  /** Time when the next contact is due; undefined if no contact waits. */
  firstDueAt: Date | undefined;
  /** Dials in a row that its provider has failed, while the campaign waits for it. */
  providerFaults: number;
}

async function queueOf({ db }: StoreContext, campaignId: string): Promise<CampaignQueue> {
  const firstDue = (state: 'waiting' | 'fresh') => sql`(
    select due_at from campaign_contacts
    where campaign_id = ${campaignId} and state = ${sql.lit(state)} order by due_at limit 1)`;
  const { rows } = await sql<{ open: number; due: Date | null; faults: number | null }>`
    select
      (select count(*)::integer from campaign_attempts
       where campaign_id = ${campaignId} and state <> 'ended') as open,
      least(${firstDue('waiting')}, ${firstDue('fresh')}) as due,
      (select dial_faults from telephony_configurations configuration
       where configuration.id = campaigns.waits_for_configuration_id) as faults
    from campaigns where id = ${campaignId}`.execute(db);
  const [row] = rows;
  return {
    openAttempts: row?.open ?? 0,
    firstDueAt: row?.due ?? undefined,
    providerFaults: row?.faults ?? 0,
  };
}
