import Fastify from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { probeRoutes } from '../../src/api/health/probe-routes.ts';
import type { Api } from '../../src/api/http/api-deps.ts';
import { JsonThread } from '../../src/api/http/json-thread.ts';
import { buildServer } from '../../src/api/server.ts';
import { PUBLIC_URL, smallWorkflow, withApi } from './served.ts';

const served = withApi();
const { call, ok } = served;

describe('every request', () => {
  it('is answered with and without a slash at the end of its path, without a redirect', async () => {
    for (const path of ['/api/v1/health', '/api/v1/health/', '/api/v1/user/api-keys/']) {
      expect((await call('GET', path)).status, path).toBe(200);
    }
  });

  it('answers 404 for an unknown path, and 405 for an unknown method', async () => {
    const unknown = await call('GET', '/api/v1/nothing');
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { detail: 'Not Found', code: 'PATH_NOT_FOUND' },
    ]);
    const wrong = await call('PATCH', '/api/v1/workflow/fetch/');
    expect([wrong.status, wrong.body]).toEqual([
      405,
      { detail: 'Method Not Allowed', code: 'METHOD_NOT_ALLOWED' },
    ]);
    expect(wrong.headers['allow']).toContain('GET');
    expect((await call('GET', '/api/v1/%zz')).body).toEqual({
      detail: expect.any(String),
      code: 'BAD_REQUEST',
    });
  });

  it('carries a request id back', async () => {
    expect((await call('GET', '/api/v1/health')).headers['x-request-id']).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  it('may come from any origin, without credentials', async () => {
    const headers = { origin: 'https://app.example.com' };
    const plain = await call('GET', '/api/v1/health', { headers });
    expect(plain.headers['access-control-allow-origin']).toBe('*');
    expect(plain.headers['access-control-allow-credentials']).toBeUndefined();
    const preflight = await call('OPTIONS', '/api/v1/workflow/fetch', {
      headers: {
        ...headers,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-api-key',
      },
      key: null,
    });
    expect(preflight.status).toBe(200);
    expect(preflight.headers['access-control-allow-methods']).toContain('PUT');
    expect(preflight.headers['access-control-allow-headers']).toBe('x-api-key');
  });

  it('may have unknown keys', async () => {
    expect(await ok('POST', '/user/api-keys', { name: 'a', scopes: ['all'] })).toMatchObject({
      name: 'a',
    });
  });

  it.each(['text/plain', 'application/xml'])(
    'with a body of type %s is refused, since it is no object',
    async (type) => {
      const { status, body } = await call('POST', '/api/v1/user/api-keys', {
        body: '{"name":"a"}',
        headers: { 'content-type': type },
      });
      expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([
        422,
        'model_attributes_type',
        ['body'],
      ]);
    },
  );

  it.each([
    ['GET', '/user/service-keys'],
    ['GET', '/organizations/billing/account'],
    ['GET', '/organizations/usage/mps-credits'],
    ['POST', '/superuser/impersonate'],
    ['GET', '/superuser/workflow-runs'],
  ] as const)(
    'for what only the vendor of the reference has is 404: %s %s',
    async (method, path) => {
      const { status, body } = await call(method, `/api/v1${path}`);
      expect([status, body]).toEqual([404, { detail: 'Not Found', code: 'PATH_NOT_FOUND' }]);
    },
  );

  it('that is not JSON is refused with the position of the fault', async () => {
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await call('POST', '/api/v1/user/api-keys', {
      body: '{"a":',
      headers,
    });
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      expect.objectContaining({ type: 'json_invalid', loc: ['body', expect.any(Number)] }),
    ]);
  });

  it('without a body is refused with what is missing', async () => {
    const { status, body } = await call('POST', '/api/v1/user/api-keys');
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
    ]);
  });

  it('may name a type for a body that is not there', async () => {
    const { id } = await ok('POST', '/workflow/create/definition', {
      name: 'a',
      workflow_definition: smallWorkflow,
    });
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      const answer = await call('POST', `/api/v1/workflow/${id}/create-draft`, { headers });
      expect(answer.status, type).toBe(200);
    }
  });

  it('with a body that is too large or nested too deep is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    const large = await call('POST', '/api/v1/user/api-keys', {
      body: JSON.stringify({ name: 'x'.repeat(3_000_000) }),
      headers,
    });
    expect([large.status, large.body]).toEqual([
      413,
      { detail: 'Request body is too large', code: 'BODY_OVERSIZED' },
    ]);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect((await call('POST', '/api/v1/user/api-keys', { body: deep, headers })).status).toBe(422);
  });

  it('with a large body gets the same answer as with a small one', async () => {
    const headers = { 'content-type': 'application/json' };
    const inThread = vi.spyOn(JsonThread.prototype, 'read');
    for (const text of ['{"name":"a"}', '{"name":5}', '{"name":"a"', '["__proto__"]']) {
      const answers = [100, 70_000].map((bytes) => {
        const body = text.padStart(bytes, ' ');
        return call('POST', '/api/v1/user/api-keys', { body, headers });
      });
      const [small, large] = await Promise.all(answers);
      expect(large?.status, text).toBe(small?.status);
      const faults = [small, large].map((answer) => answer?.body.detail?.[0]?.type);
      expect(faults[1], text).toBe(faults[0]);
      expect(large?.body.name, text).toBe(small?.body.name);
    }
    expect(inThread).toHaveBeenCalledTimes(4);
    inThread.mockRestore();
  });

  it('with a body of very many values is refused before it is parsed', async () => {
    const members = Array.from({ length: 170_000 }, (_, i) => `"k${i}":1`);
    const body = `{${members.join()}`; // No JSON: a parser would say so.
    const headers = { 'content-type': 'application/json' };
    const keyed = await call('POST', '/api/v1/user/api-keys', { body, headers });
    expect([keyed.status, keyed.body]).toEqual([
      413,
      { detail: 'The body holds more than 25000 values', code: 'BODY_VALUES' },
    ]);
    for (const path of ['/api/v1/auth/login', '/api/v1/auth/signup']) {
      const answer = await call('POST', path, { body, headers, key: null });
      expect([answer.status, answer.body]).toEqual([
        413,
        { detail: 'Request body is too large', code: 'BODY_OVERSIZED' },
      ]);
    }
  });

  it('to an unknown path, or without a key, is refused without its body being read', async () => {
    const headers = { 'content-type': 'application/json' };
    const asked = { body: '{"no JSON', headers, key: null };
    expect((await call('POST', '/api/v1/nothing', asked)).status).toBe(404);
    expect((await call('POST', '/nothing', asked)).status).toBe(404);
    expect((await call('PATCH', '/api/v1/health', asked)).status).toBe(405);
    expect((await call('POST', '/api/v1/user/api-keys', asked)).status).toBe(401);
    const origin = { ...headers, origin: 'https://app.example.com' };
    const answer = await call('POST', '/api/v1/nothing', { ...asked, headers: origin });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  it('with a form of very many fields is read no further than the first of them', async () => {
    const body = `name=first&${'a=1&'.repeat(600)}name=last`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await call('POST', '/api/v1/user/api-keys', { body, headers });
    expect([answer.status, answer.body.name]).toEqual([200, 'first']);
  });

  it.each([
    ['{"name":"x","__proto__":{"polluted":true},"workflow_definition":{"__proto__":{"a":1}}}'],
    [String.raw`{"name":"x","workflow_definition":{"\u005f_prot\u006f__":{"a":1},"b":1}}`],
  ])('cannot set a prototype: %s', async (body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await call('POST', '/api/v1/workflow/create/definition', { body, headers });
    expect(answer.status).toBe(200);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(answer.text).not.toContain('"a":1');
  });

  it('that fails for a reason of ours is answered as JSON and logged with its id', async () => {
    await served.test.sql('alter table api_keys rename to hidden_keys');
    const answer = await call('GET', '/api/v1/user/api-keys').finally(() =>
      served.test.sql('alter table hidden_keys rename to api_keys'),
    );
    expect([answer.status, answer.body]).toEqual([
      500,
      { detail: 'Internal Server Error', code: 'INTERNAL_ERROR' },
    ]);
    const line = served.test.lines().findLast(({ msg }) => msg === 'request failed');
    expect(line).toMatchObject({ requestId: answer.headers['x-request-id'] });
  });
});

describe('credentials', () => {
  const path = '/api/v1/user/api-keys';
  const refused = async (headers: Record<string, string>) => {
    const { status, body } = await call('GET', path, { key: null, headers });
    return [status, body.detail];
  };

  it('are needed', async () => {
    expect(await refused({})).toEqual([
      401,
      'Authorization header required. Send an API key in X-API-Key, or a token in Authorization',
    ]);
  });

  it('may come as X-API-Key, as a bearer token, or as a bare token', async () => {
    const { apiKey } = served.test;
    for (const headers of [
      { 'x-api-key': apiKey },
      { authorization: `Bearer ${apiKey}` },
      { authorization: `bearer ${apiKey}` },
      { authorization: apiKey },
    ]) {
      expect((await call('GET', path, { key: null, headers })).status).toBe(200);
    }
  });

  it('in X-API-Key are the only ones tried', async () => {
    const headers = { 'x-api-key': 'wrong', authorization: `Bearer ${served.test.apiKey}` };
    expect(await refused(headers)).toEqual([401, 'Invalid or expired API key']);
    expect(await refused({ 'x-api-key': '' })).toEqual([401, 'Invalid or expired API key']);
  });

  it('that are wrong are refused', async () => {
    expect(await refused({ authorization: 'Bearer wrong' })).toEqual([
      401,
      'Invalid or expired token',
    ]);
    expect(await refused({ authorization: 'Bearer ' })).toEqual([401, 'Invalid or expired token']);
  });

  it('are asked for before anything else about a request', async () => {
    const { status } = await call('POST', '/api/v1/workflow/x/publish', { key: null, body: {} });
    expect(status).toBe(401);
  });

  it('stop working when the key is archived and work again when it is reactivated', async () => {
    const { id, api_key: key, ...created } = await ok('POST', '/user/api-keys', { name: 'CI' });
    expect(created).toEqual({
      name: 'CI',
      key_prefix: key.slice(0, 8),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await call('GET', path, { key })).status).toBe(200);
    expect(await ok('DELETE', `/user/api-keys/${id}`)).toMatchObject({ success: true });
    expect((await call('GET', path, { key })).status).toBe(401);
    const listed = await ok('GET', '/user/api-keys');
    expect(listed.map((each: { id: string }) => each.id)).not.toContain(id);
    const all = await ok('GET', '/user/api-keys?include_archived=true');
    expect(all.find((each: { id: string }) => each.id === id)).toEqual({
      id,
      name: 'CI',
      key_prefix: key.slice(0, 8),
      is_active: false,
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      archived_at: expect.any(String),
    });
    expect(await ok('PUT', `/user/api-keys/${id}/reactivate`)).toMatchObject({ success: true });
    expect((await call('GET', path, { key })).status).toBe(200);
  });

  it('of another organization are not found', async () => {
    const stranger = await served.stranger();
    const { body } = await call('GET', path, { key: stranger.apiKey });
    for (const [method, tail] of [
      ['DELETE', ''],
      ['PUT', '/reactivate'],
    ] as const) {
      const { status, body: fault } = await call(method, `${path}/${body[0].id}${tail}`);
      expect([status, fault.detail]).toEqual([404, 'API key not found']);
    }
  });
});

describe('ids', () => {
  it('are unknown in a path if they are no digits', async () => {
    for (const id of ['abc', '1.5', '-1', '9'.repeat(200)]) {
      const { status, body } = await call('GET', `/api/v1/workflow/fetch/${id}`);
      const shown = id.slice(0, id === '9'.repeat(200) ? 200 : 64);
      expect([status, body.detail]).toEqual([404, `Workflow with id ${shown} not found`]);
    }
  });

  it('that nothing has are not found, however large', async () => {
    for (const id of ['0', '-1', '999999', '9'.repeat(30)]) {
      const { status, body } = await call('GET', `/api/v1/workflow/fetch/${id}`);
      expect([status, body]).toEqual([
        404,
        { detail: `Workflow with id ${id} not found`, code: 'WORKFLOW_NOT_FOUND' },
      ]);
    }
  });

  it('are taken as strings and numbers, and given as strings', async () => {
    const { id } = await ok('POST', '/workflow/create/definition', {
      name: 'a',
      workflow_definition: smallWorkflow,
    });
    expect(id).toMatch(/^\d+$/);
    for (const value of [Number(id), id]) {
      await ok('POST', '/public/agent/any', {
        phone_number: '+1',
        telephony_configuration_id: value,
      });
      expect(served.callService.started.at(-1)?.configurationId).toBe(id);
    }
  });
});

describe('the service', () => {
  it('reports its health with every field of the contract', async () => {
    expect((await call('GET', '/api/v1/health', { key: null })).body).toEqual({
      status: 'ok',
      version: '1.2.3',
      backend_api_endpoint: PUBLIC_URL,
      tunnel_url: null,
      deployment_mode: 'oss',
      auth_provider: 'local',
      turn_enabled: false,
      force_turn_relay: false,
      signup_enabled: true,
      stack_project_id: null,
      stack_publishable_client_key: null,
    });
  });

  it('shows its metrics without a key, requests among them', async () => {
    await call('GET', '/api/v1/health');
    const { status, text, headers } = await call('GET', '/metrics', { key: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain('patchbay_request_seconds_count{route="/api/v1/health",status="2xx"}');
  });

  it('answers probes without a key, with the reasons if it is not ready', async () => {
    expect(await call('GET', '/live', { key: null })).toMatchObject({ status: 200 });
    const ready = await call('GET', '/ready', { key: null });
    expect(ready).toMatchObject({ status: 200, body: { status: 'ready', reasons: [] } });
    const api = Fastify();
    probeRoutes(api as unknown as Api, { notReady: () => ['draining'] });
    const { statusCode, body } = await api.inject({ method: 'GET', url: '/ready' });
    expect(statusCode).toBe(503);
    expect(JSON.parse(body)).toEqual({ status: 'not ready', reasons: ['draining'] });
  });

  it('shows its documentation', async () => {
    expect((await call('GET', '/docs', { key: null })).status).toBe(200);
    expect((await call('GET', '/docs/json', { key: null })).status).toBe(200);
  });
});

describe('a server that closes', () => {
  it('finishes a request that is under way', async () => {
    const api = await buildServer(served.deps);
    const url = await api.listen({ host: '127.0.0.1', port: 0 });
    served.callService.hold();
    const answer = fetch(`${url}/api/v1/telephony/inbound/run`, {
      method: 'POST',
    });
    await served.callService.asked();
    const closed = api.close();
    served.callService.release();
    expect((await answer).status).toBe(200);
    await closed;
    await expect(fetch(`${url}/api/v1/health`)).rejects.toThrow();
  });
});

describe('where pages of named origins are allowed', () => {
  const listed = withApi(() => ({ corsOrigins: ['https://app.example.com'] }));
  const from = (origin: string) =>
    listed.call('GET', '/api/v1/user/api-keys', { key: null, headers: { origin } });

  it('they may send credentials, and read what is refused', async () => {
    const { status, headers } = await from('https://app.example.com');
    expect(status).toBe(401);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-credentials': 'true',
    });
  });

  it('others may not', async () => {
    const { headers } = await from('https://elsewhere.example.com');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});
