// Twilio's credentials: schema, form and secrets. Source: specification §2.2 (variant d), contract §4.2.

import { z } from 'zod';
import {
  apiBaseUrlField,
  fieldFacts,
  type ProviderVariant,
  providerField,
  textField,
} from '../provider/configuration-fields.ts';

const fields = {
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
  amd_enabled: z.boolean().register(fieldFacts, {
    label: 'Detect answering machines',
    type: 'boolean',
    description: 'Twilio listens beside the call and reports who answered. It charges for that.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only for an account bound to a region: that region's REST address.",
    placeholder: 'https://api.twilio.com',
  }),
};
const provider = providerField('twilio');

export const twilioConfig = z.object({
  provider,
  ...fields,
  amd_enabled: fields.amd_enabled.default(false),
  api_base_url: fields.api_base_url.default(null),
});
export type TwilioConfig = z.infer<typeof twilioConfig>;

export const twilioConfigPatch = z.object(fields).partial().extend({ provider });

export const twilioVariant: ProviderVariant = {
  displayName: 'Twilio',
  connectivity: 'api',
  accountIdField: 'account_sid',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  docsUrl: 'https://www.twilio.com/docs/voice/api',
};
