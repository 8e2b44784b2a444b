import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validatorCompiler } from '../../../src/api/http/validation.ts';
import { idIn, queryFlag, queryInteger } from '../../../src/api/http/values.ts';

function faults(schema: z.ZodType, data: unknown, httpPart = 'body') {
  const result = validatorCompiler({ schema, httpPart })(data);
  return 'error' in result ? result.error.items : [];
}
const one = (schema: z.ZodType, data: unknown) => {
  const [first] = faults(z.object({ it: schema }), { it: data });
  return [first?.type, first?.msg, first?.ctx];
};
const character = (count: number) => `character${count === 1 ? '' : 's'}`;

describe("a value that does not fit, in pydantic's words", () => {
  it.each<[string, z.ZodType, unknown, string, string, object?]>([
    ['no string', z.string(), 1, 'string_type', 'Input should be a valid string'],
    ['no number', z.number(), [], 'float_type', 'Input should be a valid number'],
    ['no integer', z.int().nullish(), true, 'int_type', 'Input should be a valid integer'],
    [
      'text for a number',
      z.number(),
      'x',
      'float_parsing',
      'Input should be a valid number, unable to parse string as a number',
    ],
    [
      'text for an integer',
      z.int().min(1).default(3),
      'x',
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'a fraction',
      z.int(),
      1.5,
      'int_from_float',
      'Input should be a valid integer, got a number with a fractional part',
    ],
    ['no flag', z.boolean(), 'yes', 'bool_type', 'Input should be a valid boolean'],
    ['no list', z.array(z.string()), {}, 'list_type', 'Input should be a valid list'],
    [
      'no object',
      z.object({}),
      [],
      'model_attributes_type',
      'Input should be a valid dictionary or object to extract fields from',
    ],
    [
      'no dictionary',
      z.record(z.string(), z.unknown()),
      1,
      'dict_type',
      'Input should be a valid dictionary',
    ],
    [
      'too short',
      z.string().min(1),
      '',
      'string_too_short',
      `String should have at least 1 ${character(1)}`,
      { min_length: 1 },
    ],
    [
      'too long',
      z.string().max(2),
      'abc',
      'string_too_long',
      `String should have at most 2 ${character(2)}`,
      { max_length: 2 },
    ],
    [
      'another pattern',
      z.string().regex(/^\d{2}$/),
      'x',
      'string_pattern_mismatch',
      "String should match pattern '^\\d{2}$'",
      { pattern: '^\\d{2}$' },
    ],
    [
      'too small',
      z.number().min(3),
      1,
      'greater_than_equal',
      'Input should be greater than or equal to 3',
      { ge: 3 },
    ],
    ['not above', z.number().gt(3), 3, 'greater_than', 'Input should be greater than 3', { gt: 3 }],
    [
      'too large',
      z.number().max(3),
      4,
      'less_than_equal',
      'Input should be less than or equal to 3',
      { le: 3 },
    ],
    ['not below', z.number().lt(3), 3, 'less_than', 'Input should be less than 3', { lt: 3 }],
    [
      'another word',
      z.literal('a'),
      'b',
      'literal_error',
      "Input should be 'a'",
      { expected: "'a'" },
    ],
    [
      'none of the words',
      z.enum(['a', 'b', 'c']),
      'd',
      'literal_error',
      "Input should be 'a', 'b' or 'c'",
      { expected: "'a', 'b' or 'c'" },
    ],
    [
      'too many',
      z.array(z.int()).max(1),
      [1, 2],
      'too_long',
      'List should have at most 1 item after validation, not 2',
      { field_type: 'List', max_length: 1, actual_length: 2 },
    ],
    [
      'an odd step',
      z.number().multipleOf(5),
      7,
      'multiple_of',
      'Input should be a multiple of 5',
      { multiple_of: 5 },
    ],
    [
      'no UUID',
      z.uuid(),
      'x',
      'uuid_parsing',
      'Input should be a valid UUID',
      { error: 'Invalid UUID' },
    ],
    [
      'a check of our own',
      z.string().refine(() => false, 'no good'),
      'x',
      'value_error',
      'Value error, no good',
      { error: 'no good' },
    ],
    ['no id', idIn, {}, 'int_type', 'Input should be a valid integer'],
    [
      'no digits',
      idIn,
      '1x',
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
  ])('%s', (_what, schema, value, type, msg, ctx) => {
    expect(one(schema, value)).toEqual([type, msg, ctx]);
  });

  it('names an unknown key', () => {
    expect(faults(z.strictObject({ a: z.int() }), { a: 1, b: 2 })).toEqual([
      {
        type: 'extra_forbidden',
        loc: ['body', 'b'],
        msg: 'Extra inputs are not permitted',
        input: 2,
      },
    ]);
  });

  it('shows what is around a missing field, and null for a body that is not there', () => {
    const schema = z.object({ a: z.object({ b: z.string() }) });
    expect(faults(schema, { a: { c: 1 } })).toEqual([
      { type: 'missing', loc: ['body', 'a', 'b'], msg: 'Field required', input: { c: 1 } },
    ]);
    expect(faults(schema, null)).toEqual([
      { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
    ]);
  });

  it('is found below tagged unions by tag, in lists, records and defaults', () => {
    const shape = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('dot'), at: z.object({ x: z.int() }).default({ x: 0 }) }),
      z.object({ kind: z.literal('line') }),
    ]);
    const schema = z.object({ shapes: z.record(z.string(), z.array(shape.nullish())) });
    const data = { shapes: { all: [{ kind: 'dot', at: { x: 'a' } }] } };
    expect(faults(schema, data)[0]?.loc).toEqual(['body', 'shapes', 'all', 0, 'dot', 'at', 'x']);
    expect(faults(schema, { shapes: { all: [{ kind: 3 }] } })[0]).toMatchObject({
      type: 'union_tag_invalid',
      loc: ['body', 'shapes', 'all', 0],
      ctx: { tag: '3' },
    });
  });

  it('says which part of the request it was', () => {
    const schema = z.object({ page: queryInteger(1, 9).default(1), flag: queryFlag.optional() });
    expect(faults(schema, { page: '10', flag: 'perhaps' }, 'querystring')).toMatchObject([
      { type: 'less_than_equal', loc: ['query', 'page'], input: '10' },
      { type: 'bool_parsing', loc: ['query', 'flag'], input: 'perhaps' },
    ]);
    expect(faults(z.object({ id: idIn }), { id: 'x' }, 'params')[0]?.loc).toEqual(['path', 'id']);
  });

  it('is echoed small and without secrets', () => {
    const secret = { auth_token: 'tok', deep: [{ api_key: 'key', my_password: ['pass'] }] };
    const [fault] = faults(z.object({ x: z.string() }), {
      x: { ...secret, a: 'b'.repeat(10_000) },
    });
    const text = JSON.stringify(fault);
    for (const hidden of ['tok"', 'key"]', 'pass"']) expect(text).not.toContain(hidden);
    expect(text.length).toBeLessThan(2_000);
    const many = faults(z.object({ x: z.array(z.int()) }), { x: Array(5_000).fill('a') });
    expect(many).toHaveLength(100);
  });

  it('is worded for no more faults than are sent', () => {
    let reads = 0;
    const counting = new Proxy(
      Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1])),
      {
        get: (target, key) => {
          reads += 1;
          return Reflect.get(target, key);
        },
      },
    );
    expect(faults(z.strictObject({}), counting)).toHaveLength(100);
    expect(reads).toBeLessThan(1_000);
  });

  it('is always reported, for any input', () => {
    const schema = z.object({
      a: idIn,
      b: z.discriminatedUnion('t', [z.object({ t: z.literal('x'), y: z.int() })]),
      c: z.union([z.string().min(2), z.object({ d: z.boolean() })]).optional(),
      e: z.array(z.enum(['p', 'q'])).max(2),
    });
    const validate = validatorCompiler({ schema, httpPart: 'body' });
    void fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const result = validate(data);
        if (!('error' in result)) return;
        expect(result.error.items.length).toBeGreaterThan(0);
        for (const { type, loc, msg } of result.error.items) {
          expect([typeof type, loc[0], typeof msg]).toEqual(['string', 'body', 'string']);
        }
      }),
    );
  });
});

it.each([
  ['a list', z.array(z.string()).max(3)],
  ['a text', z.string().max(3)],
])('an object whose length compares with nothing does not fit %s', (_what, schema) => {
  const it = { length: { toString: null } };
  const [fault] = faults(z.object({ it: schema }), { it });
  expect(fault).toMatchObject({ type: 'value_error', loc: ['body'] });
});

describe('ids and flags', () => {
  it.each([
    ['42', '42'],
    [42, '42'],
    [' 007 ', '7'],
    ['-3', '-3'],
    ['+3', '3'],
    [5.0, '5'],
    ['5.0', '5'],
    ['0', '0'],
  ])('%j is the id %s', (value, id) => {
    expect(idIn.parse(value)).toBe(id);
  });

  it('are words and digits in queries', () => {
    for (const word of ['true', '1', 'YES', 'on']) expect(queryFlag.parse(word)).toBe(true);
    for (const word of ['false', '0', 'no', 'Off']) expect(queryFlag.parse(word)).toBe(false);
  });
});
