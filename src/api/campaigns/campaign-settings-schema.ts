// Schemas of a campaign's settings, and their conversion to and from the campaign folder's types. A field left out
// within a setting gets that setting's default; a setting that is left out as a whole is described in contract §9.1.
// Source: specification §2.6, contract §9.1 and Appendix D.

import { z } from 'zod';
import {
  BREAKER_DEFAULT,
  type BreakerSettings,
  type RetrySettings,
  type ScheduleSettings,
} from '../../model/campaign.ts';
import { isTimeZone } from '../../std/calendar-day.ts';
import { DAY_MINUTES, minutesOfDay, timeOfDay } from '../../std/time-of-day.ts';

export const retryConfigIn = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether contacts are called again at all; false: each is called once.'),
    max_retries: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .describe('Further calls to a contact after the first one.'),
    retry_delay_seconds: z
      .int()
      .min(30)
      .max(3_600)
      .default(120)
      .describe('Seconds from the end of a call to the next one to that contact.'),
    retry_on_busy: z.boolean().default(true).describe('Whether a busy contact is called again.'),
    retry_on_no_answer: z
      .boolean()
      .default(true)
      .describe('Whether a contact who does not answer is called again.'),
    retry_on_voicemail: z
      .boolean()
      .default(true)
      .describe('Whether a contact whose answering machine answers is called again.'),
  })
  .meta({
    id: 'RetryConfigRequest',
    description:
      'Whether and when contacts who were not reached are called again. What is left out within it has its default here.',
  });

export const retryConfigOut = z
  .object({
    enabled: z.boolean(),
    max_retries: z.int().describe('Calls after the first one.'),
    retry_delay_seconds: z.int().describe('Seconds.'),
    retry_on_busy: z.boolean(),
    retry_on_no_answer: z.boolean(),
    retry_on_voicemail: z.boolean(),
  })
  .meta({ id: 'RetryConfigResponse' });

const timeSlotIn = z
  .object({
    day_of_week: z
      .int()
      .min(0)
      .max(6)
      .meta({ description: 'The day on which the slot begins: 0 is Monday, 6 is Sunday.' }),
    start_time: z.string().meta({ description: '`HH:MM`, 00:00 to 23:59.', examples: ['09:00'] }),
    end_time: z.string().meta({
      description:
        '`HH:MM`, 00:00 to 24:00, excluded. Before `start_time`: on the next day. Both 00:00: the whole day.',
      examples: ['17:00'],
    }),
  })
  .check(({ value: { start_time: start, end_time: end }, issues }) => {
    const refuse = (field: string, message: string): void => {
      issues.push({ code: 'custom', message, path: [field], input: undefined });
    };
    const from = minutesOfDay(start);
    const to = minutesOfDay(end);
    if (from === undefined || from === DAY_MINUTES) {
      refuse('start_time', 'start_time must be a time as HH:MM, from 00:00 to 23:59');
    }
    if (to === undefined) {
      refuse('end_time', 'end_time must be a time as HH:MM, from 00:00 to 24:00');
    }
    if (from !== undefined && from === to && from > 0) {
      refuse('end_time', 'end_time must differ from start_time; the whole day is 00:00 to 24:00');
    }
  });

export const scheduleConfigIn = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe('False: the slots are kept, and calls are placed at any time.'),
    timezone: z
      .string()
      .max(100)
      .refine(isTimeZone, { error: ({ input }) => `Invalid timezone: ${String(input)}` })
      .default('UTC')
      .meta({
        description: 'The time zone of the slots, by its IANA name.',
        examples: ['America/New_York'],
      }),
    slots: z
      .array(timeSlotIn)
      .min(1)
      .max(50)
      .describe('The times at which calls are placed, 1 to 50. They may overlap.'),
  })
  .meta({
    id: 'ScheduleConfigRequest',
    description: 'When calls are placed. Calls that are under way at the end of a slot go on.',
  });

export const scheduleConfigOut = z
  .object({
    enabled: z.boolean(),
    timezone: z.string(),
    slots: z.array(
      z.object({
        day_of_week: z.int().describe('0 is Monday.'),
        start_time: z.string(),
        end_time: z.string(),
      }),
    ),
  })
  .meta({ id: 'ScheduleConfigResponse' });

export const circuitBreakerIn = z
  .object({
    enabled: z
      .boolean()
      .default(true)
      .describe('False: the campaign goes on however many calls fail.'),
    failure_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of failed calls at which the campaign is paused: 0.5 is half of them.'),
    window_seconds: z
      .int()
      .min(30)
      .max(600)
      .default(120)
      .describe('Seconds back from now whose calls are counted.'),
    min_calls_in_window: z
      .int()
      .min(1)
      .max(100)
      .default(5)
      .describe('With fewer calls in that time the campaign is not paused.'),
  })
  .meta({
    id: 'CircuitBreakerConfigRequest',
    description: 'Pauses the campaign when too many of its calls fail.',
  });

export const circuitBreakerOut = z
  .object({
    enabled: z.boolean(),
    failure_threshold: z.number().describe('Share of failed calls, 0 to 1.'),
    window_seconds: z.int().describe('Seconds.'),
    min_calls_in_window: z.int().describe('Calls.'),
  })
  .meta({ id: 'CircuitBreakerConfigResponse' });

export function retrySettingsOf(config: z.infer<typeof retryConfigIn>): RetrySettings {
  return {
    enabled: config.enabled,
    maxRetries: config.max_retries,
    delayS: config.retry_delay_seconds,
    onBusy: config.retry_on_busy,
    onNoAnswer: config.retry_on_no_answer,
    onVoicemail: config.retry_on_voicemail,
  };
}

export function retryOnWire(settings: RetrySettings): z.infer<typeof retryConfigOut> {
  return {
    enabled: settings.enabled,
    max_retries: settings.maxRetries,
    retry_delay_seconds: settings.delayS,
    retry_on_busy: settings.onBusy,
    retry_on_no_answer: settings.onNoAnswer,
    retry_on_voicemail: settings.onVoicemail,
  };
}

export function scheduleSettingsOf(config: z.infer<typeof scheduleConfigIn>): ScheduleSettings {
  return {
    enabled: config.enabled,
    timezone: config.timezone,
    slots: config.slots.map((slot) => {
      const from = minutesOfDay(slot.start_time) ?? 0;
      const to = minutesOfDay(slot.end_time) ?? 0;
      return {
        dayOfWeek: slot.day_of_week,
        start: timeOfDay(from),
        end: timeOfDay(from === to ? DAY_MINUTES : to),
      };
    }),
  };
}

export function scheduleOnWire(settings: ScheduleSettings): z.infer<typeof scheduleConfigOut> {
  return {
    enabled: settings.enabled,
    timezone: settings.timezone,
    slots: settings.slots.map((slot) => ({
      day_of_week: slot.dayOfWeek,
      start_time: slot.start,
      end_time: slot.end,
    })),
  };
}

export function breakerSettingsOf(config: z.infer<typeof circuitBreakerIn>): BreakerSettings {
  return {
    enabled: config.enabled,
    failureThreshold: config.failure_threshold,
    windowS: config.window_seconds,
    minCalls: config.min_calls_in_window,
  };
}

/** The circuit breaker as clients get it. A campaign without own settings shows a breaker that is off, although the
 *  default one is on: clients of the contract expect this (§9.1). */
export function breakerOnWire(settings: BreakerSettings | null): z.infer<typeof circuitBreakerOut> {
  const { enabled, failureThreshold, windowS, minCalls } = settings ?? {
    ...BREAKER_DEFAULT,
    enabled: false,
  };
  return {
    enabled,
    failure_threshold: failureThreshold,
    window_seconds: windowS,
    min_calls_in_window: minCalls,
  };
}
