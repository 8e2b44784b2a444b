import { createPublicKey } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { vonageProvider } from '../../../src/telephony/vonage/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { APPLICATION_ID, PRIVATE_KEY_PEM, PUBLIC_KEY_PEM } from '../../fakes/vonage/account.ts';
import { vonageRow } from '../../fakes/vonage/row.ts';
import { type Asked, type RestServer, startRestServer } from '../provider/rest-server.ts';
import { faultsOf, nccoFaults } from './vonage-schema.ts';

const CALL = '63f61863-4a51-4f6b-86e1-46edebcf9356';
const NUMBER = '14155550100';
const INBOUND = 'https://gw.example.com/api/v1/telephony/inbound/run';
const { signal } = new AbortController();
const request: DialRequest = {
  runId: '1',
  from: NUMBER,
  to: '14155550101',
  answerUrl: 'https://gw.example.com/api/v1/telephony/vonage/answer/1',
  statusUrl: 'https://gw.example.com/api/v1/telephony/vonage/events/1',
  answeredByUrl: 'https://gw.example.com/api/v1/telephony/vonage/events/1',
  ringS: 45,
  callS: 300,
};

let server: RestServer;
const clock = new FakeClock();
/** Each test has the whole budget of requests: the clock stands still. */
let control: ReturnType<typeof vonageProvider.create>['control'];
const { formatAddress } = vonageProvider.create({ clock });
const credentials = (more: Record<string, unknown> = {}) => ({
  ...vonageRow.configuration(server.url),
  ...more,
});
const last = (): Asked => {
  const asked = server.asked.at(-1);
  if (asked === undefined) throw new Error('nothing was asked');
  return asked;
};
const lastBody = () => JSON.parse(last().body);
const code = (expected: string) => expect.objectContaining({ code: expected });

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  ({ control } = vonageProvider.create({ clock }));
  server.asked.length = 0;
  server.answer = { status: 200, body: {} };
});
afterAll(() => server.close());

describe('dialling over Vonage', () => {
  const success = { status: 201, body: { uuid: CALL, status: 'started' } };

  it("places a call in the words of Vonage's own description, within its limits", async () => {
    server.answer = success;
    const long = { ...request, ringS: 600, callS: 86_400 };
    const dialled = await control.dial(credentials(), long, signal);
    expect(dialled).toEqual({
      callId: CALL,
      metadata: { call_id: CALL, provider_status: 'started' },
    });
    expect([last().path, faultsOf(last())]).toEqual(['/v1/calls', []]);
    expect(lastBody()).toMatchObject({ ringing_timer: 120, length_timer: 7_200 });
  });

  it('signs each request with a token of its own', async () => {
    server.answer = success;
    const ids = new Set<unknown>();
    for (let i = 0; i < 3; i++) {
      await control.dial(credentials(), request, signal);
      const token = last().headers.authorization?.replace('Bearer ', '') ?? '';
      const { payload } = await jwtVerify(token, createPublicKey(PUBLIC_KEY_PEM), {
        algorithms: ['RS256'],
        currentDate: new Date(clock.now()),
      });
      expect(payload['application_id']).toBe(APPLICATION_ID);
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
      ids.add(payload.jti);
    }
    expect(ids.size).toBe(3);
  });

  it('takes a private key whose line ends were written out', async () => {
    server.answer = success;
    const pasted = PRIVATE_KEY_PEM.trim().replaceAll('\n', '\\n');
    expect(pasted).not.toContain('\n');
    await control.dial(credentials({ private_key: pasted }), request, signal);
    expect(server.asked).toHaveLength(1);
  });

  it('dials no call whose webhooks could not be verified', async () => {
    const dialling = control.dial(credentials({ signature_secret: null }), request, signal);
    await expect(dialling).rejects.toThrow(/signature_secret is missing/);
    expect(server.asked).toHaveLength(0);
  });

  it('dials digits, and SIP addresses', async () => {
    server.answer = success;
    expect(formatAddress('+14155550101')).toBe('14155550101');
    await control.dial(credentials(), { ...request, to: 'sip:a@example.com' }, signal);
    expect(lastBody().to).toEqual([{ type: 'sip', uri: 'sip:a@example.com' }]);
  });
});

describe('a call over Vonage', () => {
  it('is hung up; one that is over is no error, whatever Vonage says of it', async () => {
    server.answer = { status: 204, body: undefined };
    await control.hangUp(credentials(), CALL, signal);
    expect([faultsOf(last()), lastBody()]).toEqual([[], { action: 'hangup' }]);
    server.answer = ({ method }) =>
      method === 'PUT'
        ? { status: 400, body: { title: 'Bad Request' } }
        : { status: 200, body: { status: 'completed', duration: '3' } };
    await control.hangUp(credentials(), CALL, signal);
    server.answer = ({ method }) =>
      method === 'PUT'
        ? { status: 400, body: { title: 'Bad Request' } }
        : { status: 200, body: { status: 'answered' } };
    const refused = control.hangUp(credentials(), CALL, signal);
    await expect(refused).rejects.toEqual(code('PROVIDER_REFUSED'));
  });

  it("is transferred with a document in Vonage's format", async () => {
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 600 };
    await control.transfer(credentials(), CALL, target, signal);
    expect(faultsOf(last())).toEqual([]);
    const { ncco } = lastBody().destination;
    expect(nccoFaults(ncco)).toEqual([]);
    expect(ncco).toEqual([
      {
        action: 'connect',
        from: '14155550100',
        timeout: 120,
        endpoint: [{ type: 'phone', number: '14155550102' }],
      },
    ]);
    const wrong = control.transfer(credentials(), CALL, { ...target, to: '12' }, signal);
    await expect(wrong).rejects.toEqual(code('PROVIDER_DESTINATION'));
  });

  it('has the events of a transfer sent to where its result is wanted', async () => {
    const resultUrl = 'https://gw.example.com/api/v1/telephony/vonage/transfer-result/1-c2';
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 20, resultUrl };
    await control.transfer(credentials(), CALL, target, signal);
    const { ncco } = lastBody().destination;
    expect(nccoFaults(ncco)).toEqual([]);
    expect(ncco[0]).toMatchObject({ eventUrl: [resultUrl], eventMethod: 'POST' });
  });

  it('is joined with another in a conversation that ends with either', async () => {
    const legId = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';
    const calls = { callId: CALL, legId, name: '1-w2', documentUrl: '' };
    await control.join?.(credentials(), calls, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked.map(({ path }) => path)).toEqual([
      `/v1/calls/${legId}`,
      `/v1/calls/${CALL}`,
    ]);
    const { ncco } = lastBody().destination;
    expect(nccoFaults(ncco)).toEqual([]);
    expect(ncco).toEqual([
      { action: 'conversation', name: '1-w2', startOnEnter: true, endOnExit: true },
    ]);
  });

  it('is sent keys, with Vonage’s sign for a pause', async () => {
    await control.sendDigits?.(credentials(), CALL, '1w2#', signal);
    expect(last()).toMatchObject({ method: 'PUT', path: `/v1/calls/${CALL}/dtmf` });
    expect(lastBody()).toEqual({ digits: '1p2#' });
  });

  it('is read in its states; an unknown state is no answer', async () => {
    const read = async (body: object) => {
      server.answer = { status: 200, body };
      return (await control.getCall(credentials(), CALL, signal))?.status;
    };
    expect(await read({ status: 'started' })).toBe('initiated');
    expect(await read({ status: 'unanswered' })).toBe('no-answer');
    await expect(read({ status: 'else' })).rejects.toEqual(code('PROVIDER_FAILED'));
    server.answer = { status: 200, body: { status: 'completed', duration: '62.4' } };
    const snapshot = await control.getCall(credentials(), CALL, signal);
    expect(snapshot).toEqual({ status: 'completed', durationS: 62, answeredBy: null });
  });

  it('is found among the calls since its dial, by both numbers', async () => {
    const call = (uuid: string, to: string, from = NUMBER) => ({
      uuid,
      status: 'ringing',
      to: [{ type: 'phone', number: to }],
      from: { type: 'phone', number: from },
    });
    const calls = [call('a', request.to), call('b', '1999'), call('c', request.to, '1888')];
    server.answer = { status: 200, body: { ['_embedded']: { calls } } };
    const wanted = { runId: '1', from: NUMBER, to: request.to, since: new Date(1_800_000_000_000) };
    const found = await control.findCalls(credentials(), wanted, signal);
    expect(found).toEqual([{ callId: 'a', status: 'ringing' }]);
    expect(faultsOf(last())).toEqual([]);
    expect(last().path).toContain('date_start=2027-01-15T07%3A59%3A00Z');
  });

  // The list is of the whole account: a campaign at Vonage's three calls a second has filled its page of 100 within 20 s.
  it.each([
    ['on the first of many pages', 30, 700, [{ callId: 'ours', status: 'ringing' }]],
    ['on a later page', 650, 700, [{ callId: 'ours', status: 'ringing' }]],
    ['nowhere, is certainly not there', -1, 700, []],
    ['not where it can be looked for, may be there', 2_000, 2_500, undefined],
  ])('among many others, found %s', async (_where, at, count, expected) => {
    const record = (index: number) => ({
      uuid: index === at ? 'ours' : `other-${index}`,
      status: 'ringing',
      to: [{ type: 'phone', number: index === at ? request.to : '14155559999' }],
      from: { type: 'phone', number: NUMBER },
    });
    server.answer = ({ path }) => {
      const query = new URL(path, 'http://x').searchParams;
      const oldestFirst = Array.from({ length: count }, (_, index) => record(index));
      const all = query.get('order') === 'desc' ? oldestFirst.toReversed() : oldestFirst;
      const from = Number(query.get('record_index') ?? 0);
      const calls = all.slice(from, from + Number(query.get('page_size')));
      return { status: 200, body: { count, ['_embedded']: { calls } } };
    };
    const wanted = { runId: '1', from: NUMBER, to: request.to, since: new Date(1_800_000_000_000) };
    expect(await control.findCalls(credentials(), wanted, signal)).toEqual(expected);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });
});

describe('the numbers of a Vonage account', () => {
  const number = (appId?: string) => ({ country: 'US', msisdn: NUMBER, app_id: appId });
  const application = (answer: string | undefined) => ({
    id: APPLICATION_ID,
    name: 'Front desk',
    keys: { public_key: PUBLIC_KEY_PEM },
    privacy: { improve_ai: false },
    of_a_later_version: { kept: true },
    ['_links']: { self: { href: '/v2/applications/1' } },
    capabilities: {
      voice: {
        region: 'eu-west',
        webhooks: answer === undefined ? {} : { answer_url: { address: answer } },
      },
      messages: { webhooks: {} },
    },
  });
  const account = (given: { app?: string; answer?: string }) => {
    server.answer = ({ method, path }) => {
      if (path.startsWith('/account/numbers')) {
        return { status: 200, body: { count: 1, numbers: [number(given.app)] } };
      }
      if (path.startsWith('/v2/') && method === 'GET') {
        return { status: 200, body: application(given.answer) };
      }
      return { status: 200, body: { 'error-code': '200' } };
    };
  };
  const attach = () => control.configureInbound(credentials(), NUMBER, INBOUND, signal);
  const detach = () => control.detachInbound(credentials(), NUMBER, INBOUND, signal);
  const asked = () => server.asked.map(({ method, path }) => `${method} ${path.split('?')[0]}`);

  it('are linked with the application, of which everything else stays as it was', async () => {
    account({});
    expect(await attach()).toEqual({ ok: true, message: null });
    expect(asked().slice(1)).toEqual([
      `GET /v2/applications/${APPLICATION_ID}`,
      `PUT /v2/applications/${APPLICATION_ID}`,
      'POST /number/update',
    ]);
    const put = JSON.parse(server.asked[2]?.body ?? '');
    const { id: _id, ['_links']: _links, ...before } = application(undefined);
    expect(put).toEqual({
      ...before,
      capabilities: {
        ...before.capabilities,
        voice: {
          region: 'eu-west',
          signed_callbacks: true,
          webhooks: {
            answer_url: { address: INBOUND, http_method: 'POST' },
            event_url: {
              address: 'https://gw.example.com/api/v1/telephony/vonage/events',
              http_method: 'POST',
            },
            fallback_answer_url: {
              address: 'https://gw.example.com/api/v1/telephony/inbound/fallback',
              http_method: 'POST',
            },
          },
        },
      },
    });
    expect(server.asked[3]?.body).toBe(`country=US&msisdn=${NUMBER}&app_id=${APPLICATION_ID}`);
  });

  it.each(['https://gw2.acme.com/api/v1/telephony/inbound/run', 'https://pbx.acme.com/answer.php'])(
    'take no application away from what answers at %s',
    async (answer) => {
      account({ answer });
      const { ok, message } = await attach();
      expect([ok, message]).toEqual([false, expect.stringContaining(answer)]);
      expect(asked().some((each) => !each.startsWith('GET'))).toBe(false);
    },
  );

  it.each(['https://example.com/webhooks/answer', 'https://www.example.org', 'https://a.invalid'])(
    'take over an application with the example address %s',
    async (answer) => {
      account({ answer });
      expect(await attach()).toEqual({ ok: true, message: null });
    },
  );

  it('leave the application’s address alone when one of them is detached', async () => {
    account({ app: APPLICATION_ID, answer: INBOUND });
    expect(await detach()).toEqual({ ok: true, message: null });
    const read = `GET /v2/applications/${APPLICATION_ID}`;
    expect(asked()).toEqual(['GET /account/numbers', read, 'POST /number/update']);
    expect(last().body).toBe(`country=US&msisdn=${NUMBER}`);
    account({ app: 'another', answer: INBOUND });
    server.asked.length = 0;
    await detach();
    expect(asked()).toEqual(['GET /account/numbers']);
  });

  it('stay with an application that answers for another system', async () => {
    account({ app: APPLICATION_ID, answer: 'https://pbx.acme.com/answer.php' });
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(asked().some((each) => !each.startsWith('GET'))).toBe(false);
  });

  it('are refused in words when Vonage does not link them, or they are not the account’s', async () => {
    account({ answer: 'https://example.com/x' });
    const before = server.answer;
    server.answer = (one) => {
      if (one.path === '/number/update') {
        return { status: 200, body: { 'error-code': '420', 'error-code-label': 'method failed' } };
      }
      return typeof before === 'function' ? before(one) : before;
    };
    expect(await attach()).toEqual({
      ok: false,
      message: 'Vonage did not link the number: 420 method failed',
    });
    server.answer = { status: 200, body: {} };
    expect((await attach()).message).toContain('does not own');
    expect(await control.ownsNumber(credentials(), NUMBER, signal)).toBe(false);
  });

  it('are read with key and secret, at the same address as calls where it is no region’s', async () => {
    account({});
    await control.ownsNumber(credentials(), NUMBER, signal);
    const login = Buffer.from('a1b2c3d4:Sa1b2c3d4e5f6g7h').toString('base64');
    expect(last().headers.authorization).toBe(`Basic ${login}`);
  });
});
