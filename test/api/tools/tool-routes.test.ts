// Tools as clients see them. Source: contract §10.1.

import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok, test } = served;
const moment = expect.stringMatching(/Z$/);
const UNKNOWN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const lookUp = {
  name: 'Look up customer',
  description: 'Finds a customer by number.',
  definition: {
    type: 'http_api',
    config: {
      method: 'get',
      url: 'https://crm.example.com/customers/{{caller_number}}',
      parameters: [{ name: 'number', type: 'string', description: 'The number' }],
    },
  },
};
const sums = { name: 'Sums', category: 'calculator', definition: { type: 'calculator' } };
const at = (uuid: string, more = ''): string => `/tools/${uuid}${more}`;

describe('tools', () => {
  it('are made with every field of the contract', async () => {
    const made = await ok('POST', '/tools/', lookUp);
    expect(made).toEqual({
      id: expect.stringMatching(/^\d+$/),
      tool_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Look up customer',
      description: 'Finds a customer by number.',
      category: 'http_api',
      icon: 'globe',
      icon_color: '#3B82F6',
      status: 'active',
      definition: expect.objectContaining({ schema_version: 1, type: 'http_api' }),
      created_at: moment,
      updated_at: null,
      created_by: { id: test.owner.userId, provider_id: `local_${test.owner.userId}` },
    });
    expect(made.definition.config).toMatchObject({ method: 'GET', timeout_ms: 5_000 });
    expect(await ok('GET', at(made.tool_uuid))).toEqual(made);
  });

  it.each([
    { type: 'end_call', config: { endCallReason: true } },
    { type: 'transfer_call', config: { destination: '+15550100' } },
    { type: 'calculator' },
    { type: 'mcp', config: { url: 'https://mcp.example.com/' } },
  ])('may be of the type $type', async (definition) => {
    const made = await ok('POST', '/tools/', { name: 'n', definition });
    expect(made.category).toBe(definition.type);
  });

  it('have the category of their definition, or are refused: 422', async () => {
    for (const body of [
      { ...lookUp, category: 'calculator' },
      { ...lookUp, category: 'native', definition: { type: 'native', config: {} } },
      { ...lookUp, category: 'integration' },
    ]) {
      expect((await call('POST', '/api/v1/tools/', { body })).status).toBe(422);
    }
    const { body: fault } = await call('POST', '/api/v1/tools/', {
      body: { ...lookUp, category: 'mcp' },
    });
    expect(fault.detail[0]).toMatchObject({
      loc: ['body', 'category'],
      msg: 'Value error, category must be the type of the definition',
    });
  });

  it('whose definition is wrong are refused with the place: 422', async () => {
    const config = { ...lookUp.definition.config, url: 'https://{{host}}/' };
    const body = { ...lookUp, definition: { type: 'http_api', config } };
    const { status, body: fault } = await call('POST', '/api/v1/tools/', { body });
    expect([status, fault.detail[0].loc.at(-1)]).toEqual([422, 'url']);
  });

  it('that are refused have no secret of their headers quoted', async () => {
    for (const header of ['Authorization', 'X-Api-Key', 'x-auth-token']) {
      const config = { url: 'https://crm.example.com/', headers: { [header]: 'the-secret' } };
      const body = { ...lookUp, definition: { type: 'http_api', config } };
      const answer = await call('POST', '/api/v1/tools/', { body });
      expect([answer.status, answer.text.includes('the-secret')], header).toEqual([422, false]);
    }
  });
});

describe('the list of tools', () => {
  it('is ordered by name and leaves archived ones out unless they are asked for', async () => {
    const b = await ok('POST', '/tools/', lookUp);
    const c = await ok('POST', '/tools/', sums);
    const a = await ok('POST', '/tools/', { ...sums, name: 'A' });
    await ok('DELETE', at(c.tool_uuid));
    const names = async (query: string) =>
      (await ok('GET', `/tools/${query}`)).map(({ name }: { name: string }) => name);
    expect(await names('')).toEqual([a.name, b.name]);
    expect(await names('?status=archived')).toEqual(['Sums']);
    expect(await names('?status=active,archived')).toEqual(['A', b.name, 'Sums']);
    expect(await names('?status=draft')).toEqual([]);
    expect(await names('?category=http_api')).toEqual([b.name]);
    expect(await names('?category=calculator')).toEqual(['A']);
  });

  it.each([
    ['status=gone', "Invalid status 'gone'. Must be one of: active, archived, draft"],
    ['status=active,', "Invalid status ''. Must be one of: active, archived, draft"],
    [
      'category=http',
      "Invalid category 'http'. Must be one of: http_api, end_call, transfer_call, calculator, mcp, collect_digits, switch_language, transfer_agent, native, integration",
    ],
  ])('of an unknown filter %s is 400', async (query, detail) => {
    const { status, body } = await call('GET', `/api/v1/tools/?${query}`);
    expect([status, body]).toEqual([400, { detail, code: 'TOOL_FILTER_UNKNOWN' }]);
  });
});

describe('a tool', () => {
  it('changes in what is sent and keeps the rest', async () => {
    const made = await ok('POST', '/tools/', lookUp);
    test.clock.advance(1_000);
    const changed = await ok('PUT', at(made.tool_uuid), { name: 'Find', icon: null });
    expect(changed).toEqual({ ...made, name: 'Find', icon: null, updated_at: moment });
    const definition = {
      ...lookUp.definition,
      config: { method: 'POST', url: 'http://a.example' },
    };
    const again = await ok('PUT', at(made.tool_uuid), { definition, status: 'draft' });
    expect(again).toMatchObject({ name: 'Find', status: 'draft' });
    expect(again.definition.config).toMatchObject({ method: 'POST', parameters: [] });
  });

  it('shows secret headers masked, and keeps them when the mask comes back', async () => {
    const headers = { 'X-Api-Key': 'the-key-of-the-crm', accept: 'application/json' };
    const config = { ...lookUp.definition.config, headers };
    const made = await ok('POST', '/tools/', {
      ...lookUp,
      definition: { type: 'http_api', config },
    });
    const mask = '**************-crm';
    const shown = { 'X-Api-Key': mask, accept: 'application/json' };
    expect(made.definition.config.headers).toEqual(shown);
    const stored = async () =>
      (await test.store.tools.get(test.owner.organizationId, made.tool_uuid))?.definition['config'];
    const put = async (key: string) => {
      const changed = { ...made.definition.config, headers: { ...headers, 'X-Api-Key': key } };
      const definition = { type: 'http_api', config: changed };
      return (await ok('PUT', at(made.tool_uuid), { definition })).definition.config.headers;
    };
    expect(await put(mask)).toEqual(shown);
    expect(await stored()).toMatchObject({ headers });
    await put('another-key');
    expect(await stored()).toMatchObject({ headers: { 'X-Api-Key': 'another-key' } });
  });

  it('keeps its type: 422', async () => {
    const made = await ok('POST', '/tools/', lookUp);
    const { status, body } = await call('PUT', `/api/v1/tools/${made.tool_uuid}`, { body: sums });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'definition', 'type']]);
  });

  it('is archived by its deletion and comes back', async () => {
    const { tool_uuid: uuid } = await ok('POST', '/tools/', lookUp);
    expect(await ok('DELETE', at(uuid))).toEqual({ status: 'archived', tool_uuid: uuid });
    expect(await ok('DELETE', at(uuid))).toEqual({ status: 'archived', tool_uuid: uuid });
    expect(await ok('GET', at(uuid))).toMatchObject({ status: 'archived' });
    expect(await ok('POST', at(uuid, '/unarchive'))).toMatchObject({ status: 'active' });
    expect(await ok('POST', at(uuid, '/unarchive'))).toMatchObject({ status: 'active' });
  });

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/unarchive'],
    ['POST', '/mcp/refresh'],
  ] as const)('that is not there is 404: %s %s', async (method, more) => {
    const body = method === 'PUT' ? {} : undefined;
    const answer = await call(method, `/api/v1${at(UNKNOWN, more)}`, { body });
    expect([answer.status, answer.body]).toEqual([
      404,
      { detail: 'Tool not found', code: 'TOOL_NOT_FOUND' },
    ]);
  });

  it('that is an MCP server has no functions to be read, others none at all', async () => {
    const definition = { type: 'mcp', config: { url: 'https://mcp.example.com/' } };
    const server = await ok('POST', '/tools/', { name: 'Server', definition });
    const refresh = (uuid: string) => call('POST', `/api/v1${at(uuid, '/mcp/refresh')}`);
    const refused = await refresh(server.tool_uuid);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      'This gateway stores MCP servers but does not call them: use an http_api tool instead',
    ]);
    const { tool_uuid: uuid } = await ok('POST', '/tools/', sums);
    expect((await refresh(uuid)).status).toBe(400);
  });
});
