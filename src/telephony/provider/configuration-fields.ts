// The interface of a provider's config.ts: the schema of its credentials, how a form shows them, and which of them
// are secret. The list of providers is in telephony/registry/configuration.ts.

import { z } from 'zod';
import type { Random } from '../../std/random.ts';

export const CONNECTIVITY = ['api', 'sip'] as const;
export type Connectivity = (typeof CONNECTIVITY)[number];

/** An allowed value, and its label. */
export interface FieldOption<Value extends string = string> {
  value: Value;
  label: string;
}

/** One field as a form shows it. The rest (name, required) is read from the schema. */
export interface FieldFacts {
  label: string;
  type: 'text' | 'password' | 'textarea' | 'boolean' | 'select';
  /** Options of a `select`. */
  options?: readonly FieldOption[];
  /** Masked in responses; a mask in a request keeps the stored value. */
  sensitive?: true;
  description?: string;
  placeholder?: string;
}

/** Facts of a field by its schema. Their description is also that of the field in the API's description. */
class FieldRegistry extends z.core.$ZodRegistry<FieldFacts> {
  override add(schema: z.core.$ZodType, ...[facts]: [FieldFacts]): this {
    const { description } = facts;
    if (description !== undefined) z.globalRegistry.add(schema, { description });
    return super.add(schema, facts);
  }
}

export const fieldFacts = new FieldRegistry();

/** Longest name, id or token. Providers' own are below 200 characters. */
const TEXT_MAX = 500;
/** A 4096-bit RSA key in PEM is 3,300 characters. */
const KEY_MAX = 8_192;

/** The field that says which provider a configuration is for. */
export function providerField<const Name extends string>(name: Name) {
  return z
    .literal(name)
    .meta({ default: name, description: 'Decides which other fields there are.' });
}

/** A required single-line value. White space around it, as left by copy and paste, is removed. */
export function textField(facts: FieldFacts) {
  return z.string().trim().min(1).max(TEXT_MAX).register(fieldFacts, facts);
}

/** A value that may be absent, null or empty. All three mean "none". */
export function optionalTextField(facts: FieldFacts) {
  return z.string().trim().max(TEXT_MAX).nullable().register(fieldFacts, facts);
}

/** One of several values. */
export function selectField<const Value extends string>(
  options: readonly FieldOption<Value>[],
  facts: Omit<FieldFacts, 'type' | 'options'>,
) {
  const values = options.map(({ value }) => value);
  return z.enum(values).register(fieldFacts, { ...facts, type: 'select', options });
}

/** A required value of several lines. */
export function keyField(facts: FieldFacts) {
  return z.string().trim().min(1).max(KEY_MAX).register(fieldFacts, facts);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether the URL is HTTPS, or plain HTTP to this machine: requests carry the account's secret. */
function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return false;
  }
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

/** The URL of the provider's REST interface, for accounts that need another one than `placeholder`, which null stands
 *  for. Name the field in `addressFields` and as `secretDestination`. */
export function apiBaseUrlField({
  description,
  placeholder,
}: {
  description: string;
  placeholder: string;
}) {
  return z
    .string()
    .trim()
    .max(TEXT_MAX)
    .refine(isSafeBaseUrl, 'must be an https URL, or an http URL of this machine')
    .nullable()
    .register(fieldFacts, { label: 'API address', type: 'text', description, placeholder });
}

export interface ProviderVariant {
  displayName: string;
  connectivity: Connectivity;
  /** The field that identifies the account in webhooks; null if webhooks have none. */
  /** The field that verifies webhooks, where it may be missing. */
  webhookKeyField?: string;
  accountIdField: string | null;
  /** Form fields in the order of the form, by name. */
  fields: Readonly<Record<string, z.ZodType>>;
  /** Keys that the gateway stores beside the fields and that clients may see. */
  readableKeys: readonly string[];
  /** Keys that the gateway generates when a configuration is first stored. */
  mintKeys?: (random: Random) => Record<string, string>;
  /** Set where calls can be placed without a number of the configuration as the caller. */
  callerIdOptional?: true;
  /** Schema of a trunk's settings; absent where the provider has no trunks. */
  trunkSettings?: z.ZodType<Record<string, unknown>>;
  /** Secrets below the top level, as dotted paths. */
  nestedSecrets: readonly string[];
  /** Fields that hold an address to which the gateway connects. */
  addressFields?: readonly string[];
  /** A field that determines where `secret` is sent. To change it, the secret must be sent again in clear: otherwise a
   *  user without the secret could have it sent to a host of theirs. */
  secretDestination?: { field: string; secret: string };
  docsUrl: string | null;
}
