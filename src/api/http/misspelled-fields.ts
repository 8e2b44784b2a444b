// Misnamed fields: unknown fields of a body that resemble a missing one, such as `inital_context` without
// `initial_context`, or are another name of one, such as `phone` of `phone_number`. Other unknown fields are ignored
// (contract §1).

import { z } from 'zod';
import { isNear, NAME_LENGTH_MIN } from '../../std/text/near-name.ts';
import { childOf, intoUnion, memberOf } from './error-location.ts';

interface Misspelling {
  path: (string | number)[];
  meant: string;
}

/** Fields by other names that clients give them. */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['phone', ['phone_number', 'address']],
  ['number', ['phone_number', 'address']],
  ['to', ['phone_number']],
  ['phone_number', ['address']],
  ['definition', ['workflow_definition']],
]);
/** Levels of a body that are searched; the next constants limit members of a level and items of a list. Bodies with
 *  more are stored JSON, not fields. */
const DEPTH_MAX = 6;
const FIELDS_MAX = 200;
const ITEMS_MAX = 100;

/** The first misnamed field in `data`, whether or not `data` fits `schema`. */
export function misspelledField(
  schema: z.core.$ZodType,
  data: unknown,
  path: (string | number)[] = [],
): Misspelling | undefined {
  if (path.length >= DEPTH_MAX) return undefined;
  const { schema: inner } = intoUnion(schema, data);
  if (inner instanceof z.ZodArray && Array.isArray(data)) {
    return firstOf(
      data.slice(0, ITEMS_MAX).map((each, i) => [i, each, inner.element]),
      path,
    );
  }
  if (!(inner instanceof z.ZodObject) || inner.def.catchall !== undefined) return undefined;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined;
  const sent = Object.keys(data).slice(0, FIELDS_MAX);
  const known = Object.keys(inner.shape);
  const missing = known.filter((name) => !sent.includes(name));
  for (const name of sent.filter((each) => !known.includes(each))) {
    const meant =
      missing.find((each) => isNear(name, each)) ??
      missing.find((each) => OTHER_NAMES.get(name)?.includes(each)) ??
      missing.find((each) => isWordOf(name, each) && isRequired(inner, each));
    if (meant !== undefined) return { path: [...path, name], meant };
  }
  const members = known.map((name) => [name, memberOf(data, name), childOf(inner, name)] as const);
  return firstOf(members, path);
}

function firstOf(
  members: readonly (readonly [string | number, unknown, z.core.$ZodType | undefined])[],
  path: (string | number)[],
): Misspelling | undefined {
  for (const [key, value, schema] of members) {
    if (schema === undefined || typeof value !== 'object' || value === null) continue;
    const found = misspelledField(schema, value, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the name is the first or last words of the known one, such as `source` of `source_id`. Optional fields are
 *  not compared like this: a client may have a field of its own by such a name. */
function isWordOf(name: string, known: string): boolean {
  return (
    name.length >= NAME_LENGTH_MIN && (known.startsWith(`${name}_`) || known.endsWith(`_${name}`))
  );
}

function isRequired(schema: z.ZodObject, name: string): boolean {
  return schema.shape[name]?._zod.optin !== 'optional';
}
