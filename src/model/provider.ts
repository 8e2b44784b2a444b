// The telephony providers by name, in the order of the API's variants, and the normalised call status.

import { z } from 'zod';

/** Providers that a telephony configuration is for: an account, or a PBX. */
export const configuredProviderName = z.enum([
  'ari',
  'cloudonix',
  'plivo',
  'telnyx',
  'twilio',
  'vobiz',
  'vonage',
]);
export type ConfiguredProviderName = z.infer<typeof configuredProviderName>;

/** Every provider of calls. Calls of `web` come from browsers, and need no configuration. */
export const providerName = z.enum([...configuredProviderName.options, 'web']);
export type ProviderName = z.infer<typeof providerName>;

/** The provider's call status, normalised. The last five are terminal. */
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

/** Rank of a status in a call's progress; the terminal ones are equal. */
function stage(status: CallStatus): number {
  if (isTerminal(status)) return 3;
  return ['initiated', 'ringing', 'in-progress'].indexOf(status);
}

/** Whether `next` may follow `last`: callbacks arrive in any order. */
export function isStatusTransitionAllowed(next: CallStatus, last: CallStatus): boolean {
  return stage(next) > stage(last);
}

export const direction = z.enum(['inbound', 'outbound']);
export type Direction = z.infer<typeof direction>;
