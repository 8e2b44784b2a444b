// What tools and credentials are refused for, row by row. Source: contract §10.1 and §10.2; the bounds of
// every field of a definition are in test/workflow/tools/definition.test.ts.

import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
type Loc = (string | number)[];

const fault = (type: string, ...loc: Loc) => [
  422,
  [expect.objectContaining({ type, loc: ['body', ...loc] })],
];
const api = { method: 'GET', url: 'https://crm.example.com/' };
const parameter = { name: 'day', type: 'string', description: 'The day' };
const route = { context_value: 'en', destination: '+15550100' };
const rule = { context_path: 'initial_context.language', routes: [route] };

async function answer(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) {
  const { status, body: told } = await call(method, `/api/v1${path}`, { body });
  return [status, told?.detail];
}
const create = (body: unknown) => answer('POST', '/tools/', body);
const define = (definition: unknown) => create({ name: 'n', definition });

describe('a tool is 422', () => {
  it.each<[string, unknown, string, Loc]>([
    ['no name', { definition: { type: 'calculator' } }, 'missing', ['name']],
    [
      'an empty name',
      { name: '', definition: { type: 'calculator' } },
      'string_too_short',
      ['name'],
    ],
    [
      'a name of 256',
      { name: 'n'.repeat(256), definition: { type: 'calculator' } },
      'string_too_long',
      ['name'],
    ],
    [
      'a category that there is not',
      { name: 'n', category: 'x', definition: { type: 'calculator' } },
      'literal_error',
      ['category'],
    ],
    [
      'another category than its type',
      { name: 'n', category: 'mcp', definition: { type: 'calculator' } },
      'value_error',
      ['category'],
    ],
    ['no type', { name: 'n', definition: { config: {} } }, 'union_tag_not_found', ['definition']],
    [
      'a type that there is not',
      { name: 'n', definition: { type: 'x' } },
      'union_tag_invalid',
      ['definition'],
    ],
    [
      'the reserved type native',
      { name: 'n', definition: { type: 'native', config: {} } },
      'union_tag_invalid',
      ['definition'],
    ],
    [
      'the reserved type integration',
      { name: 'n', definition: { type: 'integration', config: {} } },
      'union_tag_invalid',
      ['definition'],
    ],
  ])('for %s', async (_what, body, type, loc) => {
    expect(await create(body)).toEqual(fault(type, ...loc));
  });

  it('for a definition that is not there, or no object', async () => {
    expect(await create({ name: 'n' })).toEqual(fault('missing', 'definition'));
    expect(await define('calculator')).toEqual(fault('model_attributes_type', 'definition'));
    expect(await define(null)).toEqual(fault('model_attributes_type', 'definition'));
  });

  it.each<[string, Record<string, unknown>, string, Loc]>([
    ['no method', { method: undefined }, 'missing', ['method']],
    ['a method that there is not', { method: 'HEAD' }, 'literal_error', ['method']],
    ['no address', { url: undefined }, 'missing', ['url']],
    ['an address of another kind', { url: 'ftp://crm.example.com/' }, 'value_error', ['url']],
    ['headers that are a list', { headers: [] }, 'dict_type', ['headers']],
    [
      'a parameter without a name',
      { parameters: [{ ...parameter, name: undefined }] },
      'missing',
      ['parameters', 0, 'name'],
    ],
    [
      'a parameter of another type',
      { parameters: [{ ...parameter, type: 'date' }] },
      'literal_error',
      ['parameters', 0, 'type'],
    ],
    [
      'a parameter without a description',
      { parameters: [{ ...parameter, description: undefined }] },
      'missing',
      ['parameters', 0, 'description'],
    ],
    [
      'a preset without a value',
      { preset_parameters: [{ name: 'a', type: 'string' }] },
      'missing',
      ['preset_parameters', 0, 'value_template'],
    ],
    ['no time', { timeout_ms: 0 }, 'greater_than_equal', ['timeout_ms']],
    [
      'a message of another kind',
      { customMessageType: 'video' },
      'literal_error',
      ['customMessageType'],
    ],
    ['a body that is a list', { body_template: [] }, 'dict_type', ['body_template']],
  ])('of the type http_api for %s', async (_what, more, type, loc) => {
    const definition = { type: 'http_api', config: { ...api, ...more } };
    expect(await define(definition)).toEqual(
      fault(type, 'definition', 'http_api', 'config', ...loc),
    );
  });

  it.each<[string, Record<string, unknown>, string, Loc]>([
    ['end_call', { messageType: 'video' }, 'literal_error', ['messageType']],
    ['end_call', { endCallReason: 'yes' }, 'bool_type', ['endCallReason']],
    ['transfer_call', { destination_source: 'guess' }, 'literal_error', ['destination_source']],
    ['transfer_call', { timeout: 4 }, 'greater_than_equal', ['timeout']],
    ['transfer_call', { timeout: 121 }, 'less_than_equal', ['timeout']],
    ['transfer_call', { resolver: {} }, 'missing', ['resolver', 'url']],
    [
      'transfer_call',
      { resolver: { type: 'sip', url: api.url } },
      'literal_error',
      ['resolver', 'type'],
    ],
    [
      'transfer_call',
      { resolver: { url: api.url, timeout_ms: 499 } },
      'greater_than_equal',
      ['resolver', 'timeout_ms'],
    ],
    [
      'transfer_call',
      { resolver: { url: api.url, timeout_ms: 5_001 } },
      'less_than_equal',
      ['resolver', 'timeout_ms'],
    ],
    ['transfer_call', { warm: {} }, 'missing', ['warm', 'message']],
    ['transfer_call', { warm: { message: ' ' } }, 'string_too_short', ['warm', 'message']],
    [
      'transfer_call',
      { warm: { message: 'x'.repeat(501) } },
      'string_too_long',
      ['warm', 'message'],
    ],
    [
      'transfer_call',
      { warm: { message: 'x', accept: 'wish' } },
      'literal_error',
      ['warm', 'accept'],
    ],
    [
      'transfer_call',
      { warm: { message: 'x', refuse_key: '12' } },
      'string_pattern_mismatch',
      ['warm', 'refuse_key'],
    ],
    [
      'transfer_call',
      { warm: { message: 'x', timeout: 61 } },
      'less_than_equal',
      ['warm', 'timeout'],
    ],
    [
      'transfer_call',
      { warm: { message: 'x', caller_hears: 'silence' } },
      'literal_error',
      ['warm', 'caller_hears'],
    ],
    ['transfer_call', { context_mapping: {} }, 'missing', ['context_mapping', 'rules']],
    [
      'transfer_call',
      { context_mapping: { rules: [] } },
      'too_short',
      ['context_mapping', 'rules'],
    ],
    [
      'transfer_call',
      { context_mapping: { rules: Array(21).fill(rule) } },
      'too_long',
      ['context_mapping', 'rules'],
    ],
    [
      'transfer_call',
      { context_mapping: { rules: [{ ...rule, routes: [] }] } },
      'too_short',
      ['context_mapping', 'rules', 0, 'routes'],
    ],
    [
      'transfer_call',
      { context_mapping: { rules: [{ routes: [route] }] } },
      'missing',
      ['context_mapping', 'rules', 0, 'context_path'],
    ],
    [
      'transfer_call',
      {
        context_mapping: {
          rules: [{ ...rule, routes: [route, { ...route, context_value: 'EN' }] }],
        },
      },
      'value_error',
      ['context_mapping', 'rules', 0, 'routes'],
    ],
    ['mcp', {}, 'missing', ['url']],
    ['mcp', { url: api.url, transport: 'stdio' }, 'literal_error', ['transport']],
  ])('of the type %s for %j', async (type, config, fault_, loc) => {
    expect(await define({ type, config })).toEqual(
      fault(fault_, 'definition', type, 'config', ...loc),
    );
  });

  it('changed to what it cannot be', async () => {
    const { tool_uuid: uuid } = await ok('POST', '/tools/', {
      name: 'n',
      definition: { type: 'http_api', config: api },
    });
    const put = (body: unknown) => answer('PUT', `/tools/${uuid}`, body);
    expect(await put({ name: '' })).toEqual(fault('string_too_short', 'name'));
    expect(await put({ status: 'gone' })).toEqual(fault('literal_error', 'status'));
    expect(
      await put({ definition: { type: 'http_api', config: { ...api, method: 'x' } } }),
    ).toEqual(fault('literal_error', 'definition', 'http_api', 'config', 'method'));
    expect(await put({ definition: { type: 'calculator' } })).toEqual(
      fault('value_error', 'definition', 'type'),
    );
    expect((await ok('GET', `/tools/${uuid}`)).updated_at).toBeNull();
  });
});

describe('what is done to a tool of another organization', () => {
  it('is 404, as if it were not there', async () => {
    const { tool_uuid: uuid } = await ok('POST', '/tools/', {
      name: 'n',
      definition: { type: 'http_api', config: api },
    });
    const { apiKey: key } = await served.stranger();
    for (const [method, more, body] of [
      ['GET', ''],
      ['PUT', '', { name: 'mine' }],
      ['DELETE', ''],
      ['POST', '/unarchive'],
      ['POST', '/mcp/refresh'],
      ['POST', '/test', {}],
    ] as const) {
      const told = await call(method, `/api/v1/tools/${uuid}${more}`, { key, body });
      expect([told.status, told.body], more).toEqual([404, { detail: 'Tool not found' }]);
    }
    expect(await ok('GET', `/tools/${uuid}`)).toMatchObject({ name: 'n', status: 'active' });
  });
});

describe('a trial of a tool', () => {
  it.each(['end_call', 'transfer_call', 'calculator', 'mcp'])(
    'of the type %s is 400: it makes no request of its own',
    async (type) => {
      const config = type === 'mcp' ? { url: api.url } : {};
      const { tool_uuid: uuid } = await ok('POST', '/tools/', {
        name: 'n',
        definition: { type, config },
      });
      expect(await answer('POST', `/tools/${uuid}/test`, {})).toEqual([
        400,
        `Only tools of the type http_api can be tested, this is one of the type ${type}`,
      ]);
    },
  );

  it('is 422 with values that are no object', async () => {
    const { tool_uuid: uuid } = await ok('POST', '/tools/', {
      name: 'n',
      definition: { type: 'http_api', config: api },
    });
    for (const field of ['llm_params', 'preset_params']) {
      expect(await answer('POST', `/tools/${uuid}/test`, { [field]: [] })).toEqual(
        fault('dict_type', field),
      );
    }
  });
});

describe('credentials', () => {
  const Secret = 'the-secret-of-the-credential';
  const whole = {
    name: 'CRM',
    credential_type: 'bearer_token',
    credential_data: { token: Secret },
  };

  it.each<[string, Record<string, unknown>, string]>([
    ['api_key', {}, 'header_name is required; api_key is required'],
    ['bearer_token', { api_key: Secret }, 'token is required'],
    ['basic_auth', { password: Secret }, 'username is required'],
    ['basic_auth', {}, 'username is required; password is required'],
    ['custom_header', { header_value: Secret }, 'header_name is required'],
  ])('of the type %s with %j are 400, when made and when changed', async (type, data, problem) => {
    const detail = `Invalid credential data for ${type}: ${problem}`;
    const wrong = { credential_type: type, credential_data: data };
    expect(await answer('POST', '/credentials/', { ...whole, ...wrong })).toEqual([400, detail]);
    const { uuid } = await ok('POST', '/credentials/', whole);
    const { status, body, text } = await call('PUT', `/api/v1/credentials/${uuid}`, {
      body: wrong,
    });
    expect([status, body]).toEqual([400, { detail }]);
    expect(text).not.toContain(Secret);
    const opened = await served.test.store.credentials.open(served.test.owner.organizationId, uuid);
    expect(opened).toEqual({ type: 'bearer_token', data: { token: Secret } });
  });

  it.each<[string, Record<string, unknown>, string, Loc]>([
    ['no name', { name: undefined }, 'missing', ['name']],
    ['an empty name', { name: '' }, 'string_too_short', ['name']],
    ['no type', { credential_type: undefined }, 'missing', ['credential_type']],
    [
      'a type that there is not',
      { credential_type: 'cookie' },
      'literal_error',
      ['credential_type'],
    ],
    ['no data', { credential_data: undefined }, 'missing', ['credential_data']],
    ['data that are text', { credential_data: Secret }, 'dict_type', ['credential_data']],
  ])('with %s are 422', async (_what, more, type, loc) => {
    expect(await answer('POST', '/credentials/', { ...whole, ...more })).toEqual(
      fault(type, ...loc),
    );
  });

  it('of another organization are 404, and stay as they are', async () => {
    const made = await ok('POST', '/credentials/', whole);
    const { apiKey: key } = await served.stranger();
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'PUT' ? { name: 'mine' } : undefined;
      const told = await call(method, `/api/v1/credentials/${made.uuid}`, { key, body });
      expect([told.status, told.body]).toEqual([404, { detail: 'Credential not found' }]);
    }
    expect(await ok('GET', `/credentials/${made.uuid}`)).toEqual(made);
    // A name is taken in its own organization only.
    const theirs = await call('POST', '/api/v1/credentials/', { key, body: whole });
    expect(theirs.status).toBe(200);
  });
});
