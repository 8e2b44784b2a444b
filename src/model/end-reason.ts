// Why a call ended. Source: contract §8.9 (the pipeline's reasons, then the provider's).

import { z } from 'zod';

export const endReason = z.enum([
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
  'no-answer',
  'busy',
  'failed',
  'canceled',
  'error',
]);
export type EndReason = z.infer<typeof endReason>;
