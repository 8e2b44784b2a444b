// Plivo's credentials: schema, form and secrets. Source: specification §2.2 (variant b), contract §4.2.

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
  auth_id: textField({
    label: 'Auth ID',
    type: 'text',
    sensitive: true,
    description: 'Names the account; shown on the first page of the Plivo console.',
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
  amd_enabled: z.boolean().register(fieldFacts, {
    label: 'Detect answering machines',
    type: 'boolean',
    description: 'Plivo listens beside the call and reports whether a machine answered.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only where Plivo's REST interface is reached by another address.",
    placeholder: 'https://api.plivo.com',
  }),
};
const provider = providerField('plivo');

export const plivoConfig = z.object({
  provider,
  ...fields,
  application_id: fields.application_id.default(null),
  amd_enabled: fields.amd_enabled.default(false),
  api_base_url: fields.api_base_url.default(null),
});
export type PlivoConfig = z.infer<typeof plivoConfig>;

export const plivoConfigPatch = z.object(fields).partial().extend({ provider });

export const plivoVariant: ProviderVariant = {
  displayName: 'Plivo',
  connectivity: 'api',
  accountIdField: 'auth_id',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'auth_token' },
  docsUrl: 'https://www.plivo.com/docs/voice/',
};
