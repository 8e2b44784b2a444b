// Vonage's words for the state of a call. Source: developer.vonage.com/en/voice/voice-api/webhook-reference#event-webhook

import type { CallStatus } from '../../model/provider.ts';

const statuses = new Map<string, CallStatus>([
  ['started', 'initiated'],
  ['ringing', 'ringing'],
  ['answered', 'in-progress'],
  ['completed', 'completed'],
  ['busy', 'busy'],
  ['unanswered', 'no-answer'],
  ['timeout', 'no-answer'],
  ['cancelled', 'canceled'],
  ['rejected', 'failed'],
  ['failed', 'failed'],
]);

/** The normalised status, or undefined if it is unknown. A callee who declines is busy. */
export function statusOf(status: string, detail?: string): CallStatus | undefined {
  return status === 'rejected' && detail === 'declined' ? 'busy' : statuses.get(status);
}

/** Vonage writes seconds as digits, sometimes with a fraction. */
export function secondsOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(text)
    ? Math.round(Number(text))
    : null;
}
