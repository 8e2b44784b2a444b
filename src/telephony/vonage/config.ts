// Vonage's credentials: what is checked and what a form shows. Source: specification §2.2 (variant f), contract §4.2.

import type { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  keyField,
  optionalTextField,
  textField,
} from '../provider/configuration-fields.ts';
import { isPrivateKey } from './tokens.ts';

/** Mask that a client sends back for a stored key. */
const MASK = /^\*{4,}/;

export const vonageCredentials = credentialsOf('vonage', {
  api_key: textField({
    label: 'API key',
    type: 'text',
    sensitive: true,
    description: 'Names the account; shown on the first page of the Vonage dashboard.',
  }),
  api_secret: textField({
    label: 'API secret',
    type: 'password',
    sensitive: true,
    description: 'Beside the API key. Numbers and the application are read and linked with it.',
  }),
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
  }).refine((key) => MASK.test(key) || isPrivateKey(key), 'must be an RSA private key in PEM form'),
  signature_secret: optionalTextField({
    label: 'Signature secret',
    type: 'password',
    sensitive: true,
    description:
      'In the dashboard under API settings. Checks that webhooks come from Vonage; no call can be connected without it.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only for an account bound to a region: that region's address of the Voice API.",
    placeholder: 'https://api.nexmo.com',
  }),
});
export type VonageConfig = z.infer<typeof vonageCredentials.schema>;
