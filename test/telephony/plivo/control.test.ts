// What is asked of Plivo, judged by a description of its REST interface that was written from its documentation: it
// proves that we agree with our reading, not with Plivo. The calls themselves: provider-contract.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plivoProvider } from '../../../src/telephony/plivo/provider.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { descriptionOf } from '../provider/description.ts';
import { type Answer, type RestServer, startRestServer } from '../provider/rest-server.ts';

const CALL = '6b7b2a2c-523d-11e1-86da-adf28403fe48';
const APPLICATION = '20468143130939380';
const base = 'https://gw.example.com/api/v1/telephony';
const inboundUrl = `${base}/inbound/run`;
const faultsOf = descriptionOf('fixtures/wire/plivo/plivo.voice.json', '/v1');
const { signal } = new AbortController();
const dialRequest: DialRequest = {
  runId: '1',
  from: '14155550100',
  to: '14155550101',
  answerUrl: `${base}/plivo/answer/1`,
  statusUrl: `${base}/plivo/hangup-callback/1`,
  answeredByUrl: `${base}/plivo/answered-by/1`,
  ringS: 45,
  callS: 300,
};

let server: RestServer;
const { control, formatAddress } = plivoProvider.create({ clock: new FakeClock() });
const credentials = (more: Record<string, unknown> = {}) => ({
  auth_id: 'MA1',
  auth_token: 'secret',
  application_id: APPLICATION,
  api_base_url: server.url,
  ...more,
});
const lastBody = (): unknown => JSON.parse(server.asked.at(-1)?.body ?? '');
const missing: Answer = { status: 404, body: { error: 'not found' } };
/** Answers by the end of `METHOD path`; 404 for others. */
const answers =
  (table: Record<string, unknown>) =>
  ({ method, path }: { method: string; path: string }): Answer => {
    const key = Object.keys(table).find((each) => `${method} ${path}`.endsWith(each));
    return key === undefined ? missing : { status: method === 'GET' ? 200 : 202, body: table[key] };
  };

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
});
afterAll(() => server.close());

describe('a dial over Plivo', () => {
  const placed: Answer = { status: 201, body: { message: 'call fired', request_uuid: CALL } };

  it('asks as documented, with digits and a URL for the hang-up', async () => {
    server.answer = placed;
    const dialled = await control.dial(credentials(), dialRequest, signal);
    expect(dialled).toEqual({ callId: CALL, metadata: { call_id: CALL } });
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(asked?.path).toBe('/v1/Account/MA1/Call/');
    const login = Buffer.from('MA1:secret').toString('base64');
    expect(asked?.headers.authorization).toBe(`Basic ${login}`);
    expect(lastBody()).toEqual({
      from: '14155550100',
      to: '14155550101',
      answer_url: dialRequest.answerUrl,
      answer_method: 'POST',
      hangup_url: dialRequest.statusUrl,
      hangup_method: 'POST',
      ring_url: `${base}/plivo/ring-callback/1`,
      ring_method: 'POST',
      ring_timeout: 45,
      time_limit: 300,
    });
  });

  it('detects machines beside the conversation, where that is wanted', async () => {
    server.answer = placed;
    await control.dial(credentials({ amd_enabled: true }), dialRequest, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(lastBody()).toMatchObject({
      machine_detection: 'true',
      machine_detection_url: dialRequest.answeredByUrl,
    });
  });

  it('takes the id out of a list, too', async () => {
    server.answer = { status: 201, body: { request_uuid: [CALL] } };
    expect((await control.dial(credentials(), dialRequest, signal)).callId).toBe(CALL);
  });

  it('is sent once, although it was not answered (trap 30)', async () => {
    server.answer = 'reset';
    const dialling = control.dial(credentials(), dialRequest, signal);
    await expect(dialling).rejects.toMatchObject({ code: 'PROVIDER_UNCERTAIN' });
    expect(server.asked).toHaveLength(1);
  });

  it('has numbers of one form (trap 34)', () => {
    expect(formatAddress('+14155550100')).toBe('14155550100');
    expect(formatAddress('sip:a@b.example.com')).toBe('sip:a@b.example.com');
  });
});

describe('a call at Plivo', () => {
  it('is ended, or taken out of the queue, or gone', async () => {
    server.answer = missing;
    await control.hangUp(credentials(), CALL, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked.map(({ method, path }) => [method, path])).toEqual([
      ['DELETE', `/v1/Account/MA1/Call/${CALL}/`],
      ['DELETE', `/v1/Account/MA1/Request/${CALL}/`],
    ]);
    server.asked.length = 0;
    server.answer = { status: 204, body: '' };
    await control.hangUp(credentials(), CALL, signal);
    expect(server.asked).toHaveLength(1);
  });

  it('can be hung up again after a failure', async () => {
    server.answer = { status: 503, body: {} };
    const ending = control.hangUp(credentials(), CALL, signal);
    await expect(ending).rejects.toMatchObject({ code: 'PROVIDER_FAILED', retry: true });
  });

  it('is redirected to the document of its transfer', async () => {
    server.answer = { status: 202, body: { message: 'call transferred' } };
    const documentUrl = `${base}/plivo/transfer/1`;
    const target = { to: '14155550102', callerId: '+14155550100', ringS: 20, documentUrl };
    await control.transfer(credentials(), CALL, target, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    const url = expect.stringMatching(new RegExp(`^${documentUrl}\\?target=[\\w-]+$`));
    expect(lastBody()).toEqual({ legs: 'aleg', aleg_url: url, aleg_method: 'POST' });
  });

  it('is joined with another in a conference, whose document Plivo fetches', async () => {
    server.answer = { status: 202, body: { message: 'call transferred' } };
    const documentUrl = `${base}/plivo/transfer/1`;
    const calls = { callId: CALL, legId: 'leg', name: '1-w2', documentUrl };
    await control.join?.(credentials(), calls, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked.map(({ path }) => path.split('/').at(-2))).toEqual(['leg', CALL]);
    const url = `${documentUrl}?conference=1-w2`;
    expect(lastBody()).toEqual({ legs: 'aleg', aleg_url: url, aleg_method: 'POST' });
  });

  it('is not redirected to what Plivo cannot dial', async () => {
    const target = { to: 'extension', callerId: '', ringS: 20, documentUrl: `${base}/x` };
    const transferring = control.transfer(credentials(), CALL, target, signal);
    await expect(transferring).rejects.toMatchObject({ code: 'PROVIDER_DESTINATION' });
    expect(server.asked).toEqual([]);
  });

  it('is sent keys', async () => {
    server.answer = { status: 202, body: {} };
    await control.sendDigits?.(credentials(), CALL, '12w#A', signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(lastBody()).toEqual({ digits: '12w#A', leg: 'aleg' });
  });

  it.each([
    ['live', { '?status=live': { call_status: 'ringing' } }, 'ringing', null],
    ['in the queue', { '?status=queued': { call_status: 'queued' } }, 'initiated', null],
    [
      'answered and over',
      { [`${CALL}/`]: { answer_time: '2026-11-01', call_duration: 61, hangup_cause_code: 4_000 } },
      'completed',
      61,
    ],
    ['over, busy', { [`${CALL}/`]: { answer_time: null, hangup_cause_code: 3_010 } }, 'busy', null],
    ['over, by its state', { [`${CALL}/`]: { call_state: 'NO_ANSWER' } }, 'no-answer', null],
    ['over without a reason', { [`${CALL}/`]: {} }, 'failed', null],
  ])('is found %s', async (_what, table, status, durationS) => {
    server.answer = answers(table);
    const found = await control.getCall(credentials(), CALL, signal);
    expect(found).toEqual({ status, durationS, answeredBy: null });
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('is looked for among open calls and records', async () => {
    server.answer = ({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://x');
      if (pathname.endsWith('/live-1/')) return { status: 200, body: { call_status: 'ringing' } };
      const status = searchParams.get('status');
      if (status !== null)
        return { status: 200, body: { calls: status === 'live' ? ['live-1'] : [] } };
      const over = (callUuid: string, initiationTime: string) => ({
        call_uuid: callUuid,
        initiation_time: initiationTime,
        hangup_cause_code: 3_010,
      });
      const objects = [over('new', '2026-11-01T12:00:10Z'), over('old', '2026-11-01T11:00:00Z')];
      return { status: 200, body: { objects } };
    };
    const since = new Date('2026-11-01T12:00:00Z');
    const wanted = { runId: '1', from: '14155550100', to: '14155550101', since };
    expect(await control.findCalls(credentials(), wanted, signal)).toEqual([
      { callId: 'live-1', status: 'ringing' },
      { callId: 'new', status: 'busy' },
    ]);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  // Plivo filters live calls and records by number; its queue is listed whole, and a campaign beyond the account's
  // calls a second fills it.
  it('is not mistaken for another one that waits in the queue of the account', async () => {
    const waiting: Record<string, { from: string; to: string }> = {
      'of-others': { from: '14155550100', to: '14155550177' },
      'from-others': { from: '14155550166', to: '14155550101' },
      ours: { from: '14155550100', to: '14155550101' },
    };
    server.answer = ({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://x');
      const queued = waiting[pathname.split('/').at(-2) ?? ''];
      const isQueue = searchParams.get('status') === 'queued';
      if (queued !== undefined) {
        const body = { call_status: 'queued', ...queued };
        return isQueue ? { status: 200, body } : { status: 404, body: {} };
      }
      const calls = isQueue ? Object.keys(waiting) : [];
      return { status: 200, body: { calls, objects: [] } };
    };
    const wanted = { runId: '1', from: '14155550100', to: '14155550101', since: new Date() };
    expect(await control.findCalls(credentials(), wanted, signal)).toEqual([
      { callId: 'ours', status: 'initiated' },
    ]);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('may be behind the first ones of a long queue', async () => {
    const queue = Array.from({ length: 20 }, (_, index) => `other-${index}`);
    server.answer = ({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://x');
      const isQueue = searchParams.get('status') === 'queued';
      if (pathname.includes('/other-')) {
        const body = { call_status: 'queued', from: '14155550100', to: '14155550177' };
        return isQueue ? { status: 200, body } : { status: 404, body: {} };
      }
      return { status: 200, body: { calls: isQueue ? queue : [], objects: [] } };
    };
    const wanted = { runId: '1', from: '14155550100', to: '14155550101', since: new Date() };
    expect(await control.findCalls(credentials(), wanted, signal)).toBeUndefined();
  });
});

describe('a number at Plivo', () => {
  const ours = { [`Application/${APPLICATION}/`]: { answer_url: inboundUrl } };
  const numberOf = (application: string | null) => ({
    'Number/14155550100/': {
      application: application === null ? null : `/v1/Account/MA1/Application/${application}/`,
    },
  });
  const configure = (url: string) =>
    control.configureInbound(credentials(), '14155550100', url, signal);
  const detach = () => control.detachInbound(credentials(), '14155550100', inboundUrl, signal);
  const changes = () => server.asked.filter(({ method }) => method !== 'GET');

  it('is the account’s or not', async () => {
    server.answer = answers(numberOf(null));
    expect(await control.ownsNumber(credentials(), '14155550100', signal)).toBe(true);
    expect(await control.ownsNumber(credentials(), '14155550999', signal)).toBe(false);
    expect(await control.ownsNumber(credentials(), 'sip:a@b', signal)).toBeUndefined();
  });

  it('is attached to the application of the configuration, which stays as it is', async () => {
    server.answer = answers({ ...ours, ...numberOf(null) });
    expect(await configure(inboundUrl)).toEqual({ ok: true, message: null });
    expect(changes().map(({ path }) => path)).toEqual(['/v1/Account/MA1/Number/14155550100/']);
    expect(lastBody()).toEqual({ app_id: APPLICATION });
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('is not attached to an application that answers elsewhere, and that is not re-pointed', async () => {
    const theirs = {
      [`Application/${APPLICATION}/`]: { answer_url: 'https://other.example.com/' },
    };
    server.answer = answers({ ...theirs, ...numberOf(null) });
    const done = await configure(inboundUrl);
    expect(done).toMatchObject({ ok: false, message: expect.stringContaining(inboundUrl) });
    expect(changes()).toEqual([]);
  });

  it('is detached alone: the answer URL that others share stays (trap 33)', async () => {
    server.answer = answers({ ...ours, ...numberOf(APPLICATION) });
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes().map(({ path }) => path)).toEqual(['/v1/Account/MA1/Number/14155550100/']);
    expect(lastBody()).toEqual({ app_id: '' });
  });

  it('stays where its application answers for another system', async () => {
    const theirs = {
      [`Application/${APPLICATION}/`]: { answer_url: 'https://other.example.com/' },
    };
    server.answer = answers({ ...theirs, ...numberOf(APPLICATION) });
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([]);
  });

  it('stays where another application is attached', async () => {
    server.answer = answers({ ...ours, ...numberOf('999') });
    expect(await detach()).toEqual({ ok: true, message: null });
    expect(changes()).toEqual([]);
  });

  it('that is unknown is reported', async () => {
    server.answer = missing;
    expect(await configure(inboundUrl)).toMatchObject({ ok: false });
    expect(await control.detachInbound(credentials(), 'sip:a@b', inboundUrl, signal)).toMatchObject(
      {
        ok: false,
      },
    );
  });
});

describe('the application at Plivo', () => {
  const wanted = { installationId: 'abc123', inboundUrl };
  const without = () => credentials({ application_id: null });

  it('is the configured one, whatever it is', async () => {
    expect(await control.ensureApplication?.(credentials(), wanted, signal)).toBeUndefined();
    expect(server.asked).toEqual([]);
  });

  it('is made once, with the name of the installation and a URL for hang-ups of its own', async () => {
    const made: Record<string, unknown>[] = [];
    server.answer = ({ method, body }) => {
      if (method === 'GET') return { status: 200, body: { objects: made } };
      const sent: Record<string, unknown> = JSON.parse(body);
      made.push({ ...sent, app_id: APPLICATION });
      return { status: 201, body: { app_id: APPLICATION, message: 'created' } };
    };
    for (let i = 0; i < 2; i += 1) {
      const stored = await control.ensureApplication?.(without(), wanted, signal);
      expect(stored).toEqual({ application_id: APPLICATION });
    }
    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({
      app_name: expect.stringMatching(/^patchbay-abc123-[0-9a-f]{8}$/),
      answer_url: inboundUrl,
      hangup_url: `${base}/plivo/hangup-callback`,
    });
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
  });

  it('is looked for on all pages; one of another installation or address is left alone', async () => {
    const others = Array.from({ length: 20 }, (_, i) => ({
      app_id: String(i),
      app_name: 'patchbay-other-00000000',
      answer_url: inboundUrl,
    }));
    server.answer = ({ method, path }) => {
      if (method === 'POST') return { status: 201, body: { app_id: 'new' } };
      return { status: 200, body: { objects: path.includes('offset=0') ? others : [] } };
    };
    const stored = await control.ensureApplication?.(without(), wanted, signal);
    expect(stored).toEqual({ application_id: 'new' });
    expect(server.asked.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
    expect(server.asked.at(-1)?.path).toBe('/v1/Account/MA1/Application/');
  });

  it('is not made with credentials that Plivo refuses', async () => {
    server.answer = { status: 401, body: { error: 'no' } };
    const ensuring = control.ensureApplication?.(without(), wanted, signal);
    await expect(ensuring).rejects.toMatchObject({ code: 'PROVIDER_AUTH' });
  });
});
