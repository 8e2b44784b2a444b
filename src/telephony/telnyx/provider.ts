// Telnyx as a telephony provider, over Call Control: joins its media, control and webhooks. Source: providers §2, §7.1.

import { createAccountRest } from '../provider/account-rest.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createTelnyxClient } from './client.ts';
import { createTelnyxControl, TELNYX_CALL_S_MAX } from './control.ts';
import { createTelnyxInspection } from './inspection.ts';
import { createTelnyxMedia } from './media.ts';
import { createTelnyxWebhook } from './webhook.ts';

export function createTelnyxProvider(options: HostedOptions): HostedProvider {
  const client = createTelnyxClient(createAccountRest({ provider: 'telnyx', ...options }));
  return {
    name: 'telnyx',
    capabilities: {
      answerStyle: 'command',
      digitsOut: 'request',
      closeEndsCall: false,
      idempotentDial: true,
      webhookProof: 'full',
      digitsIn: true,
      answeringMachine: true,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: TELNYX_CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized, // `+` and digits, or `sip:`: unchanged.
    control: createTelnyxControl(client),
    inspection: createTelnyxInspection(client),
    webhook: createTelnyxWebhook(client),
    createMedia: createTelnyxMedia,
  };
}
