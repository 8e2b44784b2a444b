// Where a transfer leads. Source: contract §8.7, §10.1.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTool } from '../../../src/workflow/tools/registry.ts';
import type { OpenTool, TransferSteps } from '../../../src/workflow/tools/tool-type.ts';
import { readResolved } from '../../../src/workflow/tools/transfer-call-tool.ts';
import { storedTool } from './stored-tool.ts';

const values = {
  branch: '+49301',
  initial_context: { tier: ' GOLD ', age: 42, nothing: null },
  gathered_context: { language: 'de' },
};
const context = { values, now: 0 };

function opened(config: Record<string, unknown>): OpenTool & { transfer: TransferSteps } {
  const open = openTool(storedTool('t', 'Front desk', { type: 'transfer_call', config }));
  if (typeof open === 'string' || open.transfer === undefined) throw new Error(String(open));
  return { ...open, transfer: open.transfer };
}
const to = (config: Record<string, unknown>): string =>
  opened(config).transfer.knownDestination(context);

describe('a static destination', () => {
  it.each([
    ['+15550100', '+15550100'],
    [' {{branch}} ', '+49301'],
    ['{{nobody}}', ''],
    ['', ''],
  ])('%j leads to %j', (destination, expected) => {
    expect(to({ destination })).toBe(expected);
  });
});

describe('what the destination hears first', () => {
  const told = (warm: unknown, given = {}) =>
    opened({ warm }).transfer.announcement({ values: { ...values, ...given }, now: 0 });

  it('is nothing unless the author wants it', () => {
    expect(told(null)).toBeUndefined();
  });

  it('has the values of the call and of the model in it', () => {
    const message = ' {{topic}}, {{gathered_context.language}}, {{nobody}} ';
    expect(told({ message, timeout: 20, caller_hears: 'ringback' }, { topic: 'A bill' })).toEqual({
      text: 'A bill, de,',
      accept: 'key',
      refuseKey: '*',
      decisionS: 20,
      callerHears: 'ringback',
      isRequired: true,
    });
  });

  it('ends within a minute or so, however long the values are', () => {
    const { text = '' } = told({ message: '{{topic}}' }, { topic: 'word '.repeat(1_000) }) ?? {};
    expect(text).toHaveLength(1_000);
  });
});

describe('a mapped destination', () => {
  const mapped = (more: Record<string, unknown>) =>
    to({ destination_source: 'context_mapping', destination: '+1', context_mapping: more });
  const rule = (path: string, value: string, destination: string) => ({
    context_path: path,
    routes: [{ context_value: value, destination }],
  });

  it('is that of the first rule whose value fits, in any case', () => {
    const rules = [
      rule('gathered_context.language', 'fr', '+33'),
      rule('initial_context.tier', 'gold', '{{branch}}'),
      rule('gathered_context.language', 'de', '+49'),
    ];
    expect(mapped({ rules })).toBe('+49301');
    expect(mapped({ rules: [rule('initial_context.age', '42', '+42')] })).toBe('+42');
  });

  it('is the fallback where nothing fits, and nowhere without one', () => {
    const rules = [rule('initial_context.nothing', 'null', '+1'), rule('no.such', '', '+2')];
    expect(mapped({ rules, fallback_destination: '+99' })).toBe('+99');
    expect(mapped({ rules })).toBe('');
  });
});

describe('a resolved destination', () => {
  const dynamic = opened({
    destination_source: 'dynamic',
    parameters: [{ name: 'topic', type: 'string', description: 'What about' }],
    resolver: {
      type: 'http',
      url: 'https://pbx.example/route',
      credential_uuid: 'c1',
      parameters: [
        { name: 'topic', type: 'number', description: 'Shadowed' },
        { name: 'urgent', type: 'boolean', description: 'In a hurry', required: false },
      ],
      preset_parameters: [{ name: 'branch', type: 'string', value_template: '{{branch}}' }],
    },
  });

  it('is asked for with the arguments and presets', () => {
    const [only] = dynamic.functions;
    expect(only?.parameters).toMatchObject({
      properties: { topic: { type: 'string' }, urgent: { type: 'boolean' } },
      required: ['topic'],
    });
    const outcome = dynamic.call(
      'front_desk',
      { topic: 'bill', urgent: 'true', other: 1 },
      context,
    );
    const given = { topic: 'bill', urgent: true };
    expect(outcome).toEqual({ what: 'transfer', arguments: given });
    expect(dynamic.transfer.resolverRequest(given, context)).toEqual({
      method: 'POST',
      url: 'https://pbx.example/route',
      headers: { 'Content-Type': 'application/json' },
      body: '{"topic":"bill","urgent":true,"branch":"+49301"}',
      credentialUuid: 'c1',
      timeoutMs: 3_000,
    });
    const fixed = opened({ destination: '+1' }).transfer;
    expect(fixed.resolverRequest({}, context)).toBeUndefined();
  });

  it('is read from the answer', () => {
    const answer = { transfer_context: { destination: ' +1555 ', custom_message: 'One moment.' } };
    expect(readResolved(200, answer)).toEqual({
      destination: '+1555',
      message: 'One moment.',
    });
    expect(readResolved(200, { transfer_context: { destination: '+1' } })).toEqual({
      destination: '+1',
      message: null,
    });
  });

  it.each([
    [404, { transfer_context: { destination: '+1' } }, 'resolver_http_error'],
    [302, null, 'resolver_http_error'],
    [200, 'nonsense', 'resolver_invalid_response'],
    [200, { destination: '+1' }, 'resolver_invalid_response'],
    [200, { transfer_context: { destination: '' } }, 'resolver_invalid_response'],
    [200, { transfer_context: { destination: 15 } }, 'resolver_invalid_response'],
  ])('is not there after %d %j', (status, data, reason) => {
    expect(readResolved(status, data)).toEqual({ reason });
  });

  it('of any answer is a destination, or a reason', () => {
    fc.assert(
      fc.property(fc.integer(), fc.jsonValue(), (status, data) => {
        expect(Object.keys(readResolved(status, data)).length).toBeGreaterThan(0);
      }),
    );
  });
});
