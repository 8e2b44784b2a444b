// Twilio as a telephony provider: joins its media, control and webhooks. Source: providers' capability
// table; lead: clear is prompt, so a short lead keeps barge-in short.

import type { Clock } from '../../std/clock.ts';
import type { TelephonyProvider } from '../provider.ts';
import { createRest } from '../rest.ts';
import { CALL_S_MAX, createTwilioControl } from './control.ts';
import { createTwilioMedia } from './media.ts';
import { twilioWebhook } from './webhook.ts';

export function createTwilioProvider(options: {
  clock: Clock;
  deadlineMs?: number;
}): TelephonyProvider {
  return {
    name: 'twilio',
    capabilities: {
      answerStyle: 'markup',
      marks: 'echo-on-clear',
      clear: true,
      digitsIn: true,
      digitsOut: 'none',
      answeringMachine: true,
      transfer: ['cold'],
      closeEndsCall: true,
      leadMs: { aim: 100, max: 160 },
      idempotentDial: false,
      callS: { max: CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized, // `+` and digits, or `sip:`: as it is.
    control: createTwilioControl(createRest({ provider: 'twilio', ...options })),
    webhook: twilioWebhook,
    createMedia: createTwilioMedia,
  };
}
