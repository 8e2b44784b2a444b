// The requests that tools make. Source: contract §8.7, §10.1.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { openTool } from '../../../src/workflow/tools/registry.ts';
import type { ToolRequest } from '../../../src/workflow/tools/tool-request-builder.ts';
import type { OpenTool } from '../../../src/workflow/tools/tool-type.ts';
import { storedTool } from './stored-tool.ts';

const initial = { customer: { id: 'a/b c' }, tier: 'gold', flag: true, nobody: '' };
const context = {
  values: { ...initial, initial_context: initial, gathered_context: { city: 'Köln' } },
  now: 0,
};

const parameter = (name: string, type = 'string', required = true) => ({
  name,
  type,
  description: 'd',
  required,
});
const preset = (name: string, value: string, type = 'string', required = true) => ({
  name,
  type,
  value_template: value,
  required,
});
function opened(more: Record<string, unknown>): OpenTool {
  const config = { method: 'post', url: 'https://crm.example/orders', ...more };
  const open = openTool(storedTool('t', 'Orders', { type: 'http_api', config }));
  if (typeof open === 'string') throw new Error(open);
  return open;
}

function build(more: Record<string, unknown>, given: Record<string, unknown> = {}): ToolRequest {
  const outcome = opened(more).call('orders', given, context);
  if (outcome.what !== 'request') throw new Error(outcome.what);
  return outcome.request;
}
const refusal = (more: Record<string, unknown>, given: Record<string, unknown> = {}) => {
  try {
    return build(more, given).url;
  } catch (error) {
    return error instanceof Error ? [codeOf(error), error.message] : [];
  }
};

describe('a request with a body', () => {
  it('carries arguments and presets as flat JSON, presets before arguments', () => {
    const request = build(
      {
        parameters: [parameter('item'), parameter('count', 'number'), parameter('tier')],
        preset_parameters: [
          preset('tier', '{{initial_context.tier}}'),
          preset('vip', '{{flag}}', 'boolean'),
        ],
        headers: { 'X-Source': 'phone' },
        credential_uuid: 'c1',
        timeout_ms: 900,
      },
      { item: 'tea', count: '2', tier: 'platinum', more: 'dropped' },
    );
    expect(request).toEqual({
      method: 'POST',
      url: 'https://crm.example/orders',
      headers: { 'Content-Type': 'application/json', 'X-Source': 'phone' },
      body: expect.any(String),
      credentialUuid: 'c1',
      timeoutMs: 900,
    });
    expect(JSON.parse(request.body ?? '')).toEqual({
      item: 'tea',
      count: 2,
      tier: 'gold',
      vip: true,
    });
  });

  it('carries the body template in their place', () => {
    const { body, headers } = build(
      {
        method: 'PATCH',
        parameters: [parameter('item')],
        body_template: { order: { what: '{{item}}', where: '{{gathered_context.city}}', n: 1 } },
        headers: { 'content-type': 'application/vnd.api+json' },
      },
      { item: 'tea' },
    );
    expect(JSON.parse(body ?? '')).toEqual({ order: { what: 'tea', where: 'Köln', n: 1 } });
    expect(headers).toEqual({ 'content-type': 'application/vnd.api+json' });
  });

  it('takes no longer than a minute, whatever its author allows', () => {
    expect(build({ timeout_ms: 100_000 }).timeoutMs).toBe(60_000);
    expect(build({}).timeoutMs).toBe(5_000);
  });
});

describe('a request without a body', () => {
  it.each(['GET', 'DELETE'])('(%s) carries its values in the query, objects as JSON', (method) => {
    const request = build(
      {
        method,
        url: 'https://crm.example/find?kind=a%20b#top',
        parameters: [parameter('q'), parameter('where', 'object'), parameter('tags', 'array')],
      },
      { q: 'x & y', where: { city: 'K' }, tags: ['a'] },
    );
    expect(request.body).toBeNull();
    expect(request.headers).toEqual({});
    expect(request.url).toBe(
      'https://crm.example/find?kind=a%20b&q=x%20%26%20y&where=%7B%22city%22%3A%22K%22%7D&tags=%5B%22a%22%5D',
    );
  });
});

describe('an address', () => {
  it('is filled in, percent-encoded', () => {
    const url = 'https://crm.example/c/{{customer.id}}/o/{{ order | none }}?t={{tier}}';
    expect(build({ url }).url).toBe('https://crm.example/c/a%2Fb%20c/o/none?t=gold');
  });

  it.each(['..', '.', '%2e%2e'])('keeps its path, whatever a value holds: %s', (value) => {
    const more = { url: 'https://crm.example/a/{{item}}/b', parameters: [parameter('item')] };
    const made = refusal(more, { item: value });
    if (value.startsWith('%')) expect(made).toBe('https://crm.example/a/%252e%252e/b');
    else expect(made).toEqual(['TOOL_URL', expect.stringContaining('leaves its path')]);
  });

  it('never leads to another host, whatever a value holds', () => {
    const more = {
      method: 'GET',
      url: 'https://crm.example:8443/a/{{item}}?b={{item}}',
      parameters: [parameter('item')],
    };
    const nasty = fc.constantFrom(
      '@evil',
      '//evil',
      '\\evil',
      '?x',
      '#x',
      '\ud800',
      '{{tier}}',
      '..',
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), nasty), (item) => {
        const made = refusal(more, { item });
        if (typeof made !== 'string') expect(made[0]).toBe('TOOL_URL');
        else expect(new URL(made).origin).toBe('https://crm.example:8443');
      }),
    );
  });
});

describe('arguments', () => {
  it('that are required and not there are named', () => {
    const more = { parameters: [parameter('item'), parameter('note', 'string', false)] };
    expect(refusal(more)).toEqual([
      'TOOL_ARGUMENTS',
      'The arguments are invalid: item is required',
    ]);
    expect(refusal(more, { item: null })).toEqual(['TOOL_ARGUMENTS', expect.anything()]);
    expect(JSON.parse(build(more, { item: 'a' }).body ?? '')).toEqual({ item: 'a' });
  });

  it.each([
    ['number', '3.5', 3.5],
    ['number', 7, 7],
    ['number', 'seven', undefined],
    ['number', '9007199254740993', '9007199254740993'],
    ['number', '', undefined],
    ['number', true, undefined],
    ['boolean', 'TRUE', true],
    ['boolean', false, false],
    ['boolean', 1, undefined],
    ['string', 5, '5'],
    ['string', { a: 1 }, '{"a":1}'],
    ['object', '{"a":1}', { a: 1 }],
    ['object', [1], undefined],
    ['array', '[1]', [1]],
    ['array', 'x', undefined],
  ])('of the type %s: %j is %j', (type, given, expected) => {
    const more = { parameters: [parameter('v', type)] };
    if (expected === undefined) {
      const message = `The arguments are invalid: v must be of the type ${type}`;
      expect(refusal(more, { v: given })).toEqual(['TOOL_ARGUMENTS', message]);
    } else {
      expect(JSON.parse(build(more, { v: given }).body ?? '')).toEqual({ v: expected });
    }
  });

  it('of the author that come out empty are left out, or refused if they are required', () => {
    const optional = { preset_parameters: [preset('n', '{{nobody}}', 'number', false)] };
    expect(JSON.parse(build(optional).body ?? '')).toEqual({});
    expect(refusal({ preset_parameters: [preset('n', '{{nobody}}')] })).toEqual([
      'TOOL_ARGUMENTS',
      'The arguments are invalid: n is empty',
    ]);
    expect(refusal({ preset_parameters: [preset('n', '{{tier}}', 'number')] })).toEqual([
      'TOOL_ARGUMENTS',
      'The arguments are invalid: n is not of the type number',
    ]);
  });

  it('may be given in place of the author, to try a tool out', () => {
    const { trial } = opened({ preset_parameters: [preset('n', '{{nobody}}', 'number')] });
    const { body } = trial?.request({ given: {}, presets: { n: 4 } }, 0) ?? {};
    expect(JSON.parse(body ?? '')).toEqual({ n: 4 });
  });
});
