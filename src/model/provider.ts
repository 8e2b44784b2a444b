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

export type TerminalStatus = Exclude<CallStatus, 'initiated' | 'ringing' | 'in-progress'>;

export function isTerminal(status: CallStatus): status is TerminalStatus {
  return status !== 'initiated' && status !== 'ringing' && status !== 'in-progress';
}

export const direction = z.enum(['inbound', 'outbound']);
export type Direction = z.infer<typeof direction>;
