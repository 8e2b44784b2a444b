// Vonage's credentials: schema, form and secrets. Source: specification §2.2 (variant f), contract §4.2.

import { z } from 'zod';
import {
  keyField,
  optionalTextField,
  type ProviderVariant,
  textField,
} from '../provider/configuration-variant.ts';

const fields = {
  api_key: textField({
    label: 'API key',
    type: 'text',
    sensitive: true,
    description: 'Names the account; shown on the first page of the Vonage dashboard.',
  }),
  api_secret: textField({ label: 'API secret', type: 'password', sensitive: true }),
  application_id: textField({
    label: 'Application ID',
    type: 'text',
    description: 'A Vonage application with the voice capability; the numbers are linked to it.',
  }),
  private_key: keyField({
    label: 'Private key',
    type: 'textarea',
    sensitive: true,
    description:
      "The application's private key in PEM form. Requests to Vonage are signed with it.",
  }),
  signature_secret: optionalTextField({
    label: 'Signature secret',
    type: 'password',
    sensitive: true,
    description: 'Checks that webhooks come from Vonage. Without it inbound calls are refused.',
  }),
};
const provider = z.literal('vonage').meta({ default: 'vonage' });

export const vonageConfig = z.object({
  provider,
  ...fields,
  signature_secret: fields.signature_secret.default(null),
});

export const vonageConfigPatch = z.object(fields).partial().extend({ provider });

export const vonageVariant: ProviderVariant = {
  displayName: 'Vonage',
  connectivity: 'api',
  accountIdField: 'api_key',
  fields,
  readableKeys: [],
  nestedSecrets: [],
  docsUrl: 'https://developer.vonage.com/en/voice/voice-api/overview',
};
