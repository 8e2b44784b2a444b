// Twilio's credentials: schema, form and secrets. Source: specification §2.2 (variant d), contract §4.2.

import { z } from 'zod';
import { fieldFacts, type ProviderVariant, textField } from '../provider/configuration-variant.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** HTTPS anywhere, plain HTTP only to this machine: the requests carry the account's password. */
function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return false;
  }
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

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
  api_base_url: z
    .string()
    .trim()
    .max(500)
    .refine(isSafeBaseUrl, 'must be an https URL, or an http URL of this machine')
    .nullable()
    .register(fieldFacts, {
      label: 'API address',
      type: 'text',
      description: "Only for an account bound to a region: that region's REST address.",
      placeholder: 'https://api.twilio.com',
    }),
};
const provider = z.literal('twilio').meta({ default: 'twilio' });

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
