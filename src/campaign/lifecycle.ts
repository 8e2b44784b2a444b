// Clients' actions on a campaign after its creation: start, pause, resume, cancel, delete, redial of unreached
// contacts. Each is one statement in the store; of two requests, the second gets the state that it found. Source:
// contract §9.1, §9.2, §9.11.

import { findConfiguration } from '../call/start/outbound/outbound-route.ts';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Campaign } from '../model/campaign.ts';
import type { Redial } from '../store/campaigns/campaign-redial.ts';
import type { Store } from '../store/store.ts';
import type { ConfigurationSummary } from '../store/telephony/configurations.ts';
import { requireValid } from '../workflow/stored/agent-checks.ts';

export interface CampaignLifecycleDeps {
  store: Store;
  /** Called when a campaign has work at once. Must not throw. */
  onCampaignDue?: (() => void) | undefined;
}

/** A campaign of the organization. Throws CAMPAIGN_NOT_FOUND, also for another organization's. */
export async function campaignOf(
  { store }: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<Campaign> {
  const campaign = await store.campaigns.get(organizationId, id);
  if (campaign === undefined) throw new GatewayError('CAMPAIGN_NOT_FOUND');
  return campaign;
}

/** The route of the campaign's calls; undefined if the organization has no telephony yet. Throws
 *  CAMPAIGN_CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY, CONFIGURATION_INACTIVE. */
export async function telephonyOf(
  deps: CampaignLifecycleDeps,
  wish: { organizationId: string; configurationId: string | null },
): Promise<ConfigurationSummary | undefined> {
  try {
    return await findConfiguration(deps, wish);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'TELEPHONY_NOT_CONFIGURED') return undefined;
    if (code !== 'CONFIGURATION_NOT_FOUND') throw error;
    throw new GatewayError('CAMPAIGN_CONFIGURATION_NOT_FOUND', {}, error);
  }
}

/** Starts a campaign. Throws CAMPAIGN_TELEPHONY_MISSING, CAMPAIGN_NOT_FOUND, CAMPAIGN_STATE, WORKFLOW_INVALID and
 *  what `telephonyOf` throws. */
export async function startCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<Campaign> {
  await needTelephony(deps, organizationId, id);
  const started = await deps.store.campaigns.start(organizationId, id);
  if (started !== undefined) deps.onCampaignDue?.();
  return started ?? refused(deps, { organizationId, id }, { action: 'start', wanted: "'created'" });
}

/** Pauses a campaign; calls in progress go on. Throws CAMPAIGN_NOT_FOUND, CAMPAIGN_STATE. */
export async function pauseCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<Campaign> {
  const paused = await deps.store.campaigns.pause(organizationId, id);
  const wanted = "'running' or 'syncing'";
  return paused ?? refused(deps, { organizationId, id }, { action: 'pause', wanted });
}

/** Resumes a campaign. Throws what `startCampaign` throws. */
export async function resumeCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<Campaign> {
  const asked = { organizationId, id };
  const { state } = await campaignOf(deps, organizationId, id);
  if (state !== 'paused') return refused(deps, asked, { action: 'resume', wanted: "'paused'" });
  await needTelephony(deps, organizationId, id);
  const resumed = await deps.store.campaigns.resume(organizationId, id);
  if (resumed !== undefined) deps.onCampaignDue?.();
  return resumed ?? refused(deps, asked, { action: 'resume', wanted: "'paused'" });
}

/** Cancels a campaign. Has no effect on a cancelled one. Throws CAMPAIGN_NOT_FOUND, CAMPAIGN_STATE. */
export async function cancelCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<Campaign> {
  const cancelled = await deps.store.campaigns.cancel(organizationId, id);
  if (cancelled !== undefined) return cancelled;
  const campaign = await campaignOf(deps, organizationId, id);
  if (campaign.state === 'cancelled') return campaign;
  const wanted = "'created', 'syncing', 'running' or 'paused'";
  return refused(deps, { organizationId, id }, { action: 'cancel', wanted });
}

/** Deletes a campaign. Throws CAMPAIGN_NOT_FOUND, CAMPAIGN_STATE. */
export async function deleteCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<void> {
  if ((await deps.store.campaigns.delete(organizationId, id)) !== undefined) return;
  const wanted = "'completed', 'failed' or 'cancelled'";
  await refused(deps, { organizationId, id }, { action: 'delete', wanted });
}

async function needTelephony(deps: CampaignLifecycleDeps, organizationId: string, id: string) {
  const all = await deps.store.telephony.listConfigurations(organizationId);
  if (all.length === 0) throw new GatewayError('CAMPAIGN_TELEPHONY_MISSING');
  const { configurationId, workflowId } = await campaignOf(deps, organizationId, id);
  const configuration = await telephonyOf(deps, { organizationId, configurationId });
  if (configuration === undefined) throw new GatewayError('CAMPAIGN_TELEPHONY_MISSING');
  // The dispatcher detects an agent that was archived meanwhile.
  const version = await deps.store.workflows.published(workflowId);
  if (version !== undefined) await requireValid(deps, organizationId, version);
}

async function refused(
  deps: CampaignLifecycleDeps,
  { organizationId, id }: { organizationId: string; id: string },
  { action, wanted }: { action: string; wanted: string },
): Promise<never> {
  const { state } = await campaignOf(deps, organizationId, id);
  throw new GatewayError('CAMPAIGN_STATE', { action, wanted, state });
}

/** Creates a campaign for the contacts that were not reached, in state `created`. Throws CAMPAIGN_NOT_FOUND,
 *  CAMPAIGN_STATE, CAMPAIGN_REDIALED, CAMPAIGN_NOBODY_LEFT. */
export async function redialCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  parentId: string,
  redial: Redial,
): Promise<Campaign> {
  const child = await deps.store.campaigns.redial(organizationId, parentId, redial);
  if (child === 'nobody') {
    throw new GatewayError('CAMPAIGN_NOBODY_LEFT', { outcomes: redial.outcomes.join(', ') });
  }
  return child ?? redialRefused(deps, organizationId, parentId);
}

async function redialRefused(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<never> {
  const { state, redialedCampaignId } = await campaignOf(deps, organizationId, id);
  if (state !== 'completed') {
    throw new GatewayError('CAMPAIGN_STATE', { action: 'redial', wanted: "'completed'", state });
  }
  throw new GatewayError('CAMPAIGN_REDIALED', { id: redialedCampaignId ?? '' });
}
