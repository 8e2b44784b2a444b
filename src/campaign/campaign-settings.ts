// Creation and change of campaigns: the client's values are checked against the store. Order of checks: contract §9.1.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import {
  type Campaign,
  type CampaignSettings,
  ENDED_STATES,
  RATE_PER_SECOND_DEFAULT,
  RETRY_DEFAULT,
} from '../model/campaign.ts';
import type { WorkflowVersion } from '../model/workflow.ts';
import type { Clock } from '../std/clock.ts';
import type { NewCampaign } from '../store/campaigns/campaigns.ts';
import type { FileStore } from '../store/files/file-store.ts';
import { requiredTemplateVariables } from '../workflow/graph/required-variables.ts';
import { requireValid } from '../workflow/stored/agent-checks.ts';
import { checkSource, checkSourceKey, reportOfSource } from './contact-file.ts';
import type { ContactReport } from './contact-report.ts';
import { type CampaignLifecycleDeps, campaignOf, telephonyOf } from './lifecycle.ts';

interface CampaignSettingsDeps extends CampaignLifecycleDeps {
  files: FileStore;
  log: Log;
}

/** Settings of a new campaign; absent ones get their defaults. */
export type CampaignWish = Pick<
  NewCampaign,
  'name' | 'workflowId' | 'sourceId' | 'configurationId'
> & { settings: Partial<CampaignSettings> };

/** Creates a campaign. Throws AGENT_NOT_FOUND, AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, WORKFLOW_INVALID,
 *  CAMPAIGN_SOURCE_KEY_INVALID, FILE_FORBIDDEN, CAMPAIGN_SOURCE_INVALID, CAMPAIGN_CONFIGURATION_NOT_FOUND,
 *  CONFIGURATION_NOT_READY, CAMPAIGN_CONCURRENCY, API_BUSY. */
export async function createCampaign(
  deps: CampaignSettingsDeps & { clock: Clock },
  organizationId: string,
  { settings, ...wish }: CampaignWish,
): Promise<Campaign> {
  const requiredColumns = await requiredColumnsOf(deps, organizationId, wish.workflowId);
  checkSourceKey(organizationId, wish.sourceId);
  await checkSource(deps, wish.sourceId, { requiredColumns });
  const { configurationId } = wish;
  await checkTelephony(deps, { organizationId, configurationId, ...settings });
  return deps.store.campaigns.create(organizationId, {
    retry: RETRY_DEFAULT,
    maxConcurrency: null,
    ratePerSecond: RATE_PER_SECOND_DEFAULT,
    schedule: null,
    breaker: null,
    ...settings,
    ...wish,
  });
}

/** What a campaign of that file would read, with the columns that the agent needs; null: no agent is chosen yet. Throws
 *  AGENT_NOT_FOUND, AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, CAMPAIGN_SOURCE_KEY_INVALID, FILE_FORBIDDEN,
 *  CAMPAIGN_SOURCE_INVALID, API_BUSY. */
export async function previewContacts(
  deps: CampaignSettingsDeps & { clock: Clock },
  organizationId: string,
  { sourceId, workflowId }: { sourceId: string; workflowId: string | null },
): Promise<ContactReport> {
  const requiredColumns =
    workflowId === null ? [] : await requiredColumnsOf(deps, organizationId, workflowId);
  checkSourceKey(organizationId, sourceId);
  return reportOfSource(deps, sourceId, { requiredColumns });
}

async function requiredColumnsOf(
  deps: CampaignSettingsDeps,
  organizationId: string,
  workflowId: string,
): Promise<string[]> {
  const { definition } = await publishedAgent(deps, organizationId, workflowId);
  return requiredTemplateVariables(definition);
}

/** Changes a campaign; absent fields are unchanged. Throws CAMPAIGN_NOT_FOUND, CAMPAIGN_ENDED,
 *  CAMPAIGN_CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY, CAMPAIGN_CONCURRENCY. */
export async function changeCampaign(
  deps: CampaignSettingsDeps,
  { organizationId, id }: { organizationId: string; id: string },
  patch: Partial<CampaignSettings> & { name?: string },
): Promise<Campaign> {
  const { configurationId } = unended(await campaignOf(deps, organizationId, id));
  if (patch.maxConcurrency !== undefined) {
    const { maxConcurrency } = patch;
    await checkTelephony(deps, { organizationId, configurationId, maxConcurrency });
  }
  const changed = await deps.store.campaigns.update(organizationId, id, patch);
  // The campaign may have ended meanwhile.
  return changed ?? unended(await campaignOf(deps, organizationId, id));
}

async function publishedAgent(
  { store }: CampaignSettingsDeps,
  organizationId: string,
  workflowId: string,
): Promise<WorkflowVersion> {
  const workflow = await store.workflows.get(organizationId, workflowId);
  if (workflow === undefined) throw new GatewayError('AGENT_NOT_FOUND');
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const version = await store.workflows.published(workflow.id);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  await requireValid({ store }, organizationId, version);
  return version;
}

/** Checks that the campaign's calls can be placed, with the requested concurrency. An organization without telephony
 *  may create campaigns, but not start them. */
async function checkTelephony(
  deps: CampaignSettingsDeps,
  wish: {
    organizationId: string;
    configurationId: string | null;
    maxConcurrency?: number | null;
  },
): Promise<void> {
  const { organizationId, maxConcurrency: asked } = wish;
  const configuration = await telephonyOf(deps, wish);
  if (asked === undefined || asked === null) return;
  const limit = await deps.store.accounts.concurrentCallLimit(organizationId);
  if (asked > limit) throw new GatewayError('CAMPAIGN_CONCURRENCY', { asked, limit });
  const numbers = configuration?.activePhoneNumbers ?? 0;
  if (asked > numbers) {
    deps.log.warn(
      { organizationId, maxConcurrency: asked, numbers },
      'a campaign may have more calls at a time than its telephony has numbers',
    );
  }
}

function unended(campaign: Campaign): Campaign {
  const { state } = campaign;
  if (ENDED_STATES.includes(state)) throw new GatewayError('CAMPAIGN_ENDED', { state });
  return campaign;
}
