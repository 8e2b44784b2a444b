// Plivo's credentials: schema, form and secrets. Source: specification §2.2 (variant b), contract §4.2.

import { z } from 'zod';
import {
  optionalTextField,
  type ProviderVariant,
  textField,
} from '../provider/configuration-variant.ts';

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
};
const provider = z.literal('plivo').meta({ default: 'plivo' });

export const plivoConfig = z.object({
  provider,
  ...fields,
  application_id: fields.application_id.default(null),
});

export const plivoConfigPatch = z.object(fields).partial().extend({ provider });

export const plivoVariant: ProviderVariant = {
  displayName: 'Plivo',
  connectivity: 'api',
  accountIdField: 'auth_id',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  docsUrl: 'https://www.plivo.com/docs/voice/',
};
