import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { misspelledField } from '../../../src/api/http/validation.ts';

const schema = z.object({
  name: z.string(),
  initial_context: z.record(z.string(), z.unknown()).nullish(),
  retry_config: z.object({ max_retries: z.int().default(2) }).nullish(),
  files: z.array(z.object({ file_size: z.int().optional() })).optional(),
});

describe('a field that is in no schema', () => {
  it.each<[object, unknown]>([
    [{ inital_context: {} }, { path: ['inital_context'], meant: 'initial_context' }],
    [{ initial_contxet: {} }, { path: ['initial_contxet'], meant: 'initial_context' }],
    [{ intial_contex: {} }, { path: ['intial_contex'], meant: 'initial_context' }],
    [
      { retry_config: { max_retires: 1 } },
      { path: ['retry_config', 'max_retires'], meant: 'max_retries' },
    ],
    [{ files: [{}, { file_siz: 1 }] }, { path: ['files', 1, 'file_siz'], meant: 'file_size' }],
  ])('is named with the one that was meant: %j', (data, found) => {
    expect(misspelledField(schema, { name: 'a', ...data })).toEqual(found);
  });

  it.each<[string, object]>([
    ['stands beside the one that it looks like', { initial_context: {}, inital_context: {} }],
    ['looks like none', { customer: 'a', nam: 'x', retry: true }],
    ['is free JSON', { initial_context: { inital_context: 1 } }],
  ])('is ignored if it %s', (_why, data) => {
    expect(misspelledField(schema, { name: 'a', ...data })).toBeUndefined();
  });

  // `phone` was ignored: the call went to the organization's test number.
  it.each<[object, z.ZodType, string | undefined]>([
    [{ phone: '+1' }, z.object({ phone_number: z.string().nullish() }), 'phone_number'],
    [{ number: '+1' }, z.object({ phone_number: z.string() }), 'phone_number'],
    [{ number: '+1' }, z.object({ address: z.string() }), 'address'],
    [{ phone_number: '+1' }, z.object({ address: z.string() }), 'address'],
    [
      { definition: {} },
      z.object({ workflow_definition: z.object({}).optional() }),
      'workflow_definition',
    ],
    [{ definition: {} }, z.object({ definition: z.object({}) }), undefined],
    [{ source: 'a' }, z.object({ source_id: z.string() }), 'source_id'],
    [{ source: 'a' }, z.object({ source_id: z.string().optional() }), undefined],
    [{ phone: '+1' }, z.object({ phone_number: z.string().or(z.null()) }), 'phone_number'],
    [{ phone: '+1', phone_number: '+2' }, z.object({ phone_number: z.string() }), undefined],
  ])('by another name is named with the one that was meant: %j', (data, body, meant) => {
    expect(misspelledField(body, data)?.meant).toBe(meant);
  });

  it('is ignored where the schema keeps unknown fields', () => {
    expect(misspelledField(z.looseObject({ known_name: z.string() }), { know_name: 'a' })).toBe(
      undefined,
    );
  });
});
