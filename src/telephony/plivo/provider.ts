// Plivo as a telephony provider: joins its media, control and webhooks. Source: providers' capability
// table.

import { createStreamMedia } from '../plivo-xml/media.ts';
import type { HostedProvider } from '../provider/provider.ts';
import { createRest, type HostedOptions } from '../provider/rest-client.ts';
import { createPlivoClient } from './client.ts';
import { createPlivoControl, PLIVO_CALL_S_MAX } from './control.ts';
import { createPlivoInspection } from './inspection.ts';
import { plivoWebhook } from './webhook.ts';

export function createPlivoProvider(options: HostedOptions): HostedProvider {
  const rest = createRest({ provider: 'plivo', ...options });
  return {
    name: 'plivo',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'request',
      closeEndsCall: true,
      idempotentDial: false,
      webhookProof: 'full',
      digitsIn: true,
      answeringMachine: true,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: PLIVO_CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
    control: createPlivoControl(rest),
    inspection: createPlivoInspection(createPlivoClient(rest)),
    webhook: plivoWebhook,
    createMedia: () => createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' }),
  };
}
