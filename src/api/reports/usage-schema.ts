// Schemas of usage and reports. Source: contract §6.2, §9.11 and the reference platform's usage shapes. Money is null:
// nothing is billed here.

import { z } from 'zod';
import { pageFigures } from '../http/page-parameters.ts';
import { freeObject, idOut, timeOut } from '../http/values.ts';

const seconds = z.number().meta({ description: 'Seconds.' });
const tokens = z.number().meta({ description: 'Tokens of language models.' });
const noMoney = z.null().meta({ description: 'Nothing is billed.' });
const url = z.string().nullable().describe('A link that needs no key. Null: no such file.');

export const usageRun = z.object({
  id: idOut,
  workflow_id: idOut,
  workflow_name: z.string().nullable(),
  name: z.string(),
  created_at: timeOut,
  dograh_token_usage: tokens,
  call_duration_seconds: z.int().describe('Seconds.'),
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

export const usageHistory = z
  .object({
    runs: z.array(usageRun),
    total_dograh_tokens: tokens,
    total_duration_seconds: z.int().describe('Seconds of all calls that fit the query.'),
    ...pageFigures,
  })
  .describe('A page of runs, and sums of all that fit the query.');

export const currentUsage = z
  .object({
    period_start: timeOut,
    period_end: timeOut,
    used_dograh_tokens: tokens,
    total_duration_seconds: z.int().describe('Seconds of calls.'),
    used_amount_usd: noMoney,
    currency: noMoney,
    price_per_second_usd: noMoney,
  })
  .describe('What was used in this month, in the time zone of the organization.');

export const dailyUsage = z
  .object({
    breakdown: z.array(
      z.object({
        date: z.iso.date(),
        minutes: z.number().describe('Minutes of calls.'),
        cost_usd: noMoney,
        dograh_tokens: tokens,
        call_count: z.int().describe('Calls.'),
      }),
    ),
    total_minutes: z.number().describe('Minutes of calls on all of the days.'),
    total_cost_usd: noMoney,
    total_dograh_tokens: tokens,
    currency: noMoney,
  })
  .describe('What was used on each day, oldest first.');

const count = z.int().describe('Calls.');
const percentage = z.number().describe('Percent of all calls of the day.');

export const dailyReport = z
  .object({
    date: z.iso.date(),
    timezone: z.string(),
    workflow_id: idOut.nullable().describe('Null: all agents.'),
    metrics: z.object({
      total_runs: z.int().describe('Calls of the day.'),
      xfer_count: z.int().describe('Those that ended in a transfer.'),
    }),
    disposition_distribution: z
      .array(z.object({ disposition: z.string(), count, percentage }))
      .describe('The five most frequent dispositions, and `Other`.'),
    call_duration_distribution: z
      .array(
        z.object({
          bucket: z.string(),
          range_start: z.int().describe('Seconds.'),
          range_end: z.int().nullable().describe('Seconds. Null: without an end.'),
          count,
          percentage,
        }),
      )
      .describe('Calls by their length.'),
  })
  .describe('Figures of the day.');
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
