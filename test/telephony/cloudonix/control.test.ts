import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cloudonixProvider } from '../../../src/telephony/cloudonix/provider.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { jsonPost } from '../provider/provider-request.ts';
import { type RestServer, startRestServer } from '../provider/rest-server.ts';
import { faultsOf } from './cloudonix-schema.ts';

const TOKEN = 'a0000000000000000000000000000001';
const signal = new AbortController().signal;
const dialRequest: DialRequest = {
  runId: '1',
  from: '+14155550100',
  to: '+14155550101',
  answerUrl: 'https://gw.example.com/api/v1/telephony/cloudonix/answer/1',
  statusUrl: 'https://gw.example.com/api/v1/telephony/cloudonix/status-callback/1',
  answeredByUrl: 'https://gw.example.com/api/v1/telephony/cloudonix/status-callback/1',
  ringS: 45,
  callS: 300,
};

let server: RestServer;
let provider = cloudonixProvider.create({ clock: new FakeClock() });
const control = () => provider.control;
const credentials = (more: Record<string, unknown> = {}) => ({
  bearer_token: 'XI-secret',
  domain_id: 'acme.cloudonix.net',
  api_base_url: server.url,
  ...more,
});
const code = (expected: string) => expect.objectContaining({ code: expected });
const session = (more: Record<string, unknown> = {}) => ({
  token: TOKEN,
  status: 'answer',
  callerId: '+14155550100',
  destination: '14155550101',
  ...more,
});

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  provider = cloudonixProvider.create({ clock: new FakeClock() });
  server.asked.length = 0;
});
afterAll(() => server.close());

describe('dialling over Cloudonix', () => {
  it('places a call as we read the documentation, and names it by its session', async () => {
    server.answer = { status: 200, body: { token: TOKEN, domainId: 1 } };
    const dialled = await control().dial(credentials(), dialRequest, signal);
    expect(dialled).toEqual({ callId: TOKEN, metadata: { call_id: TOKEN } });
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(asked?.path).toBe('/calls/acme.cloudonix.net/application');
    expect(asked?.headers.authorization).toBe('Bearer XI-secret');
    expect(JSON.parse(asked?.body ?? '')).toMatchObject({
      destination: '+14155550101',
      'caller-id': '+14155550100',
      method: 'POST',
      callback: expect.stringMatching(`^${dialRequest.statusUrl}\\?proof=[0-9a-f]{64}$`),
      timeout: 45,
      timeLimit: 300,
    });
  });

  it('gives an answer URL that proves itself for this account and this URL alone', async () => {
    server.answer = { status: 200, body: { token: TOKEN } };
    await control().dial(credentials(), dialRequest, signal);
    const { url } = JSON.parse(server.asked[0]?.body ?? '');
    const { verify } = provider.webhook;
    const isTaken = (at: string, more = {}) => verify(jsonPost(at, '{}'), credentials(more), 0);
    expect(url.startsWith(`${dialRequest.answerUrl}?proof=`)).toBe(true);
    expect(url).not.toContain('XI-secret');
    expect(isTaken(url)).toBe(true);
    expect(isTaken(dialRequest.answerUrl)).toBe(false);
    expect(isTaken(url.replace('/answer/1?', '/answer/2?'))).toBe(false);
    expect(isTaken(url.replace('/cloudonix/answer/1?', '/inbound/run?'))).toBe(false);
    expect(isTaken(url, { bearer_token: 'XI-other' })).toBe(false);
  });

  it('keeps within limits of its own', async () => {
    server.answer = { status: 200, body: { token: TOKEN } };
    await control().dial(credentials(), { ...dialRequest, ringS: 900, callS: 1e6 }, signal);
    const { timeout, timeLimit } = JSON.parse(server.asked[0]?.body ?? '');
    expect([timeout, timeLimit]).toEqual([600, 86_400]);
  });

  it('takes a token with a path in it for no call', async () => {
    server.answer = { status: 200, body: { token: '../..' } };
    await expect(control().dial(credentials(), dialRequest, signal)).rejects.toEqual(
      code('PROVIDER_UNCERTAIN'),
    );
    server.asked.length = 0;
    const path = control().hangUp(credentials(), '..', signal);
    await expect(path).rejects.toEqual(code('PROVIDER_REFUSED'));
    expect(server.asked).toEqual([]);
  });
});

describe('a call over Cloudonix', () => {
  it('is hung up by its session; one that is gone is', async () => {
    server.answer = { status: 204, body: '' };
    await control().hangUp(credentials(), TOKEN, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(`${asked?.method} ${asked?.path}`).toBe(
      `DELETE /customers/self/domains/acme.cloudonix.net/sessions/${TOKEN}`,
    );
    server.answer = { status: 404, body: {} };
    await control().hangUp(credentials(), TOKEN, signal);
  });

  it('is transferred by a document', async () => {
    server.answer = { status: 200, body: {} };
    const target = { to: '+14155550102', callerId: '+1<2', ringS: 20 };
    await control().transfer(credentials(), TOKEN, target, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(JSON.parse(asked?.body ?? '').cxml).toContain(
      '<Dial callerId="+1&lt;2" timeout="20"><Number>+14155550102</Number></Dial>',
    );
  });

  it('is joined with another in a conference', async () => {
    server.answer = { status: 200, body: {} };
    const legId = 'b'.repeat(TOKEN.length);
    const calls = { callId: TOKEN, legId, name: '1-w2', documentUrl: '' };
    await control().join?.(credentials(), calls, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked.map(({ path }) => path.split('/').at(-2))).toEqual([legId, TOKEN]);
    expect(JSON.parse(server.asked[1]?.body ?? '').cxml).toContain('>1-w2</Conference>');
  });

  it('is not redirected to what cannot be dialled', async () => {
    const target = { to: 'reception', callerId: '+14155550100', ringS: 20 };
    const transfer = control().transfer(credentials(), TOKEN, target, signal);
    await expect(transfer).rejects.toEqual(code('PROVIDER_DESTINATION'));
    expect(server.asked).toEqual([]);
  });

  it.each([
    [{ status: 'new' }, 'initiated', null],
    [{ status: 'processing' }, 'initiated', null],
    [{ status: 'ringing' }, 'ringing', null],
    [{ status: 'connected', callEndTime: 0 }, 'in-progress', null],
    [{ status: 'answer', callAnswerTime: 1_000 }, 'in-progress', null],
    [{ status: 'answer', callAnswerTime: 1_000, callEndTime: 13_400 }, 'completed', 12],
    [{ status: 'noanswer', callEndTime: 5_000 }, 'no-answer', null],
    [{ status: 'busy' }, 'busy', null],
    [{ status: 'cancel' }, 'canceled', null],
    [{ status: 'nocredit' }, 'failed', null],
    [{ status: 'congestion' }, 'failed', null],
    [{ status: 'external' }, 'completed', null],
  ])('with the session %o is %s', async (more, status, durationS) => {
    server.answer = { status: 200, body: session(more) };
    const call = await control().getCall(credentials(), TOKEN, signal);
    expect(call).toEqual({ status, durationS, answeredBy: null });
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
  });

  it('that is unknown to the domain is none; with an unknown word it is unreadable', async () => {
    server.answer = { status: 404, body: {} };
    expect(await control().getCall(credentials(), TOKEN, signal)).toBeUndefined();
    server.answer = { status: 200, body: session({ status: 'levitating' }) };
    await expect(control().getCall(credentials(), TOKEN, signal)).rejects.toEqual(
      code('PROVIDER_FAILED'),
    );
  });

  it('is found by its numbers, with or without +, newest first, not before its time', async () => {
    const at = Date.UTC(2026, 0, 1);
    const rows = [
      session({ token: 'older', createdAt: at }),
      session({ token: 'newer', createdAt: at + 1_000 }),
      session({ token: 'before', createdAt: at - 61_000 }),
      session({ token: 'other', destination: '+14155550199', createdAt: at }),
      { token: 'unreadable' },
    ];
    server.answer = { status: 200, body: rows };
    const wanted = { ...dialRequest, since: new Date(at) };
    const found = await control().findCalls(credentials(), wanted, signal);
    expect(found?.map(({ callId }) => callId)).toEqual(['newer', 'older']);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
  });

  it('that is not listed may have ended: it is unknown whether it was placed', async () => {
    server.answer = { status: 200, body: [] };
    const wanted = { ...dialRequest, since: new Date(0) };
    expect(await control().findCalls(credentials(), wanted, signal)).toBeUndefined();
  });
});
