// Telnyx' credentials: what is checked and what a form shows. Source: specification §2.2 (variant c), contract §4.2.

import type { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  optionalTextField,
  switchField,
  textField,
} from '../provider/configuration-fields.ts';

export const telnyxCredentials = credentialsOf('telnyx', {
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
  amd_enabled: switchField({
    label: 'Detect answering machines',
    description: 'Telnyx listens beside the call and reports who answered. It charges for that.',
  }),
  api_base_url: apiBaseUrlField({
    description: 'Only where Telnyx is reached by another address than its own.',
    placeholder: 'https://api.telnyx.com',
  }),
});
export type TelnyxConfig = z.infer<typeof telnyxCredentials.schema>;
