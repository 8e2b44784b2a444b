import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../src/egress/egress-rule.ts';
import type { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { freePort } from '../../fakes/free-port.ts';
import { type RestServer, startRestServer } from '../provider/rest-server.ts';
import { faultsOf } from './twilio-schema.ts';

const ACCOUNT = 'AC00000000000000000000000000000001';
const CALL = 'CA00000000000000000000000000000001';
const NUMBER = 'PN00000000000000000000000000000001';
const signal = new AbortController().signal;
const dialRequest: DialRequest = {
  runId: '1',
  from: '+14155550100',
  to: '+14155550101',
  answerUrl: 'https://gw.example.com/answer?workflow_run_id=1&x=2',
  statusUrl: 'https://gw.example.com/status/1',
  answeredByUrl: 'https://gw.example.com/answered-by/1',
  ringS: 45,
  callS: 300,
};

let clock: FakeClock;
let server: RestServer;
const control = () => twilioProvider.create({ clock }).control;
const credentials = (more: Record<string, unknown> = {}) => ({
  account_sid: ACCOUNT,
  auth_token: 'secret',
  api_base_url: server.url,
  ...more,
});
const lastForm = () => new URLSearchParams(server.asked.at(-1)?.body);
const code = (expected: string) => expect.objectContaining({ code: expected });

beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  clock = new FakeClock();
  server.asked.length = 0;
});
afterAll(() => server.close());

describe('dialling over Twilio', () => {
  it("places a call in the words of Twilio's own description", async () => {
    server.answer = { status: 201, body: { sid: CALL, status: 'queued' } };
    const dialled = await control().dial(credentials(), dialRequest, signal);
    expect(dialled).toEqual({
      callId: CALL,
      metadata: { call_id: CALL, provider_status: 'queued' },
    });
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(asked?.path).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls.json`);
    expect(asked?.headers.authorization).toBe(
      `Basic ${Buffer.from(`${ACCOUNT}:secret`).toString('base64')}`,
    );
    const form = lastForm();
    expect(form.getAll('StatusCallbackEvent')).toEqual([
      'initiated',
      'ringing',
      'answered',
      'completed',
    ]);
    expect(form.get('Url')).toBe(dialRequest.answerUrl);
    expect([form.get('Timeout'), form.get('TimeLimit')]).toEqual(['45', '300']);
    expect(form.has('MachineDetection')).toBe(false);
  });

  it('detects answering machines beside the media, never before it', async () => {
    server.answer = { status: 201, body: { sid: CALL } };
    await control().dial(credentials({ amd_enabled: true }), dialRequest, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    const form = lastForm();
    expect(form.get('MachineDetection')).toBe('Enable');
    expect(form.get('AsyncAmd')).toBe('true');
    expect(form.get('AsyncAmdStatusCallback')).toBe(dialRequest.answeredByUrl);
    expect(form.get('AsyncAmdStatusCallbackMethod')).toBe('POST');
  });

  it("keeps within Twilio's limits", async () => {
    server.answer = { status: 201, body: { sid: CALL } };
    await control().dial(credentials(), { ...dialRequest, ringS: 900, callS: 1e6 }, signal);
    expect([lastForm().get('Timeout'), lastForm().get('TimeLimit')]).toEqual(['600', '86400']);
  });

  it.each([
    [401, 20_003, 'PROVIDER_AUTH'],
    [403, undefined, 'PROVIDER_AUTH'],
    [400, 21_211, 'PROVIDER_DESTINATION'],
    [400, 21_210, 'PROVIDER_DESTINATION'],
    [403, 21_215, 'PROVIDER_DESTINATION'],
    [429, 20_429, 'PROVIDER_CAPACITY'],
    [400, 21_205, 'PROVIDER_REFUSED'],
    [404, 20_404, 'PROVIDER_REFUSED'],
    [302, undefined, 'PROVIDER_REFUSED'],
    [500, 20_500, 'PROVIDER_UNCERTAIN'],
    [503, undefined, 'PROVIDER_UNCERTAIN'],
  ])('takes %i with code %s for %s', async (status, twilioCode, expected) => {
    const message = 'The phone number +14155550101 is not valid';
    server.answer = { status, body: { code: twilioCode, message, status } };
    const dialling = control().dial(credentials(), dialRequest, signal);
    await expect(dialling).rejects.toThrow(code(expected));
    await expect(dialling).rejects.not.toThrow('4155550101');
    expect(server.asked.length).toBe(1);
  });

  it('may be tried again only if it is certain that nothing rang', async () => {
    for (const [answer, expected] of [
      [{ status: 429, body: {} }, true],
      [{ status: 503, body: {} }, false],
      ['reset', false],
      [{ status: 201, body: {} }, false],
    ] as const) {
      server.answer = answer;
      const dialling = control().dial(credentials(), dialRequest, signal);
      await expect(dialling).rejects.toThrow(expect.objectContaining({ retry: expected }));
    }
    const nobody = credentials({ api_base_url: 'http://127.0.0.1:9' });
    await expect(control().dial(nobody, dialRequest, signal)).rejects.toThrow(
      expect.objectContaining({ code: 'PROVIDER_FAILED', retry: true }),
    );
  });

  it('sends one request when the connection breaks: a second could place a second call', async () => {
    server.answer = 'reset';
    const dialling = control().dial(credentials(), dialRequest, signal);
    await expect(dialling).rejects.toThrow(code('PROVIDER_UNCERTAIN'));
    expect(server.asked.length).toBe(1);
  });

  it('gives up after ten seconds, and does not ask again', async () => {
    server.answer = 'hang';
    const arrived = server.next();
    const dialling = control().dial(credentials(), dialRequest, signal);
    const failure = expect(dialling).rejects.toThrow(code('PROVIDER_TIMEOUT'));
    await arrived;
    clock.advance(10_000);
    await failure;
    expect(server.asked.length).toBe(1);
    expect(clock.timers).toBe(0);
  });

  it('stops on abort', async () => {
    server.answer = 'hang';
    const arrived = server.next();
    const abort = new AbortController();
    const dialling = control().dial(credentials(), dialRequest, abort.signal);
    const failure = expect(dialling).rejects.toThrow(code('PROVIDER_UNCERTAIN'));
    await arrived;
    abort.abort();
    await failure;
    expect(clock.timers).toBe(0);
  });

  it('refuses an answer without end', async () => {
    server.answer = { status: 201, body: 'x'.repeat(1024 * 1024 + 1) };
    const dialling = control().dial(credentials(), dialRequest, signal);
    await expect(dialling).rejects.toThrow(code('PROVIDER_UNCERTAIN'));
  });

  it('does not ask with credentials that cannot be right', async () => {
    const dialling = (async () => control().dial({ account_sid: 'AC1' }, dialRequest, signal))();
    await expect(dialling).rejects.toThrow(code('PROVIDER_AUTH'));
    expect(server.asked.length).toBe(0);
  });
});

describe('a call at Twilio', () => {
  it('is hung up', async () => {
    server.answer = { status: 200, body: { sid: CALL, status: 'completed' } };
    await control().hangUp(credentials(), CALL, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(asked?.path).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/${CALL}.json`);
    expect(lastForm().get('Status')).toBe('completed');
  });

  it.each([
    [404, 20_404],
    [400, 21_220],
  ])('is hung up also if it had ended already (%i, %i)', async (status, twilioCode) => {
    server.answer = { status, body: { code: twilioCode, status } };
    await expect(control().hangUp(credentials(), CALL, signal)).resolves.toBeUndefined();
  });

  it('can be hung up again after a failure', async () => {
    server.answer = { status: 503, body: {} };
    const hangingUp = control().hangUp(credentials(), CALL, signal);
    await expect(hangingUp).rejects.toThrow(
      expect.objectContaining({ code: 'PROVIDER_FAILED', retry: true }),
    );
  });

  it.each([
    ['+14155550102', '<Number>+14155550102</Number>'],
    ['sip:a&b@pbx.example.com', '<Sip>sip:a&amp;b@pbx.example.com</Sip>'],
  ])('is handed over to %s', async (to, noun) => {
    server.answer = { status: 200, body: { sid: CALL } };
    const target = { to, callerId: '+14155550100', ringS: 30 };
    await control().transfer(credentials(), CALL, target, signal);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
    expect(lastForm().get('Twiml')).toBe(
      `<?xml version="1.0" encoding="UTF-8"?><Response><Dial callerId="+14155550100" timeout="30">${noun}</Dial><Hangup/></Response>`,
    );
  });

  it('asks for reports of the new leg, where the result is wanted', async () => {
    server.answer = { status: 200, body: { sid: CALL } };
    const resultUrl = 'https://gw.example.com/api/v1/telephony/transfer-result/1-c2';
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 30, resultUrl };
    await control().transfer(credentials(), CALL, target, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(lastForm().get('Twiml')).toContain(
      `<Number statusCallback="${resultUrl}" statusCallbackEvent="ringing answered completed">`,
    );
  });

  it('is joined with another in a conference: the other first, which ends with either', async () => {
    server.answer = { status: 200, body: { sid: CALL } };
    const legId = `CA${'2'.repeat(32)}`;
    const calls = { callId: CALL, legId, name: '1-w2', documentUrl: '' };
    await control().join?.(credentials(), calls, signal);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked.map(({ path }) => path.split('/').at(-1))).toEqual([
      `${legId}.json`,
      `${CALL}.json`,
    ]);
    expect(lastForm().get('Twiml')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Dial><Conference startConferenceOnEnter="true" endConferenceOnExit="true" beep="false">1-w2</Conference></Dial><Hangup/></Response>',
    );
  });

  it('stays as it is if the other is gone', async () => {
    server.answer = { status: 400, body: { code: 21_220 } };
    const calls = { callId: CALL, legId: `CA${'2'.repeat(32)}`, name: '1-w2', documentUrl: '' };
    const joining = control().join?.(credentials(), calls, signal);
    await expect(joining).rejects.toThrow(code('PROVIDER_REFUSED'));
    expect(server.asked).toHaveLength(1);
  });

  it('cannot be handed over once it has ended', async () => {
    server.answer = { status: 400, body: { code: 21_220 } };
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 30 };
    const transferring = control().transfer(credentials(), CALL, target, signal);
    await expect(transferring).rejects.toThrow(code('PROVIDER_REFUSED'));
  });

  it.each([
    [
      { status: 'completed', duration: '61', answered_by: 'human' },
      { status: 'completed', durationS: 61, answeredBy: 'human' },
    ],
    [
      { status: 'queued', duration: null, answered_by: null },
      { status: 'initiated', durationS: null, answeredBy: null },
    ],
  ])('is read: %o', async (body, expected) => {
    server.answer = { status: 200, body };
    expect(await control().getCall(credentials(), CALL, signal)).toEqual(expected);
    const [asked] = server.asked;
    expect(asked && faultsOf(asked)).toEqual([]);
  });

  it('is not there', async () => {
    server.answer = { status: 404, body: { code: 20_404 } };
    expect(await control().getCall(credentials(), CALL, signal)).toBeUndefined();
  });

  it('has an id that cannot leave its place in the path', async () => {
    server.answer = { status: 404, body: {} };
    await control().getCall(credentials(), '../../Balance', signal);
    expect(server.asked[0]?.path).toContain('/Calls/..%2F..%2FBalance.json');
  });
});

describe('a number at Twilio', () => {
  const owned = (more: Record<string, unknown> = {}) => ({
    incoming_phone_numbers: [
      { sid: 'PN2', phone_number: '+141555501009' },
      { sid: NUMBER, phone_number: '+14155550100', ...more },
    ],
  });

  it('is owned only if it is listed in full, not as part of another', async () => {
    server.answer = { status: 200, body: owned() };
    expect(await control().ownsNumber(credentials(), '+14155550100', signal)).toBe(true);
    expect(await control().ownsNumber(credentials(), '+1415555010', signal)).toBe(false);
    expect(server.asked.flatMap(faultsOf)).toEqual([]);
    expect(server.asked[0]?.path).toContain('PhoneNumber=%2B14155550100');
    expect(await control().ownsNumber(credentials(), 'sip:a@b', signal)).toBeUndefined();
  });

  it('is pointed at us, and detached', async () => {
    const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
    const rings = owned({ voice_url: url });
    server.answer = ({ method }) => ({ status: 200, body: method === 'GET' ? rings : {} });
    const attached = control().configureInbound(credentials(), '+14155550100', url, signal);
    expect(await attached).toEqual({ ok: true, message: null });
    expect(lastForm().get('VoiceUrl')).toBe(url);
    const detached = control().detachInbound(credentials(), '+14155550100', url, signal);
    expect(await detached).toEqual({ ok: true, message: null });
    expect(lastForm().get('VoiceUrl')).toBe('');
    // Clearing is an empty URL by Twilio's text; its description knows whole URLs only.
    expect(server.asked.slice(0, -1).flatMap(faultsOf)).toEqual([]);
    expect(server.asked.at(-1)?.path).toContain(`/IncomingPhoneNumbers/${NUMBER}.json`);
  });

  it.each([
    [{ voice_application_sid: 'AP1' }, 'application'],
    [{ trunk_sid: 'TK1' }, 'trunk'],
  ])('that belongs elsewhere is reported and left alone: %o', async (more, word) => {
    server.answer = { status: 200, body: owned(more) };
    const done = await control().configureInbound(
      credentials(),
      '+14155550100',
      'https://gw.example.com/x',
      signal,
    );
    expect(done).toEqual({ ok: false, message: expect.stringContaining(word) });
    expect(server.asked.every(({ method }) => method === 'GET')).toBe(true);
  });

  it.each([
    'https://pbx.acme.com/answer.php',
    'https://other.example.com/api/v1/telephony/inbound/run',
    '',
    null,
  ])('that rings at %j is not taken from there when it is removed', async (voiceUrl) => {
    server.answer = { status: 200, body: owned({ voice_url: voiceUrl }) };
    const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
    const done = await control().detachInbound(credentials(), '+14155550100', url, signal);
    expect(done).toEqual({ ok: true, message: null });
    expect(server.asked.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('that the account does not own is reported', async () => {
    server.answer = { status: 200, body: { incoming_phone_numbers: [] } };
    const done = await control().detachInbound(credentials(), '+14155550100', 'https://x', signal);
    expect(done).toEqual({ ok: false, message: 'The Twilio account does not own this number.' });
  });
});

describe("the judge of our requests (Twilio's description)", () => {
  it('finds a missing field, a wrong word and a field that does not exist', () => {
    const path = `/2010-04-01/Accounts/${ACCOUNT}/Calls.json`;
    const asked = (body: string) => ({ method: 'POST', path, headers: {}, body });
    expect(faultsOf(asked('From=1')).length).toBe(1);
    expect(faultsOf(asked('To=1&From=1&Method=PUT')).length).toBe(1);
    expect(faultsOf(asked('To=1&From=1&Colour=red')).length).toBe(1);
    expect(faultsOf({ ...asked(''), path: '/2010-04-01/Nothing.json' }).length).toBe(1);
  });
});

describe('an API address where the gateway does not connect', () => {
  it('fails the dial for certain, and nothing is sent', async () => {
    const { control } = twilioProvider.create({ clock, egress: openSignUpEgress() });
    await expect(control.dial(credentials(), dialRequest, signal)).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      facts: { reason: 'OUTSIDE_FORBIDDEN' },
    });
    expect(server.asked).toEqual([]);
  });

  it('does not reveal what its network answered while sign-up is open', async () => {
    const closed = { ...credentials(), api_base_url: `http://127.0.0.1:${await freePort()}` };
    const reasonWith = (egress: Egress) =>
      twilioProvider
        .create({ clock, egress })
        .control.dial(closed, dialRequest, signal)
        .then(String, (error: GatewayError) => [error.code, error.facts['reason']]);
    expect(await reasonWith(createEgress())).toEqual(['PROVIDER_FAILED', 'ECONNREFUSED']);
    expect(await reasonWith(openSignUpEgress('127.0.0.1'))).toEqual([
      'PROVIDER_FAILED',
      'no usable answer from its address',
    ]);
  });
});
