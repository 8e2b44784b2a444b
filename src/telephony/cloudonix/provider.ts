// Cloudonix as a telephony provider: joins its media, control and webhooks. Source: providers §5, §7.1.

import type { HostedProvider } from '../provider/provider.ts';
import { createRest, type HostedOptions } from '../provider/rest-client.ts';
import { createCloudonixClient } from './client.ts';
import { CLOUDONIX_CALL_S_MAX, createCloudonixControl } from './control.ts';
import { createCloudonixInspection } from './inspection.ts';
import { createCloudonixMedia } from './media.ts';
import { cloudonixWebhook } from './webhook.ts';

export function createCloudonixProvider(
  options: HostedOptions & {
    /** Requests of one domain in ten seconds. Default: Cloudonix' limit. */
    requestsMax?: number;
  },
): HostedProvider {
  const { requestsMax, ...rest } = options;
  const client = createCloudonixClient({
    rest: createRest({ provider: 'cloudonix', ...rest }),
    clock: options.clock,
    requestsMax,
  });
  return {
    name: 'cloudonix',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'tones', // A document with the keys would end the stream.
      closeEndsCall: true,
      idempotentDial: false,
      webhookProof: 'shared-key',
      digitsIn: true,
      answeringMachine: false,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: CLOUDONIX_CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized, // The trunk's form: `+` and digits, or `sip:`.
    control: createCloudonixControl(client),
    inspection: createCloudonixInspection(client),
    webhook: cloudonixWebhook,
    createMedia: createCloudonixMedia,
  };
}
