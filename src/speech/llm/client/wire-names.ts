// Names of functions and arguments in the form that a service accepts. The author's names may have any characters and
// length (edges use their labels), and models sometimes call functions that do not exist.

import { createHash } from 'node:crypto';
import { isObject } from '../../../std/json.ts';

/** Names that a service accepts. No rule is stricter in characters or length than the output of `wireName`. */
export type NameRule = RegExp;

/** Function names for all services: Google's models accept no digit first, whichever server passes the names on. */
export const FUNCTION_NAME: NameRule = /^[A-Za-z_][\w-]{0,63}$/;

/** Characters of the suffix: 16 million values, enough to distinguish the names of one request. */
const SUFFIX_CHARACTERS = 6;
const BEGIN_CHARACTERS_MAX = 50;

/** Returns the name itself if the service accepts it, else its letters and a suffix that depends on the name alone. */
export function wireName(name: string, rule: NameRule): string {
  if (rule.test(name)) return name;
  const begin = name.replace(/[^\w-]/g, '_').slice(0, BEGIN_CHARACTERS_MAX);
  const suffix = createHash('sha256').update(name).digest('hex').slice(0, SUFFIX_CHARACTERS);
  return `_${begin}_${suffix}`;
}

/** Maps the names sent to the service to the author's names. */
export function ownNames(names: readonly string[], rule: NameRule): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [wireName(name, rule), name]));
}

/** Returns the schema with argument names that the service accepts. */
export function wireSchema(
  schema: Record<string, unknown>,
  rule: NameRule,
): Record<string, unknown> {
  const { properties, required } = schema;
  if (!isObject(properties) || Object.keys(properties).every((name) => rule.test(name))) {
    return schema;
  }
  const renamed = Object.entries(properties).map(([name, each]) => [wireName(name, rule), each]);
  return {
    ...schema,
    properties: Object.fromEntries(renamed),
    ...(Array.isArray(required) && {
      required: required.map((name) => wireName(String(name), rule)),
    }),
  };
}

/** Returns the arguments under the author's names. */
export function ownArguments(
  given: Record<string, unknown>,
  schema: Record<string, unknown> | undefined,
  rule: NameRule,
): Record<string, unknown> {
  const properties = schema?.['properties'];
  if (!isObject(properties)) return given;
  const own = ownNames(Object.keys(properties), rule);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [own.get(name) ?? name, value]),
  );
}
