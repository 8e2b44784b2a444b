// Vobiz's credentials: schema, form and secrets. Source: specification §2.2 (variant e), contract §4.2.

import { z } from 'zod';
import {
  apiBaseUrlField,
  optionalTextField,
  type ProviderVariant,
  providerField,
  textField,
} from '../provider/configuration-fields.ts';

const fields = {
  auth_id: textField({
    label: 'Auth ID',
    type: 'text',
    sensitive: true,
    description: 'Names the account; shown on the first page of the Vobiz console.',
  }),
  auth_token: textField({
    label: 'Auth token',
    type: 'password',
    sensitive: true,
    description: 'The token beside the auth ID. Webhook signatures are checked with it too.',
  }),
  application_id: optionalTextField({
    label: 'Application',
    type: 'text',
    description: 'Receives inbound calls. Left empty, one is made when this is saved.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only where Vobiz's REST interface is reached by another address.",
    placeholder: 'https://api.vobiz.ai',
  }),
};
const provider = providerField('vobiz');

export const vobizConfig = z.object({
  provider,
  ...fields,
  application_id: fields.application_id.default(null),
  api_base_url: fields.api_base_url.default(null),
});
export type VobizConfig = z.infer<typeof vobizConfig>;

export const vobizConfigPatch = z.object(fields).partial().extend({ provider });

export const vobizVariant: ProviderVariant = {
  displayName: 'Vobiz',
  connectivity: 'api',
  accountIdField: 'auth_id',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  docsUrl: 'https://docs.vobiz.ai/',
};
