// Vobiz's credentials: what is checked and what a form shows. Source: specification §2.2 (variant e), contract §4.2.

import type { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  optionalTextField,
  textField,
} from '../provider/configuration-fields.ts';

export const vobizCredentials = credentialsOf('vobiz', {
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
});
export type VobizConfig = z.infer<typeof vobizCredentials.schema>;
