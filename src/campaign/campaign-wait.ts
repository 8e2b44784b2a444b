// Reason why a started campaign places no call at the moment, as a text for people, from one check of the dispatcher's
// conditions. Changes nothing; limits and hours may change before the dispatcher's next round.

import { type Campaign, type CampaignWait, PROBE_MS } from '../model/campaign.ts';
import type { Clock } from '../std/clock.ts';
import type { CampaignQueue } from '../store/campaigns/campaign-store.ts';
import type { Store } from '../store/store.ts';
import { isWithinCallingWindow, nextCallingWindow, spokenMoment } from './calling-window.ts';
import { telephonyWait } from './telephony-wait.ts';

interface WaitDeps {
  store: Pick<Store, 'campaigns' | 'contacts' | 'accounts'>;
  clock: Clock;
}

/** The reason. Undefined if the campaign is not started, has ended or is paused, or its next call is placed as soon
 *  as its rate allows. */
export async function waitOf(
  deps: WaitDeps,
  campaign: Campaign,
): Promise<CampaignWait | undefined> {
  if (campaign.state === 'syncing') {
    return { reason: 'contact_file', message: 'while the contact file is read', until: null };
  }
  if (campaign.state !== 'running') return undefined;
  const queue = await deps.store.campaigns.queue(campaign.id);
  const nowMs = deps.clock.now();
  return (
    telephonyOrProvider(campaign, queue) ??
    outsideHours(campaign, nowMs) ??
    nobodyDue(campaign, queue, nowMs) ??
    (await atLimit(deps, campaign, queue))
  );
}

function telephonyOrProvider(
  campaign: Campaign,
  { providerFaults }: CampaignQueue,
): CampaignWait | undefined {
  const away = telephonyWait(campaign);
  if (away !== undefined) {
    const reason = away.details?.['reason'] ?? away.message;
    return { reason: 'telephony', message: `for telephony: ${String(reason)}`, until: null };
  }
  if (campaign.waitsForConfigurationId === null) return undefined;
  const everyS = PROBE_MS / 1_000;
  const message = `for the provider, which has failed ${providerFaults} dials in a row: one is tried every ${everyS} seconds`;
  return { reason: 'provider', message, until: null };
}

function outsideHours({ schedule }: Campaign, nowMs: number): CampaignWait | undefined {
  if (schedule === null || isWithinCallingWindow(schedule, nowMs)) return undefined;
  const untilMs = nextCallingWindow(schedule, nowMs);
  if (untilMs === undefined) return undefined;
  const message = `until ${spokenMoment(untilMs, schedule.timezone)}`;
  return { reason: 'schedule', message, until: new Date(untilMs) };
}

function nobodyDue(
  { schedule }: Campaign,
  { firstDueAt }: CampaignQueue,
  nowMs: number,
): CampaignWait | undefined {
  if (firstDueAt === undefined) {
    return { reason: 'calls_under_way', message: 'for the calls in progress', until: null };
  }
  if (firstDueAt.getTime() <= nowMs) return undefined;
  const moment = spokenMoment(firstDueAt.getTime(), schedule?.timezone ?? 'UTC');
  const message = `until ${moment}, when the next contact is called again`;
  return { reason: 'retry', message, until: firstDueAt };
}

async function atLimit(
  { store }: WaitDeps,
  { organizationId, maxConcurrency }: Campaign,
  { openAttempts }: CampaignQueue,
): Promise<CampaignWait | undefined> {
  if (maxConcurrency !== null && openAttempts >= maxConcurrency) {
    const message = `at the limit of ${callsOf(maxConcurrency)}`;
    return { reason: 'call_limit', message, until: null };
  }
  const limit = await store.accounts.concurrentCallLimit(organizationId);
  if ((await store.contacts.freeSlots(organizationId, limit)) > 0) return undefined;
  const message = `at the organization's limit of ${callsOf(limit)}`;
  return { reason: 'organization_limit', message, until: null };
}

function callsOf(count: number): string {
  return count === 1 ? '1 call' : `${count} calls`;
}
