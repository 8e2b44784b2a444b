// Definitions of tools. Source: contract §10.1.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolDefinition } from '../../../src/workflow/tools/registry.ts';

const api = { method: 'GET', url: 'https://crm.example.com/customers' };

function isValid(type: string, config: unknown): boolean {
  return toolDefinition.safeParse({ type, config }).success;
}

describe('the definition of a tool', () => {
  it('has every field of an http_api, with the defaults of the contract', () => {
    const sent = { type: 'http_api', config: { ...api, method: 'post' } };
    expect(toolDefinition.parse(sent)).toEqual({
      schema_version: 1,
      type: 'http_api',
      config: {
        method: 'POST',
        url: api.url,
        headers: {},
        credential_uuid: null,
        parameters: [],
        preset_parameters: [],
        timeout_ms: 5_000,
        customMessage: null,
        customMessageType: null,
        customMessageRecordingId: null,
        customMessageDelayMs: 0,
        body_template: null,
      },
    });
  });

  it('takes null for what is not set', () => {
    const none = { headers: null, parameters: null, preset_parameters: null, timeout_ms: null };
    const parsed = toolDefinition.parse({ type: 'http_api', config: { ...api, ...none } });
    expect(parsed.config).toMatchObject({ headers: {}, parameters: [], timeout_ms: 5_000 });
  });

  it('of a calculator needs no config', () => {
    expect(toolDefinition.parse({ type: 'calculator' })).toEqual({
      schema_version: 1,
      type: 'calculator',
      config: {},
    });
  });

  it('that collects digits has limits, and a name for hidden ones', () => {
    const isDigits = (config: object) => isValid('collect_digits', config);
    expect(isDigits({})).toBe(true);
    expect(isDigits({ min_digits: 6, max_digits: 6, terminator: 'none', tries: 5 })).toBe(true);
    expect(isDigits({ min_digits: 7, max_digits: 6 })).toBe(false);
    for (const wrong of [{ max_digits: 33 }, { tries: 6 }, { patterns: ['2*'] }, { check: 'x' }])
      expect(isDigits(wrong)).toBe(false);
    expect(isDigits({ hidden: true })).toBe(false);
    expect(isDigits({ hidden: true, variable: 'card' })).toBe(true);
    expect(isDigits({ variable: 'not a name' })).toBe(false);
  });

  it('that switches the language names each language once, by its tag', () => {
    const offers = (...languages: string[]) =>
      isValid('switch_language', { languages: languages.map((language) => ({ language })) });
    expect(offers('de', 'pt-BR')).toBe(true);
    for (const wrong of [[], ['de', 'de'], ['German']]) expect(offers(...wrong)).toBe(false);
  });

  it('that transfers to an agent names it', () => {
    expect(isValid('transfer_agent', { agent_uuid: 'some-uuid' })).toBe(true);
    expect(isValid('transfer_agent', {})).toBe(false);
  });

  it('of the reserved types does not exist', () => {
    for (const type of ['native', 'integration', 'other', undefined])
      expect(toolDefinition.safeParse({ type, config: {} }).success).toBe(false);
  });

  it('asks parameters for a name, a type and a description, and each name once', () => {
    const parameter = { name: 'day', type: 'string', description: 'The day' };
    const withAll = (...parameters: object[]) => isValid('http_api', { ...api, parameters });
    expect(withAll(parameter)).toBe(true);
    for (const type of ['number', 'boolean', 'object', 'array'])
      expect(withAll({ ...parameter, type })).toBe(true);
    expect(withAll({ ...parameter, type: 'date' })).toBe(false);
    expect(withAll({ name: 'day', type: 'string' })).toBe(false);
    expect(withAll({ ...parameter, name: ' ' })).toBe(false);
    expect(withAll(parameter, parameter)).toBe(false);
  });

  it('takes no header that says how a request travels, and none that is two', () => {
    const withHeader = (name: string, value: string) =>
      isValid('http_api', { ...api, headers: { [name]: value } });
    expect(withHeader('X-Tenant', 'north')).toBe(true);
    expect(withHeader('Host', 'other.example.com')).toBe(false);
    expect(withHeader('Transfer-Encoding', 'chunked')).toBe(false);
    expect(withHeader('X-Tenant', 'a\r\nX-Admin: 1')).toBe(false);
    expect(withHeader('X Tenant', 'a')).toBe(false);
  });

  it('waits for an answer at least a millisecond', () => {
    expect(isValid('http_api', { ...api, timeout_ms: 0 })).toBe(false);
    expect(isValid('http_api', { ...api, timeout_ms: 1 })).toBe(true);
  });
});

describe('the definition of a transfer', () => {
  it('rings 5 to 120 seconds, 30 if nothing is said', () => {
    const parsed = toolDefinition.parse({ type: 'transfer_call', config: {} });
    expect(parsed.config).toMatchObject({
      destination_source: 'static',
      destination: '',
      messageType: 'none',
      timeout: 30,
    });
    for (const [timeout, valid] of [
      [4, false],
      [5, true],
      [120, true],
      [121, false],
    ] as const)
      expect(isValid('transfer_call', { timeout })).toBe(valid);
  });

  it('is not announced to the destination unless its author sets that', () => {
    const parsed = (warm: unknown) =>
      toolDefinition.parse({ type: 'transfer_call', config: { warm } }).config;
    expect(parsed(undefined)).toMatchObject({ warm: null });
    expect(parsed(null)).toMatchObject({ warm: null });
    expect(parsed({ message: 'A call.' })).toMatchObject({
      warm: {
        message: 'A call.',
        accept: 'key',
        refuse_key: '*',
        timeout: 15,
        caller_hears: 'music',
        if_unsupported: 'fail',
      },
    });
  });

  it('by a resolver has one, which answers within half a second to five', () => {
    const dynamic = { destination_source: 'dynamic' };
    const resolver = { type: 'http', url: 'https://crm.example.com/where' };
    expect(isValid('transfer_call', dynamic)).toBe(false);
    expect(isValid('transfer_call', { ...dynamic, resolver })).toBe(true);
    for (const timeoutMs of [499, 5_001])
      expect(
        isValid('transfer_call', { ...dynamic, resolver: { ...resolver, timeout_ms: timeoutMs } }),
      ).toBe(false);
  });

  it('by the context has 1 to 20 rules of 1 to 100 routes, no value twice in any case', () => {
    const route = (contextValue: string) => ({
      context_value: contextValue,
      destination: '+15550100',
    });
    const mapped = (...rules: object[]) =>
      isValid('transfer_call', {
        destination_source: 'context_mapping',
        context_mapping: { rules },
      });
    const rule = (...values: string[]) => ({
      context_path: 'initial_context.language',
      routes: values.map(route),
    });
    expect(mapped(rule('en', 'ar'))).toBe(true);
    expect(mapped(rule('en', 'EN'))).toBe(false);
    expect(mapped(rule())).toBe(false);
    expect(mapped()).toBe(false);
    expect(mapped(...Array.from({ length: 21 }, () => rule('en')))).toBe(false);
    expect(mapped(rule(...Array.from({ length: 101 }, (_, index) => String(index))))).toBe(false);
    expect(isValid('transfer_call', { destination_source: 'context_mapping' })).toBe(false);
    // As older clients send it where nothing is mapped.
    const none = { rules: null, context_path: null, routes: null, fallback_destination: null };
    expect(isValid('transfer_call', { destination: '+1', context_mapping: none })).toBe(true);
    const unmapped = { destination_source: 'context_mapping', context_mapping: none };
    expect(isValid('transfer_call', unmapped)).toBe(false);
    // Without those nulls, rules were forgotten.
    expect(isValid('transfer_call', { destination: '+1', context_mapping: {} })).toBe(false);
  });
});

describe('the definition of an MCP server', () => {
  it('keeps no functions that a client claims to have discovered', () => {
    const config = { url: 'https://mcp.example.com/', discovered_tools: [{ name: 'x' }] };
    expect(isValid('mcp', { url: config.url })).toBe(true);
    expect(toolDefinition.parse({ type: 'mcp', config }).config).toEqual({
      transport: 'streamable_http',
      url: 'https://mcp.example.com/',
      credential_uuid: null,
      tools_filter: [],
      timeout_secs: 30,
      sse_read_timeout_secs: 300,
      discovered_tools: [],
    });
  });
});

describe('any JSON', () => {
  it('is a definition or is not, and a parsed one parses to itself', () => {
    const config = fc.record(
      {
        method: fc.constantFrom('get', 'POST', 'x'),
        url: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()),
        parameters: fc.jsonValue(),
        timeout_ms: fc.integer(),
        messageType: fc.constantFrom('none', 'custom', null),
        context_mapping: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const type = fc.constantFrom('http_api', 'end_call', 'transfer_call', 'calculator', 'mcp');
    fc.assert(
      fc.property(type, fc.oneof(config, fc.jsonValue()), (type, config) => {
        const { success, data } = toolDefinition.safeParse({ type, config });
        if (success) expect(toolDefinition.parse(data)).toEqual(data);
      }),
    );
  });
});
