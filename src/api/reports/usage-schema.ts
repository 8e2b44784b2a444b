// Schemas of usage and reports. Source: contract §6.2, §9.11 and the reference platform's usage shapes. Money is null:
// nothing is billed here.

import { z } from 'zod';
import { freeObject, idOut, timeOut } from '../http/values.ts';

const seconds = z.number().meta({ description: 'Seconds.' });
const tokens = z.number().meta({ description: 'Tokens of language models.' });
const noMoney = z.null().meta({ description: 'Nothing is billed.' });
const url = z.string().nullable();

export const usageRun = z.object({
  id: idOut,
  workflow_id: idOut,
  workflow_name: z.string().nullable(),
  name: z.string(),
  created_at: timeOut,
  dograh_token_usage: tokens,
  call_duration_seconds: z.int(),
  recording_url: url,
  transcript_url: url,
  user_recording_url: url,
  bot_recording_url: url,
  recording_public_url: url,
  transcript_public_url: url,
  user_recording_public_url: url,
  bot_recording_public_url: url,
  public_access_token: z.string().nullable(),
  phone_number: z.string().nullable().meta({ deprecated: true }),
  caller_number: z.string().nullable(),
  called_number: z.string().nullable(),
  call_type: z.enum(['inbound', 'outbound']),
  mode: z.string(),
  disposition: z.string().nullable(),
  initial_context: freeObject,
  gathered_context: freeObject,
  charge_usd: noMoney,
});
export type UsageRunOut = z.infer<typeof usageRun>;

export const usageHistory = z.object({
  runs: z.array(usageRun),
  total_dograh_tokens: tokens,
  total_duration_seconds: z.int(),
  total_count: z.int(),
  page: z.int(),
  limit: z.int(),
  total_pages: z.int(),
});

export const currentUsage = z.object({
  period_start: timeOut,
  period_end: timeOut,
  used_dograh_tokens: tokens,
  total_duration_seconds: z.int(),
  used_amount_usd: noMoney,
  currency: noMoney,
  price_per_second_usd: noMoney,
});

export const dailyUsage = z.object({
  breakdown: z.array(
    z.object({
      date: z.iso.date(),
      minutes: z.number(),
      cost_usd: noMoney,
      dograh_tokens: tokens,
      call_count: z.int(),
    }),
  ),
  total_minutes: z.number(),
  total_cost_usd: noMoney,
  total_dograh_tokens: tokens,
  currency: noMoney,
});

export const dailyReport = z.object({
  date: z.iso.date(),
  timezone: z.string(),
  workflow_id: idOut.nullable(),
  metrics: z.object({ total_runs: z.int(), xfer_count: z.int() }),
  disposition_distribution: z.array(
    z.object({ disposition: z.string(), count: z.int(), percentage: z.number() }),
  ),
  call_duration_distribution: z.array(
    z.object({
      bucket: z.string(),
      range_start: z.int(),
      range_end: z.int().nullable(),
      count: z.int(),
      percentage: z.number(),
    }),
  ),
});
export type DailyReportOut = z.infer<typeof dailyReport>;

export const workflowOption = z.object({ id: idOut, name: z.string() });

export const dailyRun = z
  .object({
    phone_number: z.string(),
    disposition: z.string(),
    duration_seconds: seconds,
    workflow_id: idOut,
    run_id: idOut,
    workflow_name: z.string(),
    created_at: timeOut,
  })
  .meta({ id: 'WorkflowRunDetail' });
