// Vonage as a telephony provider: its declaration, and its parts joined. Source: providers' capability table.

import { createAccountRest } from '../provider/account-rest.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createVonageInspection } from './account.ts';
import { createVonageClient } from './client.ts';
import { vonageCredentials } from './config.ts';
import { createVonageControl, VONAGE_CALL_S_MAX } from './control.ts';
import { createVonageMedia } from './media.ts';
import { vonageWebhook } from './webhook.ts';

/** Vonage's limit for an account: 15 requests a second. */
const LIMIT = {
  requestsMax: 15,
  windowMs: 1_100,
  reserved: 5,
  words: 'the 15 requests a second that an account may send',
};

export const vonageProvider = defineProvider({
  credentials: vonageCredentials,
  displayName: 'Vonage',
  connectivity: 'api',
  docsUrl: 'https://developer.vonage.com/en/voice/voice-api/overview',
  accountIdField: 'api_key',
  webhookKeyField: 'signature_secret',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'api_secret' },
  capabilities: {
    answerStyle: 'document',
    digitsOut: 'request',
    // The media socket is a leg of its own.
    closeEndsCall: false,
    afterMedia: 'asks',
    idempotentDial: false,
    webhookProof: 'full',
    digitsIn: true,
    // Detection in the audio costs nothing more, and needs no event that may be late.
    answeringMachine: false,
    transfer: ['cold', 'warm'],
    transferDigits: true,
    transferAwaits: 'acceptance',
    callS: { max: VONAGE_CALL_S_MAX },
    callsPerSecond: 3,
    answerMsMax: 4_000,
  },
  create(options: HostedOptions) {
    const rest = createAccountRest({ provider: 'vonage', ...options, limit: LIMIT });
    return {
      formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
      control: createVonageControl(rest, options.clock),
      inspection: createVonageInspection(createVonageClient(rest, options.clock)),
      webhook: vonageWebhook,
      createMedia: createVonageMedia,
    };
  },
});
