// Converts one zod issue to pydantic 2's error type, message and context. The path stays zod's. Source: contract §1;
// docs.pydantic.dev, "Validation errors".

import type { z } from 'zod';
import { isObject } from '../../std/json.ts';
import { memberOf } from './error-location.ts';

export interface PydanticFault {
  type: string;
  path: readonly PropertyKey[];
  msg: string;
  input: unknown;
  ctx?: Record<string, unknown>;
}

/** Faults of one issue; a reply has no more. */
const FAULTS_MAX = 100;

type Issue = z.core.$ZodIssue;
type IssueOf<Code extends Issue['code']> = Extract<Issue, { code: Code }>;

/** The faults of an issue. Untagged unions give one for each branch. `isInteger` returns whether the schema has an
 *  integer at a path, which an issue does not contain. */
export function pydanticFault(
  issue: Issue,
  data: unknown,
  isInteger: (path: readonly PropertyKey[]) => boolean,
): PydanticFault[] {
  const { path } = issue;
  if (issue.code === 'invalid_union') return unionFaults(issue, data, isInteger);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, FAULTS_MAX).map((key) => ({
      type: 'extra_forbidden',
      path: [...path, key],
      msg: 'Extra inputs are not permitted',
      input: memberOf(at(data, path), key),
    }));
  }
  if (isMissing(data, path)) return [missing(data, path)];
  const input = at(data, path);
  if (issue.code === 'invalid_type' && issue.expected === 'number') {
    return [{ path, input, ...noNumber(input, isInteger(path)) }];
  }
  return [{ path, input, ...worded(issue, input) }];
}

type Worded = Pick<PydanticFault, 'type' | 'msg' | 'ctx'>;

function worded(issue: Issue, input: unknown): Worded {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue, input);
    case 'too_small':
      return tooSmall(issue, input);
    case 'too_big':
      return tooBig(issue, input);
    case 'invalid_format':
      return wrongFormat(issue);
    case 'invalid_value':
      return wrongValue(issue);
    case 'not_multiple_of':
      return {
        type: 'multiple_of',
        msg: `Input should be a multiple of ${issue.divisor}`,
        ctx: { multiple_of: issue.divisor },
      };
    case 'custom':
      return custom(issue);
    default:
      return valueFault(issue.message);
  }
}

const types: Readonly<Record<string, [type: string, msg: string]>> = {
  string: ['string_type', 'Input should be a valid string'],
  boolean: ['bool_type', 'Input should be a valid boolean'],
  array: ['list_type', 'Input should be a valid list'],
  object: [
    'model_attributes_type',
    'Input should be a valid dictionary or object to extract fields from',
  ],
  record: ['dict_type', 'Input should be a valid dictionary'],
};

function wrongType({ expected }: IssueOf<'invalid_type'>, input: unknown): Worded {
  if (expected === 'int' && typeof input === 'number') {
    return {
      type: 'int_from_float',
      msg: 'Input should be a valid integer, got a number with a fractional part',
    };
  }
  const [type, msg] = types[expected] ?? ['value_error', `Value error, expected ${expected}`];
  return { type, msg };
}

function noNumber(input: unknown, isInteger: boolean): Worded {
  const kind = isInteger ? 'int' : 'float';
  const what = isInteger ? 'integer' : 'number';
  if (typeof input !== 'string') {
    return { type: `${kind}_type`, msg: `Input should be a valid ${what}` };
  }
  const msg = `Input should be a valid ${what}, unable to parse string as ${isInteger ? 'an' : 'a'} ${what}`;
  return { type: `${kind}_parsing`, msg };
}

function tooSmall({ origin, minimum, inclusive }: IssueOf<'too_small'>, input: unknown): Worded {
  const min = Number(minimum);
  if (origin === 'string') {
    const msg = `String should have at least ${min} character${min === 1 ? '' : 's'}`;
    return { type: 'string_too_short', msg, ctx: { min_length: min } };
  }
  if (origin === 'array') return listLength('too_short', 'at least', min, input);
  if (inclusive === false) {
    return { type: 'greater_than', msg: `Input should be greater than ${min}`, ctx: { gt: min } };
  }
  const msg = `Input should be greater than or equal to ${min}`;
  return { type: 'greater_than_equal', msg, ctx: { ge: min } };
}

function tooBig({ origin, maximum, inclusive }: IssueOf<'too_big'>, input: unknown): Worded {
  const max = Number(maximum);
  if (origin === 'string') {
    const msg = `String should have at most ${max} character${max === 1 ? '' : 's'}`;
    return { type: 'string_too_long', msg, ctx: { max_length: max } };
  }
  if (origin === 'array') return listLength('too_long', 'at most', max, input);
  if (inclusive === false) {
    return { type: 'less_than', msg: `Input should be less than ${max}`, ctx: { lt: max } };
  }
  const msg = `Input should be less than or equal to ${max}`;
  return { type: 'less_than_equal', msg, ctx: { le: max } };
}

function listLength(type: string, relation: string, length: number, input: unknown): Worded {
  const actual = Array.isArray(input) ? input.length : 0;
  const items = `${length} item${length === 1 ? '' : 's'}`;
  return {
    type,
    msg: `List should have ${relation} ${items} after validation, not ${actual}`,
    ctx: {
      field_type: 'List',
      [type === 'too_short' ? 'min_length' : 'max_length']: length,
      actual_length: actual,
    },
  };
}

function wrongFormat(issue: IssueOf<'invalid_format'>): Worded {
  if (issue.format === 'regex') {
    const pattern = (issue.pattern ?? '').replace(/^\/|\/[a-z]*$/g, '');
    const msg = `String should match pattern '${pattern}'`;
    return { type: 'string_pattern_mismatch', msg, ctx: { pattern } };
  }
  if (issue.format === 'uuid') return parsing('uuid_parsing', 'UUID', issue.message);
  if (issue.format === 'url') return parsing('url_parsing', 'URL', issue.message);
  return valueFault(issue.message);
}

/** `error` is zod's own message, or that of the schema, which says what is wrong with the value. */
function parsing(type: string, what: string, error: string): Worded {
  const why = error === `Invalid ${what}` ? '' : `: it ${error}`;
  return { type, msg: `Input should be a valid ${what}${why}`, ctx: { error } };
}

function wrongValue({ values }: IssueOf<'invalid_value'>): Worded {
  const expected = orList(values.map(quoted));
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
}

/** The fault of a check of our own, which may name the pydantic type in `params.type`. */
function custom({ params, message }: IssueOf<'custom'>): Worded {
  const type = params?.['type'];
  return typeof type === 'string' ? { type, msg: message } : valueFault(message);
}

function valueFault(message: string): Worded {
  return { type: 'value_error', msg: `Value error, ${message}`, ctx: { error: message } };
}

function unionFaults(
  issue: IssueOf<'invalid_union'>,
  data: unknown,
  isInteger: (path: readonly PropertyKey[]) => boolean,
): PydanticFault[] {
  const { path } = issue;
  if (!('discriminator' in issue) || typeof issue.discriminator !== 'string') {
    if (isMissing(data, path)) return [missing(data, path)];
    return issue.errors.flatMap((branch) =>
      branch.flatMap((each) =>
        pydanticFault({ ...each, path: [...path, ...each.path] }, data, isInteger),
      ),
    );
  }
  const parent = path.slice(0, -1);
  const input = at(data, parent);
  const discriminator = quoted(issue.discriminator);
  const tag = memberOf(input, issue.discriminator);
  const expected = ('options' in issue ? [...(issue.options ?? [])] : []).map(quoted).join(', ');
  if (tag === undefined) {
    const msg = `Unable to extract tag using discriminator ${discriminator}. Field required: ${issue.discriminator}, one of ${expected}`;
    return [{ type: 'union_tag_not_found', path: parent, msg, input, ctx: { discriminator } }];
  }
  const shown = typeof tag === 'string' ? tag : (JSON.stringify(tag) ?? '');
  const msg = `Input tag '${shown}' found using ${discriminator} does not match any of the expected tags: ${expected}`;
  return [
    {
      type: 'union_tag_invalid',
      path: parent,
      msg,
      input,
      ctx: { discriminator, tag: shown, expected_tags: expected },
    },
  ];
}

function missing(data: unknown, path: readonly PropertyKey[]): PydanticFault {
  const input = path.length === 0 ? null : at(data, path.slice(0, -1));
  return { type: 'missing', path, msg: 'Field required', input };
}

/** Whether the value is missing. A missing body is null. */
function isMissing(data: unknown, path: readonly PropertyKey[]): boolean {
  const last = path.at(-1);
  if (last === undefined) return data === null || data === undefined;
  const parent = at(data, path.slice(0, -1));
  return isObject(parent) && !Object.hasOwn(parent, last);
}

function at(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => memberOf(value, key), data);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
