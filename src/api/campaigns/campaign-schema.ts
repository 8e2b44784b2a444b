// Schemas of campaigns. Source: specification §2.6, §2.7 and §4.10 to §4.13, contract §9, Appendix A.5 and Appendix D.

import { z } from 'zod';
import { campaignState, campaignWaitReason } from '../../model/campaign.ts';
import { isObject } from '../../std/json.ts';
import { pageFigures, pageParameters } from '../http/page-parameters.ts';
import { freeObject, idIn, idOut, nameIn, timeOut } from '../http/values.ts';
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
const maxConcurrency = z
  .int()
  .min(1)
  .max(100)
  .describe(
    "Calls of the campaign at a time, 1 to 100, and at most the organization's limit. Null or left out: that limit.",
  );
/** Extension of the contract. Providers of the largest accounts accept hundreds of calls a second. */
const ratePerSecond = z.int().min(1).max(1_000).meta({
  description: 'Calls that the campaign places in a second, 1 to 1,000. Null or left out: 1.',
});

const inCreation = {
  retry:
    'Whether and when contacts are called again. Left out: once after 120 s, if they were busy or did not answer.',
  schedule: 'When calls are placed. Null or left out: at any time.',
  breaker:
    'Pauses the campaign when too many calls fail. Left out: at half of at least 5 calls in 120 s.',
};
/** In a change, null resets a setting and absence keeps it. */
const inChange = 'Null: as in a campaign that is created without it. Left out: unchanged.';

/** Other names of `source_id` that clients use. */
const SOURCE_ALIASES = ['source_url', 's3_key'];

export const campaignCreate = z.preprocess(
  withSourceId,
  z
    .object({
      name: campaignName,
      workflow_id: idIn.describe(
        'The `id` of the agent, whose published version calls; not its `workflow_uuid`.',
      ),
      source_type: z
        .string()
        .regex(/^csv$/)
        .meta({ description: 'Always `csv`.', examples: ['csv'] }),
      source_id: z
        .string()
        .min(1)
        .max(2_000)
        .meta({
          description:
            'The `file_key` of `createContactsUpload`, to whose link the file was sent. The file has a column `phone_number`, and one for each template variable of the agent. `source_url` and `s3_key` are other names of this field.',
          examples: ['campaigns/1/7c9e6679-7425-40de-944b-e07fc1f90ae7_contacts.csv'],
        }),
      telephony_configuration_id: idIn
        .nullish()
        .describe(
          'Id of the telephony configuration that places the calls. Null or left out: the default configuration; without one, the oldest that is ready.',
        ),
      retry_config: retryConfigIn.nullish().describe(inCreation.retry),
      max_concurrency: maxConcurrency.nullish(),
      rate_limit_per_second: ratePerSecond.nullish(),
      schedule_config: scheduleConfigIn.nullish().describe(inCreation.schedule),
      circuit_breaker: circuitBreakerIn.nullish().describe(inCreation.breaker),
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
    name: campaignName
      .nullish()
      .describe('The new name, of 1 to 255 characters. Null or left out: unchanged.'),
    retry_config: retryConfigIn.nullish().describe(`When contacts are called again. ${inChange}`),
    max_concurrency: maxConcurrency
      .nullish()
      .describe(`Calls of the campaign at a time, 1 to 100. ${inChange}`),
    rate_limit_per_second: ratePerSecond
      .nullish()
      .describe(`Calls that the campaign places in a second, 1 to 1,000. ${inChange}`),
    schedule_config: scheduleConfigIn.nullish().describe(`When calls are placed. ${inChange}`),
    circuit_breaker: circuitBreakerIn
      .nullish()
      .describe(`Pauses the campaign when too many calls fail. ${inChange}`),
  })
  .meta({ id: 'UpdateCampaignRequest' });
export type CampaignUpdate = z.infer<typeof campaignUpdate>;

export const campaignRedial = z
  .object({
    name: campaignName
      .nullish()
      .describe(
        'Name of the new campaign, of 1 to 255 characters. Default: the old name and ` (Redial)`.',
      ),
    retry_on_voicemail: z
      .boolean()
      .default(true)
      .describe('Whether it calls those whose last call ended at an answering machine.'),
    retry_on_no_answer: z
      .boolean()
      .default(true)
      .describe('Whether it calls those who did not answer last.'),
    retry_on_busy: z
      .boolean()
      .default(true)
      .describe('Whether it calls those who were busy last. One of the three must be true.'),
    retry_config: retryConfigIn
      .nullish()
      .describe(
        'When contacts of the new campaign are called again. Null or left out: as in the one that is redialled.',
      ),
  })
  .check(({ value, issues }) => {
    if (value.retry_on_voicemail || value.retry_on_no_answer || value.retry_on_busy) return;
    const message =
      'at least one of retry_on_voicemail, retry_on_no_answer and retry_on_busy must be true';
    issues.push({ code: 'custom', message, path: [], input: value });
  })
  .meta({ id: 'RedialCampaignRequest' });

const maxOut = z.int().nullable().describe("Calls at a time. Null: the organization's limit.");
const rateOut = z.int().describe('Calls a second.');

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
    total_rows: z.int().nullable().describe('Contacts. Null: the file has not been read yet.'),
    processed_rows: z.int().describe('Contacts that were called at least once.'),
    failed_rows: z.int().describe('Contacts not reached, and not called again.'),
    created_at: timeOut,
    started_at: timeOut.nullable(),
    completed_at: timeOut.nullable(),
    retry_config: retryConfigOut,
    max_concurrency: maxOut,
    rate_limit_per_second: rateOut,
    schedule_config: scheduleConfigOut.nullable(),
    circuit_breaker: circuitBreakerOut.nullable(),
    executed_count: z.int().describe('Calls that are over.'),
    total_queued_count: z.int().describe('Calls to come, under way and over.'),
    contact_count: z.int().describe('Contacts.'),
    in_flight_count: z.int().describe('Calls under way.'),
    failed_count: z.int().describe('As `failed_rows`.'),
    retry_count: z.int().describe('Calls after the first of their contact.'),
    retries_pending: z.int().describe('Those of them that are still to come.'),
    retry_breakdown: z
      .object({
        busy: z.int().describe('Calls.'),
        no_answer: z.int().describe('Calls.'),
        voicemail: z.int().describe('Calls.'),
      })
      .describe('Calls after the first, by what made them necessary.'),
    parent_campaign_id: idOut.nullable().describe('The campaign that this one redials.'),
    redialed_campaign_id: idOut.nullable().describe('The campaign that redials this one.'),
    telephony_configuration_id: idOut.nullable(),
    telephony_configuration_name: z.string().nullable(),
    waiting_for: waitingFor.optional(),
    logs: z.array(logEntry),
  })
  .meta({ id: 'CampaignResponse', description: 'A campaign with its settings and counters.' });
export type CampaignOut = z.infer<typeof campaignOut>;

export const campaignPage = z
  .object({ campaigns: z.array(campaignOut), ...pageFigures })
  .meta({ id: 'CampaignsResponse', description: 'A page of campaigns, newest first.' });

export const campaignRunPage = z
  .object({ runs: z.array(runOut), ...pageFigures })
  .meta({ id: 'CampaignRunsResponse', description: "A page of the campaign's runs." });

export const campaignProgress = z
  .object({
    campaign_id: idOut,
    state: campaignState,
    total_rows: z.int().describe('Contacts; 0 until the file is read.'),
    processed_rows: z.int().describe('Contacts that were called at least once.'),
    failed_calls: z.int().describe('Contacts not reached, and not called again.'),
    progress_percentage: z.number().describe('Called contacts in percent of all.'),
    source_sync: z.object({
      status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
      last_synced_at: timeOut.nullable(),
      error: z.string().nullable(),
    }),
    rate_limit: z.int().describe('Calls a second.'),
    started_at: timeOut.nullable(),
    completed_at: timeOut.nullable(),
    total: z.int().meta({ description: 'Contacts.' }),
    processed: z.int().meta({ description: 'Contacts that were called at least once.' }),
    completed: z.int().meta({ description: 'Contacts that were reached.' }),
    failed: z.int().meta({ description: 'Contacts not reached, and not called again.' }),
    pending: z.int().meta({ description: 'Contacts that were not called yet.' }),
    completion_percentage: z.number().describe('As `progress_percentage`.'),
    waiting_for: waitingFor,
  })
  .meta({ id: 'CampaignProgressResponse', description: 'How far the campaign is.' });
export type CampaignProgress = z.infer<typeof campaignProgress>;

export const campaignDefaults = z
  .object({
    concurrent_call_limit: z.int().describe('Calls that the organization may have at a time.'),
    from_numbers_count: z.int().describe('Numbers of the default telephony configuration.'),
    default_retry_config: retryConfigOut,
    last_campaign_settings: z
      .object({
        retry_config: retryConfigOut.nullable(),
        max_concurrency: maxOut,
        rate_limit_per_second: rateOut,
        schedule_config: scheduleConfigOut.nullable(),
        circuit_breaker: circuitBreakerOut.nullable(),
      })
      .nullable(),
  })
  .meta({
    id: 'CampaignDefaultsResponse',
    description: 'What a form for a new campaign begins with.',
  });

export const sourceDownload = z
  .object({
    download_url: z.string().describe('A link that needs no key.'),
    expires_in: z.int().describe('Seconds for which it works.'),
  })
  .meta({ id: 'CampaignSourceDownloadResponse', description: "A link to the campaign's file." });

export const pageQuery = z.object(pageParameters(1_000_000));
