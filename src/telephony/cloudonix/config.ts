// Cloudonix' credentials: what is checked and what a form shows. Source: specification §2.2 (variant a), contract §4.2.

import { z } from 'zod';
import {
  apiBaseUrlField,
  credentialsOf,
  fieldFacts,
  optionalTextField,
  textField,
} from '../provider/configuration-fields.ts';

const DOMAIN_SUFFIX = '.cloudonix.net';

/** The full name of a domain, for comparisons: `Acme` and `acme.cloudonix.net` are one. */
export function fullDomain(name: string): string {
  const lower = name.toLowerCase();
  return lower.includes('.') ? lower : `${lower}${DOMAIN_SUFFIX}`;
}

export const cloudonixCredentials = credentialsOf('cloudonix', {
  bearer_token: textField({
    label: 'API token',
    type: 'password',
    sensitive: true,
    description: 'A key of the domain, made in the Cloudonix cockpit.',
  }),
  domain_id: z.string().trim().min(1).max(255).overwrite(fullDomain).register(fieldFacts, {
    label: 'Domain',
    type: 'text',
    description: 'The domain of the account; a short name is completed.',
    placeholder: 'acme.cloudonix.net',
  }),
  application_name: optionalTextField({
    label: 'Voice application',
    type: 'text',
    description:
      'The name of the application at Cloudonix that receives inbound calls. Left empty, one is made when this is saved.',
  }),
  application_key: optionalTextField({
    label: 'Key of the voice application',
    type: 'password',
    sensitive: true,
    description:
      'Inbound calls are accepted with this key alone. It is read from Cloudonix when this is saved; enter it only if it cannot be read.',
  }),
  api_base_url: apiBaseUrlField({
    description: 'Only for a Cloudonix platform of your own: the address of its REST interface.',
    placeholder: 'https://api.cloudonix.io',
  }),
});
export type CloudonixConfig = z.infer<typeof cloudonixCredentials.schema>;

const TEXT_MAX = 255;
/** Settings of one trunk, our own and those that clients store there. */
const SETTINGS_MAX = 20;
const optionalText = z.string().trim().min(1).max(TEXT_MAX).optional();

/** The trunk's destination and the domain of its calls; anything else is stored unchanged. */
export const cloudonixTrunkSettings = z
  .object({ region: optionalText, sip_domain: optionalText })
  .catchall(z.union([z.string().max(TEXT_MAX), z.number(), z.boolean(), z.null()]))
  .refine(
    (settings) => Object.keys(settings).length <= SETTINGS_MAX,
    `must have at most ${SETTINGS_MAX} keys`,
  );
