// Telnyx as a telephony provider, over Call Control: its declaration, and its parts joined. Source: providers §2, §7.1.

import { createAccountRest } from '../provider/account-rest.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createTelnyxInspection } from './account.ts';
import { createTelnyxClient } from './client.ts';
import { telnyxCredentials } from './config.ts';
import { createTelnyxControl, TELNYX_CALL_S_MAX } from './control.ts';
import { createTelnyxMedia } from './media.ts';
import { createTelnyxWebhook } from './webhook.ts';

export const telnyxProvider = defineProvider({
  credentials: telnyxCredentials,
  displayName: 'Telnyx',
  connectivity: 'api',
  docsUrl: 'https://developers.telnyx.com/docs/voice/programmable-voice',
  accountIdField: 'connection_id',
  webhookKeyField: 'webhook_public_key',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'api_key' },
  capabilities: {
    answerStyle: 'command',
    digitsOut: 'request',
    closeEndsCall: false,
    afterMedia: 'stays',
    idempotentDial: true,
    webhookProof: 'full',
    digitsIn: true,
    answeringMachine: true,
    transfer: ['cold', 'warm'],
    transferDigits: true,
    transferAwaits: 'acceptance',
    callS: { max: TELNYX_CALL_S_MAX },
  },
  create(options: HostedOptions) {
    const client = createTelnyxClient(createAccountRest({ provider: 'telnyx', ...options }));
    return {
      formatAddress: (addressNormalized) => addressNormalized, // `+` and digits, or `sip:`: unchanged.
      control: createTelnyxControl(client),
      inspection: createTelnyxInspection(client),
      webhook: createTelnyxWebhook(client),
      createMedia: createTelnyxMedia,
    };
  },
});
