// Location of a value in a request, in pydantic's form: the path, with the tag of each tagged union in between, as in
// `config.twilio.auth_token`.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';

export type RequestPart = 'body' | 'path' | 'query' | 'header';

/** Schemas that check a value in place of the request's schema, by that schema. */
export const checkedBy = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/** The location of `path` in `data`, which `schema` has checked. */
export function locOf(
  schema: z.core.$ZodType,
  data: unknown,
  path: readonly PropertyKey[],
): (string | number)[] {
  const loc: (string | number)[] = [];
  let at: { schema: z.core.$ZodType | undefined; value: unknown } = { schema, value: data };
  for (const key of path) {
    const member = intoUnion(at.schema, at.value);
    if (member.tag !== undefined) loc.push(member.tag);
    loc.push(typeof key === 'number' ? key : String(key));
    at = { schema: childOf(member.schema, key), value: memberOf(at.value, key) };
  }
  return loc;
}

/** Whether the schema has an integer at `path`. */
export function isInteger(
  schema: z.core.$ZodType,
  data: unknown,
  path: readonly PropertyKey[],
): boolean {
  let at: { schema: z.core.$ZodType | undefined; value: unknown } = { schema, value: data };
  for (const key of path) {
    const member = intoUnion(at.schema, at.value);
    at = { schema: childOf(member.schema, key), value: memberOf(at.value, key) };
  }
  return unwrapped(at.schema) instanceof z.ZodNumberFormat;
}

/** The value at `key`; undefined where there is none. */
export function memberOf(parent: unknown, key: PropertyKey): unknown {
  if (Array.isArray(parent)) return parent[Number(key)];
  return isObject(parent) && Object.hasOwn(parent, key) ? parent[String(key)] : undefined;
}

/** Chooses the member of a tagged union by the value's tag. */
export function intoUnion(
  wrapped: z.core.$ZodType | undefined,
  value: unknown,
): { schema: z.core.$ZodType | undefined; tag: string | undefined } {
  const schema = unwrapped(wrapped);
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return { schema, tag: undefined };
  const { discriminator } = schema.def;
  const tag = memberOf(value, discriminator);
  const member = schema.options.find((option) => {
    const field = childOf(option, discriminator);
    return field instanceof z.ZodLiteral && field.values.has(tag as never);
  });
  return { schema: member, tag: member === undefined ? undefined : String(tag) };
}

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  for (;;) {
    if (
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodNullable ||
      inner instanceof z.ZodDefault ||
      inner instanceof z.ZodPrefault
    ) {
      inner = inner.unwrap();
    } else if (inner !== undefined && checkedBy.has(inner)) {
      return checkedBy.get(inner);
    } else if (inner instanceof z.ZodPipe) {
      inner = inner.in instanceof z.ZodTransform ? inner.out : inner.in;
    } else {
      return inner;
    }
  }
}

export function childOf(
  wrapped: z.core.$ZodType | undefined,
  key: PropertyKey,
): z.core.$ZodType | undefined {
  const schema = unwrapped(wrapped);
  if (schema instanceof z.ZodObject) return schema.shape[String(key)];
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return undefined;
}
