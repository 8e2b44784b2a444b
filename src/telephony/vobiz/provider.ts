// Vobiz as a telephony provider: its declaration, and its parts joined. Documents, fields and streams are Plivo's.
// Source: providers' capability table.

import { createStreamMedia } from '../plivo-xml/media.ts';
import { createAccountRest } from '../provider/account-rest.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createVobizClient, createVobizInspection } from './account.ts';
import { vobizCredentials } from './config.ts';
import { createVobizControl, VOBIZ_CALL_S_MAX } from './control.ts';
import { vobizWebhook } from './webhook.ts';

export const vobizProvider = defineProvider({
  credentials: vobizCredentials,
  displayName: 'Vobiz',
  connectivity: 'api',
  docsUrl: 'https://docs.vobiz.ai/',
  accountIdField: 'auth_id',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  capabilities: {
    answerStyle: 'document',
    digitsOut: 'request',
    closeEndsCall: true,
    afterMedia: 'asks',
    idempotentDial: false,
    webhookProof: 'url-only',
    digitsIn: false, // Not documented; signalled keys are accepted nevertheless.
    answeringMachine: false, // Its result could not be confirmed.
    transfer: ['cold', 'warm'],
    transferDigits: true,
    transferAwaits: 'acceptance',
    callS: { max: VOBIZ_CALL_S_MAX },
  },
  create(options: HostedOptions) {
    const rest = createAccountRest({ provider: 'vobiz', ...options });
    return {
      formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
      control: createVobizControl(rest),
      inspection: createVobizInspection(createVobizClient(rest)),
      webhook: vobizWebhook,
      createMedia: () => createStreamMedia({ provider: 'vobiz', linearIn: 'big-endian' }),
    };
  },
});
