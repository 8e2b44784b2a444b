// Schemas of campaigns. Source: specification §2.6, §2.7 and §4.10 to §4.13, contract §9, Appendix A.5 and Appendix D.

import { z } from 'zod';
import { campaignState, campaignWaitReason } from '../../model/campaign.ts';
import { isObject } from '../../std/json.ts';
import { freeObject, idIn, idOut, nameIn, queryInteger, timeOut } from '../http/values.ts';
import { runOut } from '../runs/run-schema.ts';
import {
  circuitBreakerIn,
  circuitBreakerOut,
  retryConfigIn,
  retryConfigOut,
  scheduleConfigIn,
  scheduleConfigOut,
} from './campaign-settings-schema.ts';

const campaignName = nameIn(255);
const maxConcurrency = z.int().min(1).max(100);
/** Extension of the contract. Providers of the largest accounts accept hundreds of calls a second. */
const ratePerSecond = z
  .int()
  .min(1)
  .max(1_000)
  .meta({ description: 'Calls that the campaign places in a second.' });

/** Other names of `source_id` that clients use. */
const SOURCE_ALIASES = ['source_url', 's3_key'];

export const campaignCreate = z.preprocess(
  withSourceId,
  z
    .object({
      name: campaignName,
      workflow_id: idIn,
      source_type: z.string().regex(/^csv$/),
      source_id: z.string().min(1).max(2_000).meta({ description: 'The `file_key` of an upload.' }),
      telephony_configuration_id: idIn.nullish(),
      retry_config: retryConfigIn.nullish(),
      max_concurrency: maxConcurrency.nullish(),
      rate_limit_per_second: ratePerSecond.nullish(),
      schedule_config: scheduleConfigIn.nullish(),
      circuit_breaker: circuitBreakerIn.nullish(),
    })
    .meta({ id: 'CreateCampaignRequest' }),
);
export type CampaignCreate = z.infer<typeof campaignCreate>;

function withSourceId(body: unknown): unknown {
  if (!isObject(body) || body['source_id'] !== undefined) return body;
  const alias = SOURCE_ALIASES.find((name) => body[name] !== undefined);
  return alias === undefined ? body : { ...body, source_id: body[alias] };
}

export const campaignUpdate = z
  .object({
    name: campaignName.nullish(),
    retry_config: retryConfigIn.nullish(),
    max_concurrency: maxConcurrency.nullish(),
    rate_limit_per_second: ratePerSecond.nullish(),
    schedule_config: scheduleConfigIn.nullish(),
    circuit_breaker: circuitBreakerIn.nullish(),
  })
  .meta({ id: 'UpdateCampaignRequest' });
export type CampaignUpdate = z.infer<typeof campaignUpdate>;

export const campaignRedial = z
  .object({
    name: campaignName.nullish(),
    retry_on_voicemail: z.boolean().default(true),
    retry_on_no_answer: z.boolean().default(true),
    retry_on_busy: z.boolean().default(true),
    retry_config: retryConfigIn.nullish(),
  })
  .check(({ value, issues }) => {
    if (value.retry_on_voicemail || value.retry_on_no_answer || value.retry_on_busy) return;
    const message =
      'at least one of retry_on_voicemail, retry_on_no_answer and retry_on_busy must be true';
    issues.push({ code: 'custom', message, path: [], input: value });
  })
  .meta({ id: 'RedialCampaignRequest' });

const logEntry = z
  .object({
    ts: z.string(),
    level: z.enum(['info', 'warning', 'error']),
    event: z.string(),
    message: z.string(),
    details: freeObject.nullable(),
  })
  .meta({ id: 'CampaignLogEntryResponse' });

/** Extension of the contract. */
const waitingFor = z
  .object({ reason: campaignWaitReason, message: z.string(), until: timeOut.nullable() })
  .nullable()
  .meta({
    id: 'CampaignWait',
    description:
      'Why a started campaign places no call just now, such as `until Monday 09:00 America/New_York`. Left out in lists.',
  });

export const campaignOut = z
  .object({
    id: idOut,
    name: z.string(),
    workflow_id: idOut,
    workflow_name: z.string(),
    state: campaignState,
    source_type: z.string(),
    source_id: z.string(),
    total_rows: z.int().nullable(),
    processed_rows: z.int(),
    failed_rows: z.int(),
    created_at: timeOut,
    started_at: timeOut.nullable(),
    completed_at: timeOut.nullable(),
    retry_config: retryConfigOut,
    max_concurrency: z.int().nullable(),
    rate_limit_per_second: z.int(),
    schedule_config: scheduleConfigOut.nullable(),
    circuit_breaker: circuitBreakerOut.nullable(),
    executed_count: z.int(),
    total_queued_count: z.int(),
    contact_count: z.int(),
    in_flight_count: z.int(),
    failed_count: z.int(),
    retry_count: z.int(),
    retries_pending: z.int(),
    retry_breakdown: z.object({ busy: z.int(), no_answer: z.int(), voicemail: z.int() }),
    parent_campaign_id: idOut.nullable(),
    redialed_campaign_id: idOut.nullable(),
    telephony_configuration_id: idOut.nullable(),
    telephony_configuration_name: z.string().nullable(),
    waiting_for: waitingFor.optional(),
    logs: z.array(logEntry),
  })
  .meta({ id: 'CampaignResponse' });
export type CampaignOut = z.infer<typeof campaignOut>;

const pageFacts = {
  total_count: z.int(),
  page: z.int(),
  limit: z.int(),
  total_pages: z.int(),
};

export const campaignPage = z
  .object({ campaigns: z.array(campaignOut), ...pageFacts })
  .meta({ id: 'CampaignsResponse' });

export const campaignRunPage = z
  .object({ runs: z.array(runOut), ...pageFacts })
  .meta({ id: 'CampaignRunsResponse' });

export const campaignProgress = z
  .object({
    campaign_id: idOut,
    state: campaignState,
    total_rows: z.int(),
    processed_rows: z.int(),
    failed_calls: z.int(),
    progress_percentage: z.number(),
    source_sync: z.object({
      status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
      last_synced_at: timeOut.nullable(),
      error: z.string().nullable(),
    }),
    rate_limit: z.int(),
    started_at: timeOut.nullable(),
    completed_at: timeOut.nullable(),
    total: z.int().meta({ description: 'Contacts.' }),
    processed: z.int().meta({ description: 'Contacts that were called at least once.' }),
    completed: z.int().meta({ description: 'Contacts that were reached.' }),
    failed: z.int().meta({ description: 'Contacts not reached, and not called again.' }),
    pending: z.int().meta({ description: 'Contacts that were not called yet.' }),
    completion_percentage: z.number(),
    waiting_for: waitingFor,
  })
  .meta({ id: 'CampaignProgressResponse' });
export type CampaignProgress = z.infer<typeof campaignProgress>;

export const campaignDefaults = z
  .object({
    concurrent_call_limit: z.int(),
    from_numbers_count: z.int(),
    default_retry_config: retryConfigOut,
    last_campaign_settings: z
      .object({
        retry_config: retryConfigOut.nullable(),
        max_concurrency: z.int().nullable(),
        rate_limit_per_second: z.int(),
        schedule_config: scheduleConfigOut.nullable(),
        circuit_breaker: circuitBreakerOut.nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'CampaignDefaultsResponse' });

export const sourceDownload = z
  .object({ download_url: z.string(), expires_in: z.int() })
  .meta({ id: 'CampaignSourceDownloadResponse' });

export const pageQuery = z.object({
  page: queryInteger(1, 1_000_000).default(1),
  limit: queryInteger(1, 100).default(50),
});
