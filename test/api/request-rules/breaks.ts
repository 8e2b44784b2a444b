// Values that break one rule of a field, each with the fault that says so. The words are the contract's (§1; pydantic 2).

import type { Rule, Schema } from './rules.ts';

/** In place of a field that is left out. */
export const ABSENT = Symbol('absent');

export interface Break {
  value: unknown;
  type: string;
  msg: string;
}

type Fault = readonly [value: unknown, type: string, msg: string];

/** Whole numbers beyond it are no bound of ours. */
const INTEGER_MAX = Number.MAX_SAFE_INTEGER;

const ofType: Readonly<Record<string, readonly Fault[]>> = {
  string: [[7, 'string_type', 'Input should be a valid string']],
  boolean: [['maybe', 'bool_type', 'Input should be a valid boolean']],
  integer: [
    ['x', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
    [1.5, 'int_from_float', 'Input should be a valid integer, got a number with a fractional part'],
    [[], 'int_type', 'Input should be a valid integer'],
  ],
  number: [
    ['x', 'float_parsing', 'Input should be a valid number, unable to parse string as a number'],
    [[], 'float_type', 'Input should be a valid number'],
  ],
  array: [[{}, 'list_type', 'Input should be a valid list']],
  object: [
    [
      [],
      'model_attributes_type',
      'Input should be a valid dictionary or object to extract fields from',
    ],
  ],
  record: [[[], 'dict_type', 'Input should be a valid dictionary']],
};
/** Values that break a type in a query or a header, where everything is text. */
const ofText: typeof ofType = {
  boolean: [
    ['maybe', 'bool_parsing', 'Input should be a valid boolean, unable to interpret input'],
  ],
  integer: (ofType['integer'] ?? []).slice(0, 1).flatMap(([, ...fault]) => [
    ['x', ...fault],
    ['1.5', ...fault],
  ]),
};
const ofFormat: typeof ofType = {
  'date-time': [['soon', 'datetime_parsing', 'Input should be a valid datetime']],
  uri: [
    [
      'pbx.example.com',
      'url_parsing',
      'Input should be a valid URL: it must begin with http:// or https://',
    ],
  ],
};

export function breaksOf({ place, isRequired, keywords }: Rule): Break[] {
  const isText = !place.startsWith('body');
  const types = [keywords['type'] ?? []].flat() as string[];
  const type = types.includes('integer') ? 'integer' : (types[0] ?? '');
  const isChoice = 'enum' in keywords || 'const' in keywords;
  const wrong = isChoice ? choiceBreaks(keywords) : ((isText ? ofText : ofType)[type] ?? []);
  const [, noType = '', noTypeWords = ''] = wrong.at(-1) ?? [];
  const hasNull = isText || place === 'body' || types.includes('null') || wrong.length === 0;
  const faults: Fault[] = [
    ...wrong,
    ...(hasNull ? [] : ([[null, noType, noTypeWords]] satisfies Fault[])),
    ...bounds(keywords),
    ...(ofFormat[String(keywords['format'])] ?? []),
    ...(keywords['tag'] === undefined ? [] : tagBreaks(keywords)),
    ...(isRequired ? ([[ABSENT, 'missing', 'Field required']] satisfies Fault[]) : []),
  ];
  return faults.map(([value, type, msg]) => ({ value, type, msg }));
}

function choiceBreaks({ enum: choices, const: only }: Schema): Fault[] {
  const words = ((choices ?? [only]) as unknown[]).map((each) =>
    typeof each === 'string' ? `'${each}'` : String(each),
  );
  const last = words.pop();
  const list = words.length === 0 ? last : `${words.join(', ')} or ${last}`;
  return [['no such word', 'literal_error', `Input should be ${list}`]];
}

function tagBreaks({ tag, tags }: Schema): Fault[] {
  const known = (tags as string[]).map((each) => `'${each}'`).join(', ');
  const untagged = `Unable to extract tag using discriminator '${tag}'`;
  const ofNone = `Input tag 'nope' found using '${tag}' does not match any of the expected tags`;
  return [
    [{}, 'union_tag_not_found', `${untagged}. Field required: ${tag}, one of ${known}`],
    [{ [String(tag)]: 'nope' }, 'union_tag_invalid', `${ofNone}: ${known}`],
  ];
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
const input = (relation: string) => `Input should be ${relation}`;
const text = (relation: string, count: number) =>
  `String should have ${relation} ${counted(count, 'character')}`;
const list = (relation: string, count: number, sent: number) =>
  `List should have ${relation} ${counted(count, 'item')} after validation, not ${sent}`;

/** For a bound, the value just beyond it with its fault. */
const beyond: Readonly<Record<string, (bound: number) => Fault>> = {
  minLength: (min) => ['x'.repeat(min - 1), 'string_too_short', text('at least', min)],
  maxLength: (max) => ['x'.repeat(max + 1), 'string_too_long', text('at most', max)],
  minItems: (min) => [Array(min - 1).fill(null), 'too_short', list('at least', min, min - 1)],
  maxItems: (max) => [Array(max + 1).fill(null), 'too_long', list('at most', max, max + 1)],
  minimum: (min) => [min - 1, 'greater_than_equal', input(`greater than or equal to ${min}`)],
  maximum: (max) => [max + 1, 'less_than_equal', input(`less than or equal to ${max}`)],
  exclusiveMinimum: (min) => [min, 'greater_than', input(`greater than ${min}`)],
  exclusiveMaximum: (max) => [max, 'less_than', input(`less than ${max}`)],
};

function bounds(keywords: Schema): Fault[] {
  const faults = Object.entries(beyond).flatMap(([name, fault]) => {
    const bound = keywords[name];
    return typeof bound === 'number' && Math.abs(bound) < INTEGER_MAX ? [fault(bound)] : [];
  });
  const { pattern } = keywords;
  if (typeof pattern !== 'string') return faults;
  return [
    ...faults,
    ['\u00e9', 'string_pattern_mismatch', `String should match pattern '${pattern}'`],
  ];
}
