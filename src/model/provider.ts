// The telephony providers by name, in the order of the API's variants, and the normal call status.

import { z } from 'zod';

export const providerName = z.enum([
  'ari',
  'cloudonix',
  'plivo',
  'telnyx',
  'twilio',
  'vobiz',
  'vonage',
]);
export type ProviderName = z.infer<typeof providerName>;

/** A provider's word for the state of a call, normalised. The last five are terminal. */
export const callStatus = z.enum([
  'initiated',
  'ringing',
  'in-progress',
  'completed',
  'busy',
  'no-answer',
  'failed',
  'canceled',
]);
export type CallStatus = z.infer<typeof callStatus>;

const rank: Record<CallStatus, number> = {
  initiated: 0,
  ringing: 1,
  'in-progress': 2,
  completed: 3,
  busy: 3,
  'no-answer': 3,
  failed: 3,
  canceled: 3,
};

export type TerminalStatus = Exclude<CallStatus, 'initiated' | 'ringing' | 'in-progress'>;

export function isTerminal(status: CallStatus): status is TerminalStatus {
  return rank[status] === 3;
}

/** Statuses only move forward; a terminal one is never left. */
export function mayFollow(next: CallStatus, current: CallStatus | undefined): boolean {
  return current === undefined || (!isTerminal(current) && rank[next] > rank[current]);
}

export const direction = z.enum(['inbound', 'outbound']);
export type Direction = z.infer<typeof direction>;
