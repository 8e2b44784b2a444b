// Vonage as a telephony provider: joins its media, control and webhooks. Source: providers' capability table.

import { createAccountRest } from '../provider/account-rest.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createVonageClient } from './client.ts';
import { createVonageControl, VONAGE_CALL_S_MAX } from './control.ts';
import { createVonageInspection } from './inspection.ts';
import { createVonageMedia } from './media.ts';
import { vonageWebhook } from './webhook.ts';

/** Vonage's limit for an account: 15 requests a second. */
const LIMIT = {
  requestsMax: 15,
  windowMs: 1_100,
  reserved: 5,
  words: 'the 15 requests a second that an account may send',
};

export function createVonageProvider(options: HostedOptions): HostedProvider {
  const rest = createAccountRest({ provider: 'vonage', ...options, limit: LIMIT });
  return {
    name: 'vonage',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'request',
      // The media socket is a leg of its own.
      closeEndsCall: false,
      idempotentDial: false,
      webhookProof: 'full',
      digitsIn: true,
      // Detection in the audio costs nothing more, and needs no event that may be late.
      answeringMachine: false,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: VONAGE_CALL_S_MAX },
      callsPerSecond: 3,
      answerMsMax: 4_000,
    },
    formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
    control: createVonageControl(rest, options.clock),
    inspection: createVonageInspection(createVonageClient(rest, options.clock)),
    webhook: vonageWebhook,
    createMedia: createVonageMedia,
  };
}
