// What a client sends to make or change a campaign, checked against what is stored and turned into what
// the campaign folder takes. The order of the checks is the contract's (§9.1).

import { checkSource, checkSourceKey } from '../../campaign/contact-file.ts';
import { telephonyOf } from '../../campaign/lifecycle.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type CampaignSettings,
  RATE_PER_SECOND_DEFAULT,
  RETRY_DEFAULT,
} from '../../model/campaign.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import type { SerialQueue } from '../../std/serial-queue.ts';
import type { NewCampaign } from '../../store/campaigns/campaigns.ts';
import { requiredTemplateVariables } from '../../workflow/graph/required-variables.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import type { CampaignCreate, CampaignUpdate } from './campaign-schema.ts';
import {
  breakerSettingsOf,
  retrySettingsOf,
  scheduleSettingsOf,
} from './campaign-settings-schema.ts';

/** `reading` lets one file be read at a time. Throws AGENT_NOT_FOUND, AGENT_NOT_ACTIVE,
 *  AGENT_NOT_PUBLISHED, FILE_KEY_INVALID, FILE_FORBIDDEN, CAMPAIGN_SOURCE_INVALID,
 *  CAMPAIGN_CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY, CAMPAIGN_CONCURRENCY. */
export async function newCampaign(
  deps: ApiDeps,
  reading: SerialQueue,
  organizationId: string,
  body: CampaignCreate,
): Promise<NewCampaign> {
  const { definition } = await publishedAgent(deps, organizationId, body.workflow_id);
  const sourceId = body.source_id;
  checkSourceKey(organizationId, sourceId);
  const requiredColumns = requiredTemplateVariables(definition);
  await reading.run(() => checkSource(deps.files, sourceId, { requiredColumns }));
  const configurationId = body.telephony_configuration_id ?? null;
  const settings = campaignSettingsOf(body);
  await checkTelephony(deps, { organizationId, configurationId, ...settings });
  return {
    retry: RETRY_DEFAULT,
    maxConcurrency: null,
    ratePerSecond: RATE_PER_SECOND_DEFAULT,
    schedule: null,
    breaker: null,
    ...settings,
    name: body.name,
    workflowId: body.workflow_id,
    sourceId,
    configurationId,
  };
}

/** The settings that were sent; null counts as not sent. */
export function campaignSettingsOf(body: Omit<CampaignUpdate, 'name'>): Partial<CampaignSettings> {
  const {
    retry_config: retry,
    schedule_config: schedule,
    circuit_breaker: breaker,
    max_concurrency: maxConcurrency,
    rate_limit_per_second: ratePerSecond,
  } = body;
  return {
    ...(retry ? { retry: retrySettingsOf(retry) } : {}),
    ...(schedule ? { schedule: scheduleSettingsOf(schedule) } : {}),
    ...(breaker ? { breaker: breakerSettingsOf(breaker) } : {}),
    ...(typeof maxConcurrency === 'number' ? { maxConcurrency } : {}),
    ...(typeof ratePerSecond === 'number' ? { ratePerSecond } : {}),
  };
}

async function publishedAgent(
  { store }: ApiDeps,
  organizationId: string,
  workflowId: string,
): Promise<WorkflowVersion> {
  const workflow = await store.workflows.get(organizationId, workflowId);
  if (workflow === undefined) throw new GatewayError('AGENT_NOT_FOUND');
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const version = await store.workflows.published(workflow.id);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return version;
}

/** Whether the campaign's calls can go out, and as many at a time as it wants. An organization without
 *  telephony may make campaigns; it cannot start them. */
export async function checkTelephony(
  deps: ApiDeps,
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
