// Vobiz as a telephony provider: joins its media, control and webhooks. Documents, fields and streams are Plivo's.
// Source: providers' capability table.

import { createStreamMedia } from '../plivo-xml/media.ts';
import { createAccountRest } from '../provider/account-rest.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createVobizClient } from './client.ts';
import { createVobizControl, VOBIZ_CALL_S_MAX } from './control.ts';
import { createVobizInspection } from './inspection.ts';
import { vobizWebhook } from './webhook.ts';

export function createVobizProvider(options: HostedOptions): HostedProvider {
  const rest = createAccountRest({ provider: 'vobiz', ...options });
  return {
    name: 'vobiz',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'request',
      closeEndsCall: true,
      idempotentDial: false,
      webhookProof: 'url-only',
      digitsIn: false, // Not documented; signalled keys are accepted nevertheless.
      answeringMachine: false, // Its result could not be confirmed.
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: VOBIZ_CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
    control: createVobizControl(rest),
    inspection: createVobizInspection(createVobizClient(rest)),
    webhook: vobizWebhook,
    createMedia: () => createStreamMedia({ provider: 'vobiz', linearIn: 'big-endian' }),
  };
}
