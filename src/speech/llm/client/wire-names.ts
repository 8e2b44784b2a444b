// Names of functions and of their arguments in the form that a service takes. The author's own have any letters and any
// length (edges have those of their labels), and models have called functions that there are not.

import { createHash } from 'node:crypto';
import { isObject } from '../../../std/json.ts';

/** The names that a service takes. None is made of other characters, or longer, than what `wireName` makes. */
export type NameRule = RegExp;

/** Of functions, in all services: Google's models take no digit first, whichever server passes the names on. */
export const FUNCTION_NAME: NameRule = /^[A-Za-z_][\w-]{0,63}$/;

/** Sixteen million suffixes: enough to distinguish the names of one request. */
const SUFFIX_CHARACTERS = 6;
const BEGIN_CHARACTERS_MAX = 50;

/** The name itself if the service takes it. Any other is made of its letters and a suffix that depends on the name alone. */
export function wireName(name: string, rule: NameRule): string {
  if (rule.test(name)) return name;
  const begin = name.replace(/[^\w-]/g, '_').slice(0, BEGIN_CHARACTERS_MAX);
  const suffix = createHash('sha256').update(name).digest('hex').slice(0, SUFFIX_CHARACTERS);
  return `_${begin}_${suffix}`;
}

/** The author's names by those that the service was given. */
export function ownNames(names: readonly string[], rule: NameRule): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [wireName(name, rule), name]));
}

/** A schema of arguments whose own names the service takes. */
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

/** Arguments under the author's names. */
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
