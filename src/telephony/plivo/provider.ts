// Plivo as a telephony provider: its declaration, and its parts joined. Source: providers' capability
// table.

import { createStreamMedia } from '../plivo-xml/media.ts';
import { createAccountRest } from '../provider/account-rest.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createPlivoClient, createPlivoInspection } from './account.ts';
import { plivoCredentials } from './config.ts';
import { createPlivoControl, PLIVO_CALL_S_MAX } from './control.ts';
import { plivoWebhook } from './webhook.ts';

/** Plivo's limit for an account: 300 requests in 5 seconds. */
const LIMIT = {
  requestsMax: 300,
  windowMs: 5_200,
  reserved: 50,
  words: 'the 300 requests in 5 seconds that an account may send',
};

export const plivoProvider = defineProvider({
  credentials: plivoCredentials,
  displayName: 'Plivo',
  connectivity: 'api',
  docsUrl: 'https://www.plivo.com/docs/voice/',
  accountIdField: 'auth_id',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  capabilities: {
    answerStyle: 'document',
    digitsOut: 'request',
    closeEndsCall: true,
    afterMedia: 'asks',
    idempotentDial: false,
    webhookProof: 'full',
    digitsIn: true,
    answeringMachine: true,
    transfer: ['cold', 'warm'],
    transferDigits: true,
    transferAwaits: 'acceptance',
    callS: { max: PLIVO_CALL_S_MAX },
    answerMsMax: 12_000, // It waits for 40 s.
  },
  create(options: HostedOptions) {
    const rest = createAccountRest({ provider: 'plivo', ...options, limit: LIMIT });
    return {
      formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
      control: createPlivoControl(rest),
      inspection: createPlivoInspection(createPlivoClient(rest)),
      webhook: plivoWebhook,
      createMedia: () => createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' }),
    };
  },
});
