// What tools and credentials are refused for beyond their schemas, which request-rules/refusals.test.ts tries. Source:
// contract §10.1 and §10.2.

import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
type Loc = (string | number)[];

const api = { method: 'GET', url: 'https://crm.example.com/' };
async function answer(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) {
  const { status, body: told } = await call(method, `/api/v1${path}`, { body });
  return [status, told?.detail];
}
describe('a tool is 422', () => {
  const route = { context_value: 'en', destination: '+15550100' };
  const rule = { context_path: 'initial_context.language', routes: [route] };
  const twice = { ...rule, routes: [route, { ...route, context_value: 'EN' }] };

  it.each<[string, object, string, Loc]>([
    ['http_api', { ...api, method: 'HEAD' }, 'literal_error', ['method']],
    ['http_api', { ...api, url: 'ftp://crm.example.com/' }, 'value_error', ['url']],
    ['transfer_call', { destination: 'bob' }, 'value_error', ['destination']],
    [
      'transfer_call',
      { context_mapping: { rules: [rule], fallback_destination: 'the office' } },
      'value_error',
      ['context_mapping', 'fallback_destination'],
    ],
    ['transfer_call', { warm: { message: ' ' } }, 'string_too_short', ['warm', 'message']],
    [
      'transfer_call',
      { context_mapping: { rules: [twice] } },
      'value_error',
      ['context_mapping', 'rules', 0, 'routes'],
    ],
  ])('of the type %s for %j', async (type, config, fault, loc) => {
    const definition = { type, config };
    expect(await answer('POST', '/tools/', { name: 'n', definition })).toEqual([
      422,
      [
        expect.objectContaining({
          type: fault,
          loc: ['body', 'definition', type, 'config', ...loc],
        }),
      ],
    ]);
  });
});

describe('the destination of a transfer', () => {
  it.each([
    '',
    '+44 (0)20 7946 0018',
    '1001',
    '*98',
    '(415) 555-0144',
    'sip:jo@pbx.example.com',
    'tel:+14155550144',
    'PJSIP/reception',
    '{{office}}',
  ])('may be %j', async (destination) => {
    const definition = { type: 'transfer_call', config: { destination } };
    const stored = await ok('POST', '/tools/', { name: 'n', definition });
    expect(stored.definition.config.destination).toBe(destination);
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
    expect([status, body]).toEqual([400, { detail, code: 'CREDENTIAL_INVALID' }]);
    expect(text).not.toContain(Secret);
    const opened = await served.test.store.credentials.open(served.test.owner.organizationId, uuid);
    expect(opened).toEqual({ type: 'bearer_token', data: { token: Secret } });
  });

  it('have a name that another organization may have too', async () => {
    await ok('POST', '/credentials/', whole);
    const { apiKey: key } = await served.stranger();
    expect((await call('POST', '/api/v1/credentials/', { key, body: whole })).status).toBe(200);
  });
});
