// Telnyx' credentials: schema, form and secrets. Source: specification §2.2 (variant c), contract §4.2.

import { z } from 'zod';
import {
  apiBaseUrlField,
  fieldFacts,
  optionalTextField,
  type ProviderVariant,
  providerField,
  textField,
} from '../provider/configuration-fields.ts';

const fields = {
  api_key: textField({
    label: 'API key',
    type: 'password',
    sensitive: true,
    description: 'A version 2 key from the API keys page of the Telnyx portal.',
  }),
  connection_id: optionalTextField({
    label: 'Call control application',
    type: 'text',
    description:
      'Its number, from the Voice API page of the Telnyx portal. It places and receives calls. Left empty, one is made when this is saved.',
    placeholder: '1293384261075731499',
  }),
  webhook_public_key: optionalTextField({
    label: 'Public key',
    type: 'text',
    description:
      "Telnyx' key for checking its webhooks, under Keys & Credentials in the Telnyx portal. Without it every webhook is refused, and no call is connected.",
  }),
  amd_enabled: z.boolean().register(fieldFacts, {
    label: 'Detect answering machines',
    type: 'boolean',
    description: 'Telnyx listens beside the call and reports who answered. It charges for that.',
  }),
  api_base_url: apiBaseUrlField({
    description: 'Only where Telnyx is reached by another address than its own.',
    placeholder: 'https://api.telnyx.com',
  }),
};
const provider = providerField('telnyx');

export const telnyxConfig = z.object({
  provider,
  ...fields,
  connection_id: fields.connection_id.default(null),
  webhook_public_key: fields.webhook_public_key.default(null),
  amd_enabled: fields.amd_enabled.default(false),
  api_base_url: fields.api_base_url.default(null),
});
export type TelnyxConfig = z.infer<typeof telnyxConfig>;

export const telnyxConfigPatch = z.object(fields).partial().extend({ provider });

export const telnyxVariant: ProviderVariant = {
  displayName: 'Telnyx',
  connectivity: 'api',
  webhookKeyField: 'webhook_public_key',
  accountIdField: 'connection_id',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'api_key' },
  docsUrl: 'https://developers.telnyx.com/docs/voice/programmable-voice',
};
