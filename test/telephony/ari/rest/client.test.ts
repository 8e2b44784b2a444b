// Requests to Asterisk's REST interface: what is sent, what an answer means, and which failure is which.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AriAnswer,
  type AriRequest,
  type AriRequestTransport,
  ariFaultOf,
  createAriClient,
  httpTransport,
  isAriNotFound,
  isRepeatable,
} from '../../../../src/telephony/ari/rest/client.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import { createRest } from '../../../../src/telephony/provider/rest-client.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { type RestServer, startRestServer } from '../../provider/rest-server.ts';

const patient = new AbortController().signal;
const look: AriRequest = { action: 'look', method: 'GET', path: 'channels/x' };
const dial: AriRequest = { action: 'dial', method: 'POST', path: 'channels' };
const shape = z.object({ id: z.string() });

function answering(answer: AriAnswer) {
  const asked: AriRequest[] = [];
  const carrier: AriRequestTransport = {
    send: (request) => {
      asked.push(request);
      return Promise.resolve(answer);
    },
  };
  return { client: createAriClient(() => carrier), asked };
}

describe('an answer', () => {
  it.each([200, 204, 404, 500])('of status %i is one to who asks for any', async (status) => {
    const { client } = answering({ status, body: undefined });
    expect(await client.send(look, patient)).toEqual({ status, body: undefined });
  });

  it('is read where its content matters', async () => {
    const { client, asked } = answering({ status: 200, body: { id: 'x', more: 1 } });
    expect(await client.get(look, shape, patient)).toEqual({ id: 'x' });
    expect(asked).toEqual([look]);
  });

  it('may have no content where it does not', async () => {
    await answering({ status: 204, body: undefined }).client.run(dial, patient);
  });

  it.each([199, 301, 404])('of status %i is none to who needs its content', async (status) => {
    const { client } = answering({ status, body: { id: 'x' } });
    await expect(client.get(look, shape, patient)).rejects.toMatchObject({
      code: 'PROVIDER_REFUSED',
    });
    await expect(client.run(look, patient)).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' });
  });

  it('that cannot be read leaves open what a POST has done', async () => {
    const { client } = answering({ status: 200, body: { id: 7 } });
    await expect(client.get(look, shape, patient)).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
    });
    await expect(client.get(dial, shape, patient)).rejects.toMatchObject({
      code: 'PROVIDER_UNCERTAIN',
    });
  });

  it('comes over the connection that there is at the moment', async () => {
    let nth = 0;
    const client = createAriClient(() => ({
      send: () => Promise.resolve({ status: 200 + nth++, body: undefined }),
    }));
    expect((await client.send(look, patient)).status).toBe(200);
    expect((await client.send(look, patient)).status).toBe(201);
  });

  it('404 is of what is gone', () => {
    expect(isAriNotFound({ status: 404 })).toBe(true);
    expect(isAriNotFound({ status: 409 })).toBe(false);
  });
});

describe('a failure', () => {
  it.each<[AriRequest, number, string]>([
    [look, 400, 'PROVIDER_REFUSED'],
    [look, 401, 'PROVIDER_AUTH'],
    [look, 403, 'PROVIDER_REFUSED'],
    [look, 409, 'PROVIDER_REFUSED'],
    [look, 503, 'PROVIDER_CAPACITY'],
    [dial, 503, 'PROVIDER_CAPACITY'],
    [dial, 500, 'PROVIDER_DESTINATION'],
    [look, 500, 'PROVIDER_FAILED'],
    [dial, 502, 'PROVIDER_UNCERTAIN'],
    [{ ...dial, repeatable: true }, 502, 'PROVIDER_FAILED'],
    [{ ...look, method: 'DELETE' }, 502, 'PROVIDER_FAILED'],
  ])('of %o with status %i is %s', (request, status, code) => {
    expect(ariFaultOf(request, { status, body: undefined }).code).toBe(code);
  });

  it.each([
    [{ message: 'Channel not found' }, 'HTTP 404 Channel not found'],
    [{ error: 'Allocation failed' }, 'HTTP 404 Allocation failed'],
    ['<html>', 'HTTP 404'],
    [null, 'HTTP 404'],
    [{ message: 7 }, 'HTTP 404'],
  ])('says what Asterisk says: %o', (body, words) => {
    const { message } = ariFaultOf(look, { status: 404, body });
    expect(message).toContain(words);
    expect(message).not.toContain('html');
  });

  it('says no more than a line of it', () => {
    const { message } = ariFaultOf(look, { status: 404, body: { message: 'x'.repeat(10_000) } });
    expect(message.length).toBeLessThan(400);
  });

  it('of a user who may only read says what to do', () => {
    expect(ariFaultOf(look, { status: 403, body: {} }).message).toContain('read_only = no');
  });

  it('of which request does no harm twice', () => {
    const methods = ['GET', 'PUT', 'DELETE', 'POST'] as const;
    const repeatable = methods.filter((method) => isRepeatable({ ...look, method }));
    expect(repeatable).toEqual(['GET', 'PUT', 'DELETE']);
    expect(isRepeatable({ ...look, repeatable: false })).toBe(false);
  });
});

describe('over HTTP', () => {
  let server: RestServer;

  beforeEach(async () => {
    server = await startRestServer();
  });

  afterEach(() => server.close());

  const carrier = (): AriRequestTransport =>
    httpTransport(
      createRest({ provider: 'ari', clock: new FakeClock() }),
      accountOf({ ari_endpoint: `${server.url}/`, app_name: 'gw', app_password: 'p:w' }),
    );

  it('a request has its query and its body in their places, and who asks in its header', async () => {
    server.answer = { status: 200, body: { id: 'x' } };
    const query = { endpoint: 'PJSIP/1@trunk', app: 'a b&c' };
    const body = { variables: { ['CALLERID(all)']: '4711' } };
    const answer = await carrier().send({ ...dial, query, body }, patient);
    expect(answer).toEqual({ status: 200, body: { id: 'x' } });
    const [asked] = server.asked;
    expect(asked).toMatchObject({
      method: 'POST',
      path: '/ari/channels?endpoint=PJSIP%2F1%40trunk&app=a+b%26c',
    });
    expect(asked?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('gw:p:w').toString('base64')}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(asked?.body ?? '')).toEqual(body);
  });

  it('a request without them has none', async () => {
    await carrier().send(look, patient);
    const [asked] = server.asked;
    expect(asked).toMatchObject({ method: 'GET', path: '/ari/channels/x', body: '' });
    expect(asked?.headers['content-type']).toBeUndefined();
  });

  it('an answer that is no JSON has no content', async () => {
    server.answer = { status: 204, body: undefined };
    expect(await carrier().send(look, patient)).toEqual({ status: 204, body: undefined });
  });

  it('a connection that breaks leaves open what a POST has done', async () => {
    server.answer = 'reset';
    await expect(carrier().send(dial, patient)).rejects.toMatchObject({
      code: 'PROVIDER_UNCERTAIN',
    });
    await expect(carrier().send(look, patient)).rejects.toMatchObject({ code: 'PROVIDER_FAILED' });
  });
});
