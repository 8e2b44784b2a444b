// Telnyx' credentials: schema, form and secrets. Source: specification §2.2 (variant c), contract §4.2.

import { z } from 'zod';
import {
  optionalTextField,
  type ProviderVariant,
  textField,
} from '../provider/configuration-variant.ts';

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
    description: 'Places and receives calls. Left empty, one is made when this is saved.',
  }),
  webhook_public_key: optionalTextField({
    label: 'Public key',
    type: 'text',
    description: "Telnyx' key for checking its webhooks. Without it every webhook is refused.",
  }),
};
const provider = z.literal('telnyx').meta({ default: 'telnyx' });

export const telnyxConfig = z.object({
  provider,
  ...fields,
  connection_id: fields.connection_id.default(null),
  webhook_public_key: fields.webhook_public_key.default(null),
});

export const telnyxConfigPatch = z.object(fields).partial().extend({ provider });

export const telnyxVariant: ProviderVariant = {
  displayName: 'Telnyx',
  connectivity: 'api',
  accountIdField: 'connection_id',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  docsUrl: 'https://developers.telnyx.com/docs/voice/programmable-voice',
};
