// Converts what a client sends to create or change a campaign to the campaign folder's types.

import type { CampaignWish } from '../../campaign/campaign-settings.ts';
import {
  type CampaignSettings,
  RATE_PER_SECOND_DEFAULT,
  RETRY_DEFAULT,
} from '../../model/campaign.ts';
import type { CampaignCreate, CampaignUpdate } from './campaign-schema.ts';
import {
  breakerSettingsOf,
  retrySettingsOf,
  scheduleSettingsOf,
} from './campaign-settings-schema.ts';

export function campaignWishOf(body: CampaignCreate): CampaignWish {
  return {
    name: body.name,
    workflowId: body.workflow_id,
    sourceId: body.source_id,
    configurationId: body.telephony_configuration_id ?? null,
    settings: campaignSettingsOf(body),
  };
}

/** The changes that were sent. Null resets a setting to the value of a campaign that was created without it. */
export function campaignPatchOf(body: Omit<CampaignUpdate, 'name'>): Partial<CampaignSettings> {
  return {
    ...campaignSettingsOf(body),
    ...(body.retry_config === null ? { retry: RETRY_DEFAULT } : {}),
    ...(body.schedule_config === null ? { schedule: null } : {}),
    ...(body.circuit_breaker === null ? { breaker: null } : {}),
    ...(body.max_concurrency === null ? { maxConcurrency: null } : {}),
    ...(body.rate_limit_per_second === null ? { ratePerSecond: RATE_PER_SECOND_DEFAULT } : {}),
  };
}

/** The settings of a new campaign that were sent; null counts as not sent. */
function campaignSettingsOf(body: Omit<CampaignUpdate, 'name'>): Partial<CampaignSettings> {
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
