// Plivo's credentials: what is checked and what a form shows. Source: specification §2.2 (variant b), contract §4.2.

import type { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  optionalTextField,
  switchField,
  textField,
} from '../provider/configuration-fields.ts';

export const plivoCredentials = credentialsOf('plivo', {
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
  amd_enabled: switchField({
    label: 'Detect answering machines',
    description: 'Plivo listens beside the call and reports whether a machine answered.',
  }),
  api_base_url: apiBaseUrlField({
    description: "Only where Plivo's REST interface is reached by another address.",
    placeholder: 'https://api.plivo.com',
  }),
});
export type PlivoConfig = z.infer<typeof plivoCredentials.schema>;
