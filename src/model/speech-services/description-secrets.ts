// Finds keys that are written into a description. A description is stored and shown unchanged: only `api_key` and
// `api_secret`, which it names, are sealed and masked.

import { isObject } from '../../std/json.ts';

/** Fields, headers and parameters whose value is a credential. */
const CREDENTIAL_NAME =
  /^(.*[-_])?(api-?key|apikey|key|token|secret|password|passwd|pwd|auth|authorization|credentials?|signature|sig|cookie|jwt|bearer)$/i;
/** Beginnings of services' keys, and of headers with one. */
const KEY_LIKE =
  /\b(sk-[\w-]{8}|(sk|gsk|hf|xai|dg|pk)_\w{12}|xai-\w{12}|AIza[\w-]{20}|eyJ[\w-]{10,}\.)|^(Bearer|Token|Basic|Key|ApiKey)\s+[^\s{]/i;
const NAMED = /\{(key|api_key|secret|api_secret)\}/;

/** Whether a text is a key, by its beginning. */
export function isKeyLike(text: string): boolean {
  return KEY_LIKE.test(text);
}

/** Whether the value of a field, header or parameter with that name is a credential. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

export const SECRET_IN_DESCRIPTION =
  'a key must not stand in a description: put it into api_key (or a second one into api_secret) and write {key} (or {secret}) here';

/** Path of a credential that is written out; undefined if there is none. `parts`: the templates of a description. */
export function secretPlaceIn(parts: Readonly<Record<string, unknown>>): string[] | undefined {
  for (const [name, part] of Object.entries(parts)) {
    const place = placeIn(part, [name]);
    if (place !== undefined) return place;
  }
  return undefined;
}

function placeIn(value: unknown, path: string[]): string[] | undefined {
  if (typeof value === 'string') return isWrittenOut(value, path.at(-1) ?? '') ? path : undefined;
  const entries = Array.isArray(value)
    ? value.map((each, nth): [string, unknown] => [String(nth), each])
    : Object.entries(isObject(value) ? value : {});
  for (const [name, each] of entries) {
    const place = placeIn(each, [...path, name]);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Whether the text has a credential that is written out. Templates have at most 8,000 characters, and the expressions
 *  are tried once at each of them. */
function isWrittenOut(text: string, name: string): boolean {
  if (KEY_LIKE.test(text)) return true;
  return text !== '' && isCredentialName(name) && !NAMED.test(text) && !/^\{\w+\}$/.test(text);
}
