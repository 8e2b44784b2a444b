// Templates that are JSON. Source: contract §5.6, appendix A.7.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderObject } from '../../../src/workflow/variables/template-object.ts';
import { rounds } from '../../rounds.ts';

const now = Date.UTC(2026, 8, 3, 16, 5, 0); // A Thursday.

const context = {
  workflow_run_id: '42',
  initial_context: { customer_name: 'Ana', vip: true },
  gathered_context: { day: 'monday', extracted_variables: { amount: 3.5 } },
  cost_info: { call_duration_seconds: 12 },
  annotations: { tags: ['late'] },
};

describe('object templates', () => {
  it('render the worked example', () => {
    const template = { run: '{{workflow_run_id}}', who: '{{initial_context.customer_name}}' };
    expect(renderObject(template, context, { now })).toEqual({ run: '42', who: 'Ana' });
  });

  it('render keys and values at every depth, each to text', () => {
    const template = {
      '{{gathered_context.day}}': {
        list: ['{{cost_info.call_duration_seconds}}', { a: '{{x|y}}' }],
      },
      amount: '{{gathered_context.extracted_variables.amount}} EUR',
      vip: '{{initial_context.vip}}',
      tags: '{{annotations.tags}}',
      day: '{{current_weekday}}',
    };
    expect(renderObject(template, context, { now })).toEqual({
      monday: { list: ['12', { a: 'y' }] },
      amount: '3.5 EUR',
      vip: 'True',
      tags: '["late"]',
      day: 'Thursday',
    });
  });

  it('leave what is no text as it is', () => {
    const template = { n: 1, yes: true, none: null, empty: {}, list: [] };
    expect(renderObject(template, context, { now })).toEqual(template);
  });

  it('use the last of two keys that render alike', () => {
    const template = { '{{workflow_run_id}}': 'one', '42': 'other' };
    expect(renderObject(template, context, { now })).toEqual({ '42': 'one' });
    expect(renderObject({ a: 1, '{{x|a}}': 2 }, context, { now })).toEqual({ a: 2 });
  });

  it('take no key for anything but a name', () => {
    const template = JSON.parse('{"__proto__": {"polluted": "{{workflow_run_id}}"}}');
    const rendered = renderObject(template, context, { now });
    expect(Object.getPrototypeOf(rendered)).toBe(Object.prototype);
    expect(JSON.stringify(rendered)).toBe('{"__proto__":{"polluted":"42"}}');
  });

  it('cut what is too deep, too many or too long', () => {
    let deep: Record<string, unknown> = { end: 'x' };
    for (let level = 0; level < 50; level++) deep = { deep };
    const depth = JSON.stringify(renderObject(deep, context, { now })).split('deep').length - 1;
    expect(depth).toBe(20);
    const many = { list: Array.from({ length: 50_000 }, () => 'x') };
    expect(JSON.stringify(renderObject(many, context, { now })).length).toBeLessThan(50_000);
    const long = Array.from({ length: 100 }, (_, i) => [`k${i}`, '{{big}}']);
    const big = { big: 'x'.repeat(90_000) };
    const rendered = renderObject(Object.fromEntries(long), big, { now });
    expect(JSON.stringify(rendered).length).toBeLessThan(1_010_000);
  });

  it('any template under any context gives JSON', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('{{a}}', '{{a.b|c}}', '{{', '}}', '\\n'));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium' },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(text, tree), fc.dictionary(text, tree), (template, given) => {
        const rendered = renderObject(template, given, { now });
        const plain = JSON.parse(JSON.stringify(rendered));
        expect(plain).toEqual(rendered);
        expect(Object.keys(rendered).length).toBeLessThanOrEqual(Object.keys(template).length);
      }),
      { numRuns: rounds(300) },
    );
  });
});
