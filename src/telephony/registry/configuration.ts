// The `config` object of a telephony configuration: the union of all providers' variants, the facts for forms, and the
// masking of secrets. Source: specification §2.2, contract §2 and §4.

import { z } from 'zod';
import type { ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import { isObject } from '../../std/json.ts';
import type { Random } from '../../std/random.ts';
import { type FieldFacts, type FieldOption, factsOf } from '../provider/configuration-fields.ts';
import type { Connectivity, ProviderDefinition } from '../provider/provider-definition.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { definitionOf, definitions } from './registry.ts';

/** Schema key for forms that are accepted in addition to those of the check, for the API's description. */
export const OTHER_FORMS = 'x-other-forms';

/** The variant of each value of `provider`, for the API's description. */
function discriminator(kind: 'Request' | 'Update') {
  const mapping = Object.fromEntries(
    definitions.map(({ name, displayName, schemaName = displayName }) => [
      name,
      `#/components/schemas/${schemaName}Configuration${kind}`,
    ]),
  );
  return { discriminator: { propertyName: 'provider', mapping } };
}

const [first, ...others] = definitions;

/** A whole configuration: defaults filled in, unknown keys (`from_numbers` among them) dropped. */
export const configurationSchema = z
  .discriminatedUnion('provider', [
    first.requestSchema(),
    ...others.map((each) => each.requestSchema()),
  ])
  .meta(discriminator('Request'));

/** A change to a configuration. A field that is left out keeps its stored value; null clears an
 *  optional one. Secrets may be masks: see `restoreMasked`. */
export const configurationPatchSchema = z
  .discriminatedUnion('provider', [
    first.updateSchema(),
    ...others.map((each) => each.updateSchema()),
  ])
  .meta(discriminator('Update'));
export type ProviderConfigurationPatch = z.infer<typeof configurationPatchSchema>;

/** One form field. Wire shape of the contract (§4.1). */
export interface ProviderField {
  name: string;
  label: string;
  type: FieldFacts['type'];
  required: boolean;
  sensitive: boolean;
  description: string | null;
  placeholder: string | null;
  options: FieldOption[] | null;
  visible_when: null;
  section: null;
}

/** One provider's form. Wire shape of the contract (§4.1). */
export interface ProviderMetadata {
  provider: ConfiguredProviderName;
  display_name: string;
  connectivity: Connectivity;
  fields: ProviderField[];
  docs_url: string | null;
}

/** All providers' forms, sorted by name. */
export const providerMetadata: readonly ProviderMetadata[] = definitions.map(
  ({ name: provider, displayName, connectivity, fields, docsUrl }) => ({
    provider,
    display_name: displayName,
    connectivity,
    fields: Object.entries(fields).flatMap(([name, field]) => formField(name, field) ?? []),
    docs_url: docsUrl,
  }),
);

/** Undefined for a field that no form shows. */
function formField(name: string, field: z.ZodType): ProviderField | undefined {
  const facts = factsOf(field);
  return (
    facts && {
      name,
      label: facts.label,
      type: facts.type,
      required: !field.safeParse(undefined).success,
      sensitive: facts.sensitive ?? false,
      description: facts.description ?? null,
      placeholder: facts.placeholder ?? null,
      options: facts.options === undefined ? null : [...facts.options],
      visible_when: null,
      section: null,
    }
  );
}

const secretFields = new Map<ConfiguredProviderName, readonly string[]>(
  providerMetadata.map(({ provider, fields }) => [
    provider,
    [
      ...fields.filter(({ sensitive }) => sensitive).map(({ name }) => name),
      ...(definitionOf(provider).nestedSecrets ?? []),
    ],
  ]),
);

/** The fields that are masked in responses, nested ones as dotted paths. */
export function secretFieldsOf(provider: ConfiguredProviderName): readonly string[] {
  return secretFields.get(provider) ?? [];
}

/** How calls of the provider come; `api` for one without a configuration. */
export function connectivityOf(provider: ProviderName): Connectivity {
  return definitions.find(({ name }) => name === provider)?.connectivity ?? 'api';
}

/** Values that the gateway stores in addition when a configuration is created. */
export function mintCredentials(
  provider: ConfiguredProviderName,
  random: Random,
): ProviderCredentials {
  return definitionOf(provider).mintKeys?.(random) ?? {};
}

/** Whether calls require a number of the configuration as the caller. Contract §4.1. */
export function needsCallerId(provider: ProviderName): boolean {
  const definition: ProviderDefinition | undefined = definitions.find(
    ({ name }) => name === provider,
  );
  return definition?.callerIdOptional !== true;
}

/** The schema of trunk settings; undefined where the provider has no trunks. */
export function trunkSettingsOf(
  provider: ConfiguredProviderName,
): z.ZodType<Record<string, unknown>> | undefined {
  return definitionOf(provider).trunkSettings;
}

/** The account's identifier in webhooks, or null if they have none or it is unknown. */
export function accountIdOf(
  provider: ConfiguredProviderName,
  credentials: ProviderCredentials,
): string | null {
  const field = definitionOf(provider).accountIdField;
  const value = field === null ? null : credentials[field];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The fields that verify webhooks, of providers that have one beside their credentials. */
export const webhookKeys: readonly { provider: ConfiguredProviderName; field: string }[] =
  providerMetadata
    .map(({ provider }) => ({ provider, field: definitionOf(provider).webhookKeyField ?? '' }))
    .filter(({ field }) => field !== '');

/** The field that verifies webhooks, if the credentials lack it. */
export function missingWebhookKey(
  provider: ConfiguredProviderName,
  credentials: ProviderCredentials,
): string | undefined {
  const field = definitionOf(provider).webhookKeyField;
  return field !== undefined && !credentials[field] ? field : undefined;
}

/** Addresses of an account to which the gateway connects, by field. */
export function addressesOf(
  provider: ConfiguredProviderName,
  credentials: ProviderCredentials,
): { field: string; url: string }[] {
  return definitionOf(provider).addressFields.flatMap((field) => {
    const url = credentials[field];
    return typeof url === 'string' && url !== '' ? [{ field, url }] : [];
  });
}

/** Characters at the end of a secret that its mask shows. */
const MASK_SHOWN = 4;

/** An asterisk for each character except the last four; all asterisks if there are at most four. Contract §2. */
export function maskSecret(secret: string): string {
  const characters = [...secret];
  const hidden =
    characters.length > MASK_SHOWN ? characters.length - MASK_SHOWN : characters.length;
  return '*'.repeat(hidden) + characters.slice(hidden).join('');
}

/** Stored credentials as clients see them: known keys only, secrets masked. A copy. */
export function maskCredentials(
  provider: ConfiguredProviderName,
  credentials: ProviderCredentials,
): ProviderCredentials {
  const { fields, readableKeys = [] } = definitionOf(provider);
  const visible: ProviderCredentials = {};
  for (const key of [...Object.keys(fields), ...readableKeys]) {
    if (key in credentials) visible[key] = structuredClone(credentials[key]);
  }
  for (const path of secretFieldsOf(provider)) {
    replaceAt(visible, path, (value) => maskSecret(value));
  }
  return visible;
}

/** `incoming` with every secret that equals the mask of its stored value replaced by that value. A copy;
 *  anything else is a new secret. */
export function restoreMasked(
  provider: ConfiguredProviderName,
  incoming: ProviderCredentials,
  stored: ProviderCredentials,
): ProviderCredentials {
  const restored = structuredClone(incoming);
  for (const path of secretFieldsOf(provider)) {
    const secret = valueAt(stored, path);
    if (typeof secret !== 'string') continue;
    replaceAt(restored, path, (value) => (value === maskSecret(secret) ? secret : value));
  }
  return restored;
}

/** Form of a mask; no provider's secret has it. */
const MASK = /^\*{4,}.{0,4}$/s;

/** The first secret that is a mask of another secret than the stored one: the client read it before a change, or as
 *  another user. */
export function staleMask(
  provider: ConfiguredProviderName,
  incoming: ProviderCredentials,
  stored: ProviderCredentials,
): string | undefined {
  return secretFieldsOf(provider).find((path) => {
    const value = valueAt(incoming, path);
    const known = valueAt(stored, path);
    if (typeof value !== 'string' || !MASK.test(value)) return false;
    return typeof known !== 'string' || value !== maskSecret(known);
  });
}

/** The field that a change points elsewhere without sending the secret that would go there; undefined for a safe
 *  change. */
export function misdirected(
  provider: ConfiguredProviderName,
  incoming: ProviderCredentials,
  stored: ProviderCredentials,
): { field: string; secret: string } | undefined {
  const destination = definitionOf(provider).secretDestination;
  if (destination === undefined) return undefined;
  const { field, secret } = destination;
  const moved = field in incoming && (incoming[field] ?? null) !== (stored[field] ?? null);
  const known = incoming[secret];
  const given = typeof known === 'string' && known !== maskSecret(String(stored[secret]));
  return moved && !given ? destination : undefined;
}

function valueAt(root: unknown, path: string): unknown {
  let value = root;
  for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

/** Replaces the string at `path`, if there is one. */
function replaceAt(
  root: ProviderCredentials,
  path: string,
  replace: (value: string) => string,
): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.length === 0 ? root : valueAt(root, keys.join('.'));
  if (!isObject(parent)) return;
  const value = parent[last];
  if (typeof value === 'string') parent[last] = replace(value);
}
