// The values of a form by the gateway's description of its fields: its initial values, and what it sends. Pure.

export interface SpecField {
  name: string;
  label: string;
  /** `text`, `password`, `textarea`, `boolean` or `select`; anything else is a text. */
  type: string;
  required: boolean;
  sensitive: boolean;
  description: string | null;
  placeholder: string | null;
  options: readonly { value: string; label: string }[] | null;
  /** Values of other fields with which this one is shown; null or left out: always. */
  visible_when?: Readonly<Record<string, readonly unknown[]>> | null;
}

export type FormValues = Readonly<Record<string, string | boolean>>;

export function isVisible({ visible_when: condition }: SpecField, values: FormValues): boolean {
  return Object.entries(condition ?? {}).every(([name, wanted]) => wanted.includes(values[name]));
}

/** What the form begins with, of stored values with masked secrets: secrets begin empty. */
export function formValues(
  fields: readonly SpecField[],
  stored: Readonly<Record<string, unknown>> = {},
): FormValues {
  return Object.fromEntries(
    fields.map((field) => [field.name, initialValue(field, stored[field.name])]),
  );
}

function initialValue({ type, sensitive, options }: SpecField, value: unknown): string | boolean {
  if (type === 'boolean') return value === true;
  if (sensitive) return '';
  if (typeof value === 'string') return value;
  return type === 'select' ? (options?.[0]?.value ?? '') : '';
}

/** Names of the secrets that are stored. */
export function storedSecrets(
  fields: readonly SpecField[],
  stored: Readonly<Record<string, unknown>>,
): ReadonlySet<string> {
  const isStored = ({ name, sensitive }: SpecField) => sensitive && Boolean(stored[name]);
  return new Set(fields.filter(isStored).map(({ name }) => name));
}

/** What is sent: without what no condition shows, without empty secrets, and with empty texts only where there is a
 *  stored value to replace. */
export function sentValues(
  fields: readonly SpecField[],
  values: FormValues,
  stored: Readonly<Record<string, unknown>> = {},
): Record<string, string | boolean> {
  const sent: Record<string, string | boolean> = {};
  for (const field of fields.filter((each) => isVisible(each, values))) {
    const value = values[field.name];
    if (value === undefined) continue;
    if (value === '' && (field.sensitive || !stored[field.name])) continue;
    sent[field.name] = value;
  }
  return sent;
}

/** The errors of an object in the request's body by its fields: of `config.ari.app_name` under `config` and `ari`, the
 *  one of `app_name`. */
export function errorsBelow(
  errors: Readonly<Record<string, string>>,
  ...path: readonly string[]
): Record<string, string> {
  const below: Record<string, string> = {};
  for (const [name, text] of Object.entries(errors)) {
    const rest = name.split('.');
    for (const part of path) if (rest[0] === part) rest.shift();
    if (rest.length === 1 && rest[0] !== undefined) below[rest[0]] ??= text;
  }
  return below;
}
