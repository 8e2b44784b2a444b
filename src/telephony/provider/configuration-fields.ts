// For a provider's config.ts: the fields of its credentials, with their defaults and how a form shows them, and the two
// schemas that are made of them, of a whole configuration and of a change. What else is declared of a provider:
// provider-definition.ts.

import { z } from 'zod';
import type { ConfiguredProviderName } from '../../model/provider.ts';

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

/** Fields by name, in the order of the form. A field that may be left out has a default. */
type Fields = Readonly<Record<string, z.ZodType>>;

type WithoutDefault<Field> = Field extends z.ZodDefault<infer Inner> ? Inner : Field;

/** The fields of a change: each may be left out, and then keeps its stored value. */
type PatchFields<All extends Fields> = {
  [Name in keyof All]: z.ZodOptional<WithoutDefault<All[Name]>>;
};

/** The credentials of one provider. */
export function credentialsOf<const Name extends ConfiguredProviderName, const All extends Fields>(
  name: Name,
  fields: All,
) {
  const provider = z
    .literal(name)
    .meta({ default: name, description: 'Decides which other fields there are.' });
  return {
    name,
    fields,
    /** A whole configuration: defaults filled in, unknown keys dropped. */
    schema: z.object({ provider, ...fields }),
    /** A change to one. */
    patch: z.object({ ...patchFields(fields), provider }),
  };
}

function patchFields<All extends Fields>(fields: All): PatchFields<All> {
  const changed = Object.entries(fields).map(([name, field]) => [
    name,
    z.optional(withoutDefault(field)),
  ]);
  // Every field under its own name, which `fromEntries` forgets.
  return Object.fromEntries(changed) as PatchFields<All>;
}

function withoutDefault(field: z.ZodType): z.core.$ZodType {
  return field instanceof z.ZodDefault ? field.unwrap() : field;
}

/** Facts of a field; undefined for one that no form shows. */
export function factsOf(field: z.ZodType): FieldFacts | undefined {
  return fieldFacts.get(withoutDefault(field));
}

/** A required single-line value. White space around it, as left by copy and paste, is removed. */
export function textField(facts: FieldFacts) {
  return z.string().trim().min(1).max(TEXT_MAX).register(fieldFacts, facts);
}

/** A value that may be absent, null or empty. All three mean "none". */
export function optionalTextField(facts: FieldFacts) {
  return z.string().trim().max(TEXT_MAX).nullable().register(fieldFacts, facts).default(null);
}

/** A setting that is on or off. Default: off. */
export function switchField(facts: Omit<FieldFacts, 'type'>) {
  return z
    .boolean()
    .register(fieldFacts, { ...facts, type: 'boolean' })
    .default(false);
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
    .register(fieldFacts, { label: 'API address', type: 'text', description, placeholder })
    .default(null);
}
