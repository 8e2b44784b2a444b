// Validation errors in pydantic 2's form: the zod issues of a request become the items of a 422 body. Secrets are never
// echoed. Unknown fields of a body are ignored, but for those that resemble a missing one. Source: contract §1,
// specification §2.9.

import { z } from 'zod';
import { configuredProviderName } from '../../model/provider.ts';
import { isObject } from '../../std/json.ts';
import { isNear, NAME_LENGTH_MIN } from '../../std/text/near-name.ts';
import { secretFieldsOf } from '../../telephony/registry/configuration.ts';
import {
  childOf,
  intoUnion,
  isInteger,
  locOf,
  memberOf,
  type RequestPart,
} from './error-location.ts';
import type { ValidationItem } from './error-schema.ts';
import { type PydanticFault, pydanticFault } from './pydantic-errors.ts';

/** Items in one reply, and items of a list that are searched; more do not help, and multiply a hostile body. */
const ITEMS_MAX = 100;
/** Levels of a wrong value that are echoed. */
const ECHO_DEPTH_MAX = 6;
const ECHO_MEMBERS_MAX = 50;
const ECHO_CHARACTERS_MAX = 500;
const UNREADABLE = 'an object has a length that is no number';
const SEND_JSON = 'Send JSON, with Content-Type: application/json';
/** Fields by other names that clients give them. */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['phone', ['phone_number', 'address']],
  ['number', ['phone_number', 'address']],
  ['to', ['phone_number']],
  ['phone_number', ['address']],
  ['definition', ['workflow_definition']],
]);
/** Levels of a body that are searched, and members of a level. Bodies with more are stored JSON, not fields. */
const DEPTH_MAX = 6;
const FIELDS_MAX = 200;

/** A request that does not fit its schema. error-reply.ts answers 422. */
export class RequestInvalid extends Error {
  override readonly name = 'RequestInvalid';
  readonly items: readonly ValidationItem[];

  constructor(items: readonly ValidationItem[]) {
    super('The request is not valid');
    this.items = items;
  }
}

/** Error of a check that no schema can make. `loc` begins with the part of the request. */
export function valueError(loc: (string | number)[], message: string, input: unknown) {
  return new RequestInvalid([
    {
      type: 'value_error',
      loc,
      msg: `Value error, ${message}`,
      input: echo(input),
      ctx: { error: message },
    },
  ]);
}

export function missingError(loc: (string | number)[]): RequestInvalid {
  return new RequestInvalid([{ type: 'missing', loc, msg: 'Field required', input: null }]);
}

/** Error of a body that is not JSON. `at`: offset of the first wrong character, as far as it is known. */
export function jsonError(reason: string, at: number): RequestInvalid {
  return new RequestInvalid([
    {
      type: 'json_invalid',
      loc: ['body', at],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: reason },
    },
  ]);
}

/** Parses a value; undefined if it makes a check throw. The limit of a list or a text compares `length` of an object
 *  too, and an object whose `toString` is no function compares with nothing. */
export function readValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> | undefined {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Fastify's validator for one part of a request. It returns the schema's output. */
export function validatorCompiler({
  schema,
  httpPart,
}: {
  schema: z.ZodType;
  httpPart?: string;
}): (data: unknown) => { value: unknown } | { error: RequestInvalid } {
  const part = requestPart(httpPart);
  return (data) => {
    const result = readValue(schema, data);
    if (result === undefined) return { error: valueError([part], UNREADABLE, null) };
    const misspelled = part === 'body' ? misspelledField(schema, data) : undefined;
    const items = misspelled === undefined ? [] : [misspelledItem(misspelled)];
    if (!result.success) {
      // A required field that is missing may be the misspelled one.
      const faults = validationItems(result.error.issues, { schema, data, part });
      return { error: new RequestInvalid([...faults, ...items]) };
    }
    return items.length === 0 ? { value: result.data } : { error: new RequestInvalid(items) };
  };
}

function misspelledItem({ path, meant }: { path: (string | number)[]; meant: string }) {
  return {
    type: 'extra_forbidden',
    loc: ['body', ...path],
    msg: `Unknown field: did you mean ${meant}?`,
    input: null,
    ctx: { meant },
  };
}

function requestPart(httpPart: string | undefined): RequestPart {
  if (httpPart === 'params') return 'path';
  if (httpPart === 'querystring') return 'query';
  return httpPart === 'headers' ? 'header' : 'body';
}

interface Checked {
  schema: z.ZodType;
  data: unknown;
  part: RequestPart;
}

/** The items of issues. `prefix`: where `data` is in the request, if it is not the whole part. */
export function validationItems(
  issues: readonly z.core.$ZodIssue[],
  { schema, data, part }: Checked,
  prefix: (string | number)[] = [],
): ValidationItem[] {
  return firstFaults(issues, data, (path) => isInteger(schema, data, path)).map(
    ({ type, path, msg, input, ctx }) => ({
      type,
      loc: [part, ...prefix, ...locOf(schema, data, path)],
      msg:
        part === 'body' && path.length === 0 && typeof data === 'string'
          ? `${msg}. ${SEND_JSON}`
          : msg,
      // A missing field shows the whole object around it.
      input: isSecretPath(type === 'missing' ? path.slice(0, -1) : path)
        ? hidden(input)
        : echo(input),
      ...(ctx === undefined ? {} : { ctx }),
    }),
  );
}

/** The faults of issues, at most as many as are sent: wording one takes microseconds, and a body can have thousands. */
function firstFaults(
  issues: readonly z.core.$ZodIssue[],
  data: unknown,
  isInteger: (path: readonly PropertyKey[]) => boolean,
): PydanticFault[] {
  const faults: PydanticFault[] = [];
  for (const issue of issues) {
    if (faults.length >= ITEMS_MAX) break;
    faults.push(...pydanticFault(issue, data, isInteger));
  }
  return faults.slice(0, ITEMS_MAX);
}

const SECRETS = new Set([
  ...configuredProviderName.options.flatMap((provider) =>
    secretFieldsOf(provider).map((path) => path.split('.').at(-1) ?? path),
  ),
  'api_key',
  'password',
  'secret',
  'token',
  'authorization',
  'credential_data',
  'header_value',
]);

function isSecretName(name: string): boolean {
  return SECRETS.has(name.toLowerCase()) || /([_-]key|[_-]token|[_-]secret|password)$/i.test(name);
}

function isSecretPath(path: readonly PropertyKey[]): boolean {
  return path.some((key) => typeof key === 'string' && isSecretName(key));
}

function hidden(value: unknown): unknown {
  return value === null || value === undefined ? null : '***';
}

/** A copy of a wrong value, small enough to send back and without secrets. */
function echo(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.slice(0, ECHO_CHARACTERS_MAX);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= ECHO_DEPTH_MAX) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, ECHO_MEMBERS_MAX).map((each) => echo(each, depth + 1));
  }
  if (!isObject(value)) return null;
  const entries = Object.entries(value).slice(0, ECHO_MEMBERS_MAX);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, isSecretName(key) ? hidden(each) : echo(each, depth + 1)]),
  );
}

interface Misspelling {
  path: (string | number)[];
  meant: string;
}

/** The first misnamed field in `data`, whether or not `data` fits `schema`: an unknown field that resembles a missing
 *  one, such as `inital_context` without `initial_context`, or is another name of one, such as `phone` of
 *  `phone_number`. */
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
