// Twilio as a telephony provider: its declaration, and its parts joined. Its media are the messages of telephony/twiml
// with all their fields. Source: providers' capability table.

import { createAccountRest } from '../provider/account-rest.ts';
import type { MediaProtocol } from '../provider/media-protocol.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createStreamMedia } from '../twiml/stream-media.ts';
import { createTwilioInspection } from './account.ts';
import { createTwilioClient } from './client.ts';
import { twilioCredentials } from './config.ts';
import { createTwilioControl, TWILIO_CALL_S_MAX } from './control.ts';
import { twilioWebhook } from './webhook.ts';

export const twilioProvider = defineProvider({
  credentials: twilioCredentials,
  displayName: 'Twilio',
  connectivity: 'api',
  docsUrl: 'https://www.twilio.com/docs/voice/api',
  accountIdField: 'account_sid',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  capabilities: {
    answerStyle: 'document',
    digitsOut: 'tones',
    closeEndsCall: true,
    afterMedia: 'asks',
    idempotentDial: false,
    webhookProof: 'full',
    digitsIn: true,
    answeringMachine: true,
    transfer: ['cold', 'warm'],
    transferDigits: true,
    transferAwaits: 'acceptance',
    callS: { max: TWILIO_CALL_S_MAX },
    answerMsMax: 12_000, // It waits for 15 s.
  },
  create(options: HostedOptions) {
    const rest = createAccountRest({ provider: 'twilio', ...options });
    return {
      formatAddress: (addressNormalized) => addressNormalized, // `+` and digits, or `sip:`: unchanged.
      control: createTwilioControl(rest),
      inspection: createTwilioInspection(createTwilioClient(rest)),
      webhook: twilioWebhook,
      createMedia: createTwilioMedia,
    };
  },
});

/** One socket's protocol. */
export function createTwilioMedia(): MediaProtocol {
  return createStreamMedia({ provider: 'twilio', callIdField: 'callSid', isComplete: true });
}
