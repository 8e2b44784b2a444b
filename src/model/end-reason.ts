// Reasons why calls end. Source: contract §8.9 (the pipeline's reasons, then the provider's).

import { z } from 'zod';

/** Reasons of the gateway itself. */
export const ownEndReasons = [
  'call_duration_exceeded',
  'call_transferred',
  'end_call_tool',
  'voicemail_detected',
  'user_idle_max_duration_exceeded',
  'user_hangup',
  'user_qualified',
  'user_disqualified',
  'system_cancelled',
  'system_connect_error',
  'unexpected_error',
  'unknown',
  'transfer_call',
  'pipeline_error',
  'voicemail_no_message',
  'ivr_detected',
  'screening_message_missing',
  'screening_limit',
  'screening_timeout',
  'hold_timeout',
  'number_not_in_service',
] as const;

/** Reasons of calls that a fault ended, ours or that of a service. */
export const faultReasons: ReadonlySet<string> = new Set<EndReason>([
  'pipeline_error',
  'unexpected_error',
  'system_connect_error',
]);

const providersReasons = ['no-answer', 'busy', 'failed', 'canceled', 'error'] as const;

/** All reasons in the order in which the API lists them. */
export const endReason = z.enum([...ownEndReasons, ...providersReasons]);
export type EndReason = z.infer<typeof endReason>;

/** Dispositions of transferred calls; the last one is the reference's. */
export const transferDispositions: ReadonlySet<string> = new Set([
  'transfer_call',
  'call_transferred',
  'XFER',
]);
