// A campaign and its progress as clients get them. Source: specification §2.6, §2.7 and §4.13, contract §9.9.

import { waitOf } from '../../campaign/campaign-wait.ts';
import type { Campaign, CampaignCounts } from '../../model/campaign.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { isoTime, isoTimeOrNull } from '../http/values.ts';
import type { CampaignOut, CampaignProgress } from './campaign-schema.ts';
import { breakerOnWire, retryOnWire, scheduleOnWire } from './campaign-settings-schema.ts';

export async function shownCampaign(deps: ApiDeps, campaign: Campaign): Promise<CampaignOut> {
  const shown = campaignOnWire(campaign, await countsOf(deps, campaign));
  return { ...shown, waiting_for: await waitOnWire(deps, campaign) };
}

export async function campaignsOnWire(
  deps: ApiDeps,
  campaigns: readonly Campaign[],
): Promise<CampaignOut[]> {
  const counts = await deps.store.contacts.counts(campaigns.map(({ id }) => id));
  return campaigns.map((campaign) => campaignOnWire(campaign, counts.get(campaign.id) ?? NOTHING));
}

export async function shownProgress(deps: ApiDeps, campaign: Campaign): Promise<CampaignProgress> {
  const progress = progressOnWire(campaign, await countsOf(deps, campaign));
  return { ...progress, waiting_for: await waitOnWire(deps, campaign) };
}

async function waitOnWire(
  deps: ApiDeps,
  campaign: Campaign,
): Promise<CampaignProgress['waiting_for']> {
  const wait = await waitOf(deps, campaign);
  return wait === undefined ? null : { ...wait, until: isoTimeOrNull(wait.until) };
}

async function countsOf(deps: ApiDeps, { id }: Campaign): Promise<CampaignCounts> {
  return (await deps.store.contacts.counts([id])).get(id) ?? NOTHING;
}

const NOTHING: CampaignCounts = {
  contacts: 0,
  attempted: 0,
  reached: 0,
  failed: 0,
  inFlight: 0,
  executed: 0,
  attempts: 0,
  retries: 0,
  retriesPending: 0,
  retriesBy: { busy: 0, no_answer: 0, voicemail: 0 },
};

export function campaignOnWire(campaign: Campaign, counts: CampaignCounts): CampaignOut {
  const { schedule } = campaign;
  return {
    id: campaign.id,
    name: campaign.name,
    workflow_id: campaign.workflowId,
    workflow_name: campaign.workflowName,
    state: campaign.state,
    source_type: campaign.sourceType,
    source_id: campaign.sourceId,
    total_rows: campaign.totalRows,
    processed_rows: counts.attempted,
    failed_rows: counts.failed,
    created_at: isoTime(campaign.createdAt),
    started_at: isoTimeOrNull(campaign.startedAt),
    completed_at: isoTimeOrNull(campaign.completedAt),
    retry_config: retryOnWire(campaign.retry),
    max_concurrency: campaign.maxConcurrency,
    rate_limit_per_second: campaign.ratePerSecond,
    schedule_config: schedule === null ? null : scheduleOnWire(schedule),
    circuit_breaker: breakerOnWire(campaign.breaker),
    executed_count: counts.executed,
    total_queued_count: counts.attempts,
    contact_count: counts.contacts,
    in_flight_count: counts.inFlight,
    failed_count: counts.failed,
    retry_count: counts.retries,
    retries_pending: counts.retriesPending,
    retry_breakdown: {
      busy: counts.retriesBy.busy,
      no_answer: counts.retriesBy.no_answer,
      voicemail: counts.retriesBy.voicemail,
    },
    parent_campaign_id: campaign.parentCampaignId,
    redialed_campaign_id: campaign.redialedCampaignId,
    telephony_configuration_id: campaign.configurationId,
    telephony_configuration_name: campaign.configurationName,
    logs: campaign.logs.map(({ at, level, event, message, details }) => ({
      ts: pythonTime(at),
      level,
      event,
      message,
      details,
    })),
  };
}

/** Progress in both field sets of the specification. A contact counts as processed from its first call, and as
 *  failed when it is not called again: neither share exceeds 100. */
export function progressOnWire(
  campaign: Campaign,
  counts: CampaignCounts,
): Omit<CampaignProgress, 'waiting_for'> {
  const total = campaign.totalRows ?? 0;
  const percentage = total === 0 ? 0 : percent(counts.attempted, total);
  return {
    campaign_id: campaign.id,
    state: campaign.state,
    total_rows: total,
    processed_rows: counts.attempted,
    failed_calls: counts.failed,
    progress_percentage: percentage,
    source_sync: {
      status: campaign.sourceSync,
      last_synced_at: isoTimeOrNull(campaign.sourceSyncedAt),
      error: campaign.sourceError,
    },
    rate_limit: campaign.ratePerSecond,
    started_at: isoTimeOrNull(campaign.startedAt),
    completed_at: isoTimeOrNull(campaign.completedAt),
    total,
    processed: counts.attempted,
    completed: counts.reached,
    failed: counts.failed,
    pending: Math.max(0, total - counts.attempted),
    completion_percentage: percentage,
  };
}

/** A share in percent, with two decimals. */
function percent(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}

/** A time with `+00:00` in place of `Z`, as the contract has it inside lists of facts (§2). */
function pythonTime(at: Date): string {
  return isoTime(at).replace(/Z$/, '+00:00');
}
