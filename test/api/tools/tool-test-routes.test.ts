// Tools that are tried out. Source: contract §10.1, §8.7.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { credentialHeadersFrom } from '../../../src/call/session/dialogue/tool-request.ts';
import { createGuardedHttp } from '../../../src/egress/guarded-http.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { withApi } from '../served.ts';

const SECRET = 'the-secret-of-the-credential';
const outside = createGuardedHttp(openSignUpEgress('127.0.0.1'));
const served = withApi(({ store }) => ({
  toolRequests: { outside, credentialHeaders: credentialHeadersFrom(store), clock: systemClock },
}));
const { call, ok } = served;
let crm: RestServer;

beforeAll(async () => {
  crm = await startRestServer();
});
beforeEach(() => {
  crm.asked.length = 0;
  crm.answer = { status: 200, body: { name: 'Ana' } };
});
afterAll(async () => {
  await Promise.all([outside.close(), crm.close()]);
});

const parameter = (name: string, more = {}) => ({
  name,
  type: 'string',
  description: name,
  ...more,
});

async function made(config: object, type = 'http_api'): Promise<string> {
  return (await ok('POST', '/tools/', { name: 'Tool', definition: { type, config } })).tool_uuid;
}

async function tried(config: object, body: unknown = {}) {
  return ok('POST', `/tools/${await made(config)}/test`, body);
}

describe('a tool that is tried out', () => {
  it('makes its request once and shows it with the answer', async () => {
    const credential = await ok('POST', '/credentials/', {
      name: 'CRM',
      credential_type: 'bearer_token',
      credential_data: { token: SECRET },
    });
    const answer = await tried(
      {
        method: 'POST',
        url: `${crm.url}/customers/{{id}}`,
        headers: { 'X-Tenant': 'north', authorization: 'replaced' },
        credential_uuid: credential.uuid,
        parameters: [parameter('id')],
        preset_parameters: [
          { name: 'agent', type: 'string', value_template: 'Front desk' },
          { name: 'caller', type: 'string', value_template: '{{caller_number}}' },
        ],
      },
      { llm_params: { id: 'a/b', other: 1 }, preset_params: { caller: '+15550100' } },
    );
    const body = { id: 'a/b', agent: 'Front desk', caller: '+15550100' };
    expect(answer).toEqual({
      status: 'success',
      status_code: 200,
      data: { name: 'Ana' },
      error: null,
      hint: null,
      request_method: 'POST',
      request_url: `${crm.url}/customers/a%2Fb`,
      request_headers: {
        'Content-Type': 'application/json',
        'X-Tenant': '***',
        authorization: '***',
      },
      request_body: body,
      request_params: null,
      duration_ms: expect.any(Number),
    });
    expect(crm.asked).toHaveLength(1);
    expect(crm.asked[0]).toMatchObject({
      method: 'POST',
      path: '/customers/a%2Fb',
      headers: { authorization: `Bearer ${SECRET}`, 'x-tenant': 'north' },
    });
    expect(JSON.parse(crm.asked[0]?.body ?? '')).toEqual(body);
  });

  it('puts arguments of a GET into the query', async () => {
    const parameters = [parameter('day'), parameter('filter', { type: 'object' })];
    const llmParams = { day: 'next monday', filter: { open: true } };
    const answer = await tried(
      { method: 'GET', url: crm.url, parameters },
      { llm_params: llmParams },
    );
    expect(answer).toMatchObject({
      request_body: null,
      request_params: { day: 'next monday', filter: '{"open":true}' },
    });
    expect(crm.asked[0]?.path).toBe('/?day=next%20monday&filter=%7B%22open%22%3Atrue%7D');
  });

  it('fails with any status but 2xx, shows the answer, and names what to check', async () => {
    for (const [status, hint] of [
      [302, /Redirects are not followed/],
      [401, /credential/],
      [404, /path/],
      [409, null],
      [500, null],
    ] as const) {
      crm.answer = { status, body: { no: true } };
      const answer = await tried({ method: 'GET', url: crm.url });
      expect(answer).toMatchObject({ status: 'error', status_code: status, data: { no: true } });
      expect(answer.error).toContain(`(status ${status})`);
      if (hint === null) expect(answer.hint).toBeNull();
      else expect(answer.hint).toMatch(hint);
    }
  });
});

describe('an error of a tool under test is worded for', () => {
  const failed = async (config: object, body: unknown = {}) => {
    const answer = await tried({ method: 'GET', url: crm.url, ...config }, body);
    expect(answer).toMatchObject({ status: 'error', status_code: null, data: null });
    expect(answer.hint).toEqual(expect.any(String));
    return answer.error;
  };

  it('arguments that are missing or wrong', async () => {
    const parameters = [parameter('day'), parameter('count', { type: 'number' })];
    const presetParameters = [
      { name: 'caller', type: 'string', value_template: '{{caller_number}}' },
    ];
    expect(await failed({ parameters }, { llm_params: { count: 'x' } })).toBe(
      'The arguments are invalid: day is required; count must be of the type number',
    );
    expect(await failed({ preset_parameters: presetParameters })).toBe(
      'The arguments are invalid: caller is empty',
    );
    expect(crm.asked).toHaveLength(0);
  });

  it('an address that is out of reach', async () => {
    expect(await failed({ url: 'http://10.0.0.1/' })).toMatch(/must not be called/);
    expect(await failed({ url: 'http://169.254.169.254/latest' })).toMatch(/must not be called/);
  });

  it('a credential that is gone', async () => {
    const credentialUuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
    expect(await failed({ credential_uuid: credentialUuid })).toBe('Credential not found');
    expect(crm.asked).toHaveLength(0);
  });

  it('a server that is silent', async () => {
    crm.answer = 'hang';
    expect(await failed({ timeout_ms: 30 })).toMatch(/Not finished in 30 ms/);
  });

  it('a server that breaks off', async () => {
    crm.answer = 'reset';
    expect(await failed({})).toMatch(/^The server of the tool could not be reached: /);
  });
});

describe('a tool that cannot be tried out', () => {
  it('is one of another type: 400', async () => {
    const uuid = await made({}, 'end_call');
    const { status, body } = await call('POST', `/api/v1/tools/${uuid}/test`, { body: {} });
    expect([status, body.detail]).toEqual([
      400,
      'Only tools of the type http_api can be tested, this is one of the type end_call',
    ]);
  });

  it('is one that is not there: 404', async () => {
    const path = '/api/v1/tools/0f8fad5b-d9cb-469f-a165-70867728950e/test';
    const { status, body } = await call('POST', path, { body: {} });
    expect([status, body]).toEqual([404, { detail: 'Tool not found', code: 'TOOL_NOT_FOUND' }]);
  });
});
