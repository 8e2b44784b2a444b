// Requests of tools. Source: contract §8.7.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  sendToolRequest,
  type ToolRequestDeps,
} from '../../../../src/call/session/dialogue/tool-request.ts';
import { createGuardedHttp } from '../../../../src/egress/guarded-http.ts';
import { codeOf, GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { ToolRequest } from '../../../../src/workflow/tools/tool-request-builder.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { type RestServer, startRestServer } from '../../../telephony/provider/rest-server.ts';

const outside = createGuardedHttp();
let server: RestServer;
let clock: FakeClock;
let abort: AbortController;

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
  server.answer = { status: 200, body: {} };
  clock = new FakeClock();
  abort = new AbortController();
});
afterAll(async () => {
  await Promise.all([outside.close(), server.close()]);
});

function send(more: Partial<ToolRequest> = {}, by: Partial<ToolRequestDeps> = {}) {
  const request = {
    method: 'GET',
    url: server.url,
    headers: {},
    body: null,
    credentialUuid: null,
    timeoutMs: 5_000,
    ...more,
  };
  const credentialHeaders = () => Promise.reject(new GatewayError('CREDENTIAL_NOT_FOUND'));
  const deps = { outside, credentialHeaders, clock, ...by };
  return sendToolRequest(deps, { organizationId: '1', request }, abort.signal);
}

const answering = (text: string): Partial<ToolRequestDeps> => ({
  outside: { send: async () => ({ status: 200, text }) },
});

describe('a request of a tool', () => {
  it('shows the credential in the place of a header of its name', async () => {
    const asked: string[][] = [];
    const credentialHeaders = async (...names: string[]) => {
      asked.push(names);
      return { ['Authorization']: 'Bearer of the credential' };
    };
    const headers = { authorization: 'own', ['X-Tenant']: 'north' };
    await send({ headers, credentialUuid: 'c' }, { credentialHeaders });
    expect(asked).toEqual([['1', 'c']]);
    expect(server.asked[0]?.headers).toMatchObject({
      authorization: 'Bearer of the credential',
      'x-tenant': 'north',
    });
  });

  it('has an answer whatever its status is', async () => {
    server.answer = { status: 503, body: { busy: true } };
    expect(await send()).toEqual({ status: 503, data: { busy: true } });
  });

  it('gives JSON as it is, other text as text, and nothing as null', async () => {
    const dataOf = async (text: string) => (await send({}, answering(text))).data;
    expect(await dataOf('[1]')).toEqual([1]);
    expect(await dataOf('null')).toBeNull();
    expect(await dataOf('<p>')).toBe('<p>');
    expect(await dataOf('')).toBeNull();
  });

  it('ends after its time', async () => {
    server.answer = 'hang';
    const arrived = server.next();
    const answer = send({ timeoutMs: 700 });
    await arrived;
    clock.advance(700);
    await expect(answer).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it.each([
    ['its time', 'TIMED_OUT', () => clock.advance(700)],
    ['the call', undefined, () => abort.abort(new Error('the call is over'))],
  ])('ends after %s while its credential is looked up', async (_what, code, end) => {
    const credentialHeaders = () => new Promise<never>(() => undefined);
    const answer = send({ credentialUuid: 'c', timeoutMs: 700 }, { credentialHeaders });
    let error: unknown;
    answer.catch((failure: unknown) => {
      error = failure;
    });
    end();
    await settle();
    expect([codeOf(error), error]).toEqual([code, expect.any(Error)]);
    expect(server.asked).toEqual([]);
  });

  it('ends with the call, as the call does', async () => {
    server.answer = 'hang';
    const arrived = server.next();
    const answer = send();
    await arrived;
    const reason = new Error('the call is over');
    abort.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect(send()).rejects.toBe(reason);
  });

  it('that fails says so without its address', async () => {
    const url = 'http://127.0.0.1:1/?key=the-secret';
    const error: unknown = await send({ url }).then(undefined, (failure: unknown) => failure);
    expect([codeOf(error), String(error)]).toEqual([
      'TOOL_UNREACHABLE',
      expect.not.stringContaining('the-secret'),
    ]);
    await expect(send({ credentialUuid: 'gone' })).rejects.toMatchObject({
      code: 'CREDENTIAL_NOT_FOUND',
    });
  });
});
