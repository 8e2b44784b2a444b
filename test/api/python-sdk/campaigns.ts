// The Python SDK's models of campaigns. Source: see values.ts.

import { z } from 'zod';
import { anyObject, integer, moment, text } from './values.ts';

const variant = {
  workflow_id: z.int().gt(0),
  workflow_definition_id: z.int().gt(0).nullish(),
  weight: z.int().min(1).max(100),
};

export const campaignResponse = z.object({
  traffic_split: z
    .object({
      revision: integer,
      variants: z.array(
        z.object({
          ...variant,
          id: text,
          workflow_name: text,
          version_number: integer.nullish(),
        }),
      ),
    })
    .nullish(),
  id: integer,
  name: text,
  workflow_id: integer,
  workflow_name: text,
  state: text,
  source_type: text,
  source_id: text,
  total_rows: integer.nullable(),
  processed_rows: integer,
  failed_rows: integer,
  created_at: moment,
  started_at: moment.nullable(),
  completed_at: moment.nullable(),
  retry_config: z.object({
    enabled: z.boolean(),
    max_retries: integer,
    retry_delay_seconds: integer,
    retry_on_busy: z.boolean(),
    retry_on_no_answer: z.boolean(),
    retry_on_voicemail: z.boolean(),
  }),
  max_concurrency: integer.nullish(),
  rate_limit_per_second: integer.nullish(),
  schedule_config: z
    .object({
      enabled: z.boolean(),
      timezone: text,
      slots: z.array(z.object({ day_of_week: integer, start_time: text, end_time: text })),
    })
    .nullish(),
  circuit_breaker: z
    .object({
      enabled: z.boolean().nullish(),
      failure_threshold: z.number().nullish(),
      window_seconds: integer.nullish(),
      min_calls_in_window: integer.nullish(),
    })
    .nullish(),
  executed_count: integer.nullish(),
  total_queued_count: integer.nullish(),
  parent_campaign_id: integer.nullish(),
  redialed_campaign_id: integer.nullish(),
  telephony_configuration_id: integer.nullish(),
  telephony_configuration_name: text.nullish(),
  logs: z
    .array(
      z.object({
        ts: text,
        level: text,
        event: text,
        message: text,
        details: anyObject.nullish(),
      }),
    )
    .nullish(),
  warnings: z.array(text).nullish(),
});

export const campaignsResponse = z.object({ campaigns: z.array(campaignResponse) });

export const campaignProgressResponse = z.object({
  campaign_id: integer,
  state: text,
  total_rows: integer,
  processed_rows: integer,
  failed_calls: integer,
  progress_percentage: z.number(),
  source_sync: anyObject,
  rate_limit: integer,
  started_at: moment.nullable(),
  completed_at: moment.nullable(),
});

const timeOfDay = text.regex(/^\d{2}:\d{2}$/);

export const createCampaignRequest = z.object({
  name: text.min(1).max(255),
  workflow_id: z.int().gt(0).nullish(),
  traffic_split: z.object({ variants: z.array(z.object(variant)).min(1).max(5) }).nullish(),
  source_type: z.literal('csv'),
  source_id: text,
  telephony_configuration_id: z.int().nullish(),
  retry_config: z
    .object({
      enabled: z.boolean().default(true),
      max_retries: z.int().min(0).max(10).default(2),
      retry_delay_seconds: z.int().min(30).max(3_600).default(120),
      retry_on_busy: z.boolean().default(true),
      retry_on_no_answer: z.boolean().default(true),
      retry_on_voicemail: z.boolean().default(true),
    })
    .nullish(),
  max_concurrency: z.int().min(1).nullish(),
  rate_limit_per_second: z.int().min(1).default(1),
  schedule_config: z
    .object({
      enabled: z.boolean().default(true),
      timezone: text.default('UTC'),
      slots: z
        .array(
          z.object({
            day_of_week: z.int().min(0).max(6),
            start_time: timeOfDay,
            end_time: timeOfDay,
          }),
        )
        .min(1)
        .max(50),
    })
    .nullish(),
  circuit_breaker: z
    .object({
      enabled: z.boolean().default(true),
      failure_threshold: z.number().min(0).max(1).default(0.5),
      window_seconds: z.int().min(30).max(600).default(120),
      min_calls_in_window: z.int().min(1).max(100).default(5),
    })
    .nullish(),
});
