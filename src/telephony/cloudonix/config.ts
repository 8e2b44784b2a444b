// Cloudonix' credentials: schema, form and secrets. Source: specification §2.2 (variant a), contract §4.2.

import { z } from 'zod';
import {
  apiBaseUrlField,
  fieldFacts,
  optionalTextField,
  type ProviderVariant,
  providerField,
  textField,
} from '../provider/configuration-fields.ts';

const DOMAIN_SUFFIX = '.cloudonix.net';

/** The full name of a domain, for comparisons: `Acme` and `acme.cloudonix.net` are one. */
export function fullDomain(name: string): string {
  const lower = name.toLowerCase();
  return lower.includes('.') ? lower : `${lower}${DOMAIN_SUFFIX}`;
}

const fields = {
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
};
const provider = providerField('cloudonix');

export const cloudonixConfig = z.object({
  provider,
  ...fields,
  application_name: fields.application_name.default(null),
  application_key: fields.application_key.default(null),
  api_base_url: fields.api_base_url.default(null),
});
export type CloudonixConfig = z.infer<typeof cloudonixConfig>;

export const cloudonixConfigPatch = z.object(fields).partial().extend({ provider });

const TEXT_MAX = 255;
/** Settings of one trunk, our own and those that clients store there. */
const SETTINGS_MAX = 20;
const optionalText = z.string().trim().min(1).max(TEXT_MAX).optional();

/** The trunk's destination and the domain of its calls; anything else is stored unchanged. */
const trunkSettings = z
  .object({ region: optionalText, sip_domain: optionalText })
  .catchall(z.union([z.string().max(TEXT_MAX), z.number(), z.boolean(), z.null()]))
  .refine(
    (settings) => Object.keys(settings).length <= SETTINGS_MAX,
    `must have at most ${SETTINGS_MAX} keys`,
  );

export const cloudonixVariant: ProviderVariant = {
  displayName: 'Cloudonix',
  connectivity: 'sip',
  webhookKeyField: 'application_key',
  accountIdField: 'domain_id',
  fields,
  readableKeys: ['application_id'],
  nestedSecrets: [],
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'bearer_token' },
  trunkSettings,
  docsUrl: 'https://developers.cloudonix.com/',
};
