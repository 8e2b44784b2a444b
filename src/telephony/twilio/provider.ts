// Twilio as a telephony provider: joins its media, control and webhooks. Source: providers' capability
// table.

import { createAccountRest } from '../provider/account-rest.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createTwilioClient } from './client.ts';
import { createTwilioControl, TWILIO_CALL_S_MAX } from './control.ts';
import { createTwilioInspection } from './inspection.ts';
import { createTwilioMedia } from './media.ts';
import { twilioWebhook } from './webhook.ts';

export function createTwilioProvider(options: HostedOptions): HostedProvider {
  const rest = createAccountRest({ provider: 'twilio', ...options });
  return {
    name: 'twilio',
    capabilities: {
      answerStyle: 'document',
      digitsOut: 'tones',
      closeEndsCall: true,
      idempotentDial: false,
      webhookProof: 'full',
      digitsIn: true,
      answeringMachine: true,
      transfer: ['cold', 'warm'],
      transferAwaits: 'acceptance',
      callS: { max: TWILIO_CALL_S_MAX },
      answerMsMax: 12_000, // It waits for 15 s.
    },
    formatAddress: (addressNormalized) => addressNormalized, // `+` and digits, or `sip:`: unchanged.
    control: createTwilioControl(rest),
    inspection: createTwilioInspection(createTwilioClient(rest)),
    webhook: twilioWebhook,
    createMedia: createTwilioMedia,
  };
}
