// What is asked of Vobiz, judged by a description that was written from its documentation: it proves that we agree with
// our reading, not with Vobiz. The calls themselves: provider-contract.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { vobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { descriptionOf } from '../provider/description.ts';
import { type Answer, type RestServer, startRestServer } from '../provider/rest-server.ts';

const CALL = '6b7b2a2c';
const base = 'https://gw.example.com/api/v1/telephony';
const inboundUrl = `${base}/inbound/run`;
const faultsOf = descriptionOf('fixtures/wire/vobiz/vobiz.voice.json', '/api/v1');
const { signal } = new AbortController();
let server: RestServer;
const { control } = vobizProvider.create({ clock: new FakeClock() });
const credentials = (application: string | null = '7') => ({
  auth_id: 'MA_1',
  auth_token: 'secret',
  application_id: application,
  api_base_url: server.url,
});
const missing: Answer = { status: 404, body: { error: 'not found' } };
const changes = () =>
  server.asked.flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
});
afterAll(() => server.close());

describe('a call at Vobiz', () => {
  it('is placed with two headers and digits, and any success is one', async () => {
    server.answer = { status: 200, body: { request_uuid: CALL } };
    const request = {
      runId: '1',
      from: '912271264296',
      to: '919876543210',
      answerUrl: `${base}/vobiz/answer/1`,
      statusUrl: `${base}/vobiz/hangup-callback/1`,
      answeredByUrl: `${base}/vobiz/answered-by/1`,
      ringS: 45,
      callS: 300,
    };
    expect((await control.dial(credentials(), request, signal)).callId).toBe(CALL);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(asked?.path).toBe('/api/v1/Account/MA_1/Call/');
    expect(asked?.headers).toMatchObject({ ['x-auth-id']: 'MA_1', ['x-auth-token']: 'secret' });
    expect(asked?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['live', '?status=live', { call_status: 'ringing' }, 'ringing', null],
    ['queued', '?status=queued', { call_status: 'queued' }, 'initiated', null],
    ['busy', `/cdr/${CALL}`, { data: { hangup_cause: 'USER_BUSY' } }, 'busy', null],
    ['over', `/cdr/${CALL}`, { data: { answer_time: 'x', billsec: 61 } }, 'completed', 61],
    ['unanswered', `/cdr/${CALL}`, { data: { hangup_cause_code: 3_000 } }, 'no-answer', null],
  ])('is confirmed: %s', async (_what, end, body, status, durationS) => {
    server.answer = ({ path }) => (path.endsWith(end) ? { status: 200, body } : missing);
    const found = await control.getCall(credentials(), CALL, signal);
    expect(found).toEqual({ status, durationS, answeredBy: null });
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('is not confirmed if there is none', async () => {
    server.answer = missing;
    expect(await control.getCall(credentials(), CALL, signal)).toBeUndefined();
  });

  it('is hung up once: a call that is gone is success', async () => {
    server.answer = missing;
    await control.hangUp(credentials(), CALL, signal);
    expect(changes()).toEqual([`DELETE /api/v1/Account/MA_1/Call/${CALL}/`]);
  });
});

describe('a number at Vobiz', () => {
  const number = (applicationId: string | null, more = {}) => ({
    items: [
      { e164: '+9122712642960', application_id: '7' },
      { e164: '+912271264296', application_id: applicationId, ...more },
    ],
  });
  const serve = (numbers: unknown, answerUrl = inboundUrl) => {
    server.answer = ({ path }) => ({
      status: 200,
      body: path.includes('/numbers?') ? numbers : { answer_url: answerUrl },
    });
  };
  const configure = (url: string) =>
    control.configureInbound(credentials(), '912271264296', url, signal);
  const detach = () => control.detachInbound(credentials(), '912271264296', inboundUrl, signal);
  const place = '/api/v1/Account/MA_1/numbers/%2B912271264296/application';

  it('is attached to the application, which stays as it is', async () => {
    serve(number(null));
    expect(await configure(inboundUrl)).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([`POST ${place}`]);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('is detached alone (trap 33), and stays where another application is attached', async () => {
    serve(number('7'));
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([`DELETE ${place}`]);
    server.asked.length = 0;
    serve(number('8'));
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([]);
    serve(number('7'), 'https://other.example.com/');
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([]);
  });

  it.each([
    ['answers elsewhere', number(null), 'https://other.example.com/', 'another address'],
    ['is of a trunk', number(null, { trunk_group_id: 'T' }), inboundUrl, 'trunk'],
  ])('is reported and left alone if it %s', async (_what, numbers, answerUrl, words) => {
    serve(numbers, answerUrl);
    const done = await configure(inboundUrl);
    expect(done).toEqual({ ok: false, message: expect.stringContaining(words) });
    expect(changes()).toEqual([]);
  });

  it('is the account’s only in full', async () => {
    serve(number(null));
    expect(await control.ownsNumber(credentials(), '912271264296', signal)).toBe(true);
    expect(await control.ownsNumber(credentials(), '91227126429', signal)).toBe(false);
  });

  it('has an application of this installation, made once', async () => {
    server.answer = ({ method }) => ({
      status: 200,
      body: method === 'GET' ? { objects: [] } : { app_id: 9, message: 'created' },
    });
    const wanted = { installationId: 'abc', inboundUrl };
    const stored = await control.ensureApplication?.(credentials(null), wanted, signal);
    expect(stored).toEqual({ application_id: '9' });
    expect(JSON.parse(server.asked.at(-1)?.body ?? '')).toMatchObject({
      app_name: expect.stringContaining('patchbay-abc-'),
      hangup_url: `${base}/vobiz/hangup-callback`,
    });
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(await control.ensureApplication?.(credentials(), wanted, signal)).toBeUndefined();
  });
});
