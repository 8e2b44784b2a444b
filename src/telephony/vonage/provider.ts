// Vonage as a telephony provider: joins its media, control and webhooks. Source: providers' capability table.

import type { HostedProvider } from '../provider/provider.ts';
import { createRest, type HostedOptions } from '../provider/rest-client.ts';
import { createVonageClient } from './client.ts';
import { createVonageControl, VONAGE_CALL_S_MAX } from './control.ts';
import { createVonageInspection } from './inspection.ts';
import { createVonageMedia } from './media.ts';
import { vonageWebhook } from './webhook.ts';

export function createVonageProvider(options: HostedOptions): HostedProvider {
  const rest = createRest({ provider: 'vonage', ...options });
  return {
    name: 'vonage',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'request',
      // The socket is a leg of its own.
      closeEndsCall: false,
      idempotentDial: false,
      webhookProof: 'full',
      digitsIn: true,
      // Detection in the audio costs nothing more, and needs no event that may be late.
      answeringMachine: false,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: VONAGE_CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized.replace(/^\+/, ''),
    control: createVonageControl(rest, options.clock),
    inspection: createVonageInspection(createVonageClient(rest, options.clock)),
    webhook: vonageWebhook,
    createMedia: createVonageMedia,
  };
}
