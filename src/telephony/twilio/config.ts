// Twilio's credentials: what is checked and what a form shows. Source: specification §2.2 (variant d), contract §4.2.

import type { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  switchField,
  textField,
} from '../provider/configuration-fields.ts';

export const twilioCredentials = credentialsOf('twilio', {
  account_sid: textField({
    label: 'Account SID',
    type: 'text',
    sensitive: true,
    description: 'Shown on the first page of the Twilio console; begins with AC.',
    placeholder: 'ACxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  }),
  auth_token: textField({
    label: 'Auth token',
    type: 'password',
    sensitive: true,
    description: 'The token beside the account SID. Webhook signatures are checked with it too.',
  }),
  amd_enabled: switchField({
    label: 'Detect answering machines',
    description: 'Twilio listens beside the call and reports who answered. It charges for that.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only for an account bound to a region: that region's REST address.",
    placeholder: 'https://api.twilio.com',
  }),
});
export type TwilioConfig = z.infer<typeof twilioCredentials.schema>;
