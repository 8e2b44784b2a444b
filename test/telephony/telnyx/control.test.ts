// Telnyx' requests: what each says, and the traps of the interface (providers §10, 6 to 11, 30, 33).

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { telnyxProvider } from '../../../src/telephony/telnyx/provider.ts';
import { type FakeTelnyx, startFakeTelnyx } from '../../fakes/telnyx/fake-telnyx.ts';
import { SEED_HEX, telnyxRow } from '../../fakes/telnyx/row.ts';
import { type Answer, type RestServer, startRestServer } from '../provider/rest-server.ts';

const { signal } = new AbortController();
const INBOUND = 'https://gw.example.com/api/v1/telephony/inbound/run';
const CALL = 'v3:a:b/c';
const OURS = '1293384261075731499';
const ENDED = {
  status: 422,
  body: { errors: [{ code: '90018', title: 'Call has already ended' }] },
};
const OK = { status: 200, body: { data: { result: 'ok' } } };
const { control, webhook } = telnyxProvider.create({ clock: systemClock });
const request: DialRequest = {
  runId: '7',
  from: '+14155550100',
  to: '+14155550101',
  answerUrl: 'https://gw.example.com/answer/7',
  statusUrl: 'https://gw.example.com/events/7',
  answeredByUrl: 'https://gw.example.com/events/7',
  ringS: 45,
  callS: 300,
};

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
  server.answer = OK;
});
afterAll(() => server.close());

const credentials = (more: Record<string, unknown> = {}) => ({
  ...telnyxRow.configuration(server.url),
  ...more,
});
const asked = () => server.asked.map(({ method, path, body }) => ({ method, path, body }));
const lastBody = (): Record<string, unknown> => JSON.parse(server.asked.at(-1)?.body ?? '{}');
const answerOf = (direction: 'inbound' | 'outbound', more: { resumption?: string } = {}) =>
  webhook.answer({
    runId: '7',
    callId: CALL,
    isAnswered: direction === 'outbound',
    mediaUrl: 'wss://gw.example.com/ws/1',
    statusUrl: 'https://gw.example.com/events/7',
    answeredByUrl: 'https://gw.example.com/events/7',
    ...more,
  });

describe('a dial over Telnyx', () => {
  it('names the application, the run, and the URL of its events', async () => {
    server.answer = telnyxRow.dialled;
    await control.dial(credentials(), request, signal);
    expect(server.asked[0]?.path).toBe('/v2/calls');
    expect(lastBody()).toEqual({
      connection_id: OURS,
      to: '+14155550101',
      from: '+14155550100',
      timeout_secs: 45,
      time_limit_secs: 300,
      webhook_url: 'https://gw.example.com/events/7',
      webhook_url_method: 'POST',
      client_state: Buffer.from('7').toString('base64'),
      command_id: expect.stringMatching(/^dial-7-[0-9a-f]{16}$/),
      send_silence_when_idle: true,
      answering_machine_detection: 'detect',
    });
  });

  it('is a command of its own for each installation, and the same when it is sent again', async () => {
    server.answer = telnyxRow.dialled;
    const elsewhere = { ...request, statusUrl: 'https://other.example.com/events/7' };
    const commands: unknown[] = [];
    for (const each of [request, elsewhere, request]) {
      await control.dial(credentials(), each, signal);
      commands.push(lastBody()['command_id']);
    }
    expect(commands[2]).toBe(commands[0]);
    expect(commands[1]).not.toBe(commands[0]);
  });

  it('detects machines only if that is wished, and keeps within the limits', async () => {
    server.answer = telnyxRow.dialled;
    const long = { ...request, ringS: 9_000, callS: 90_000 };
    await control.dial(credentials({ amd_enabled: false }), long, signal);
    expect(lastBody()).not.toHaveProperty('answering_machine_detection');
    expect(lastBody()).toMatchObject({ timeout_secs: 600, time_limit_secs: 14_400 });
    await control.dial(credentials(), { ...request, ringS: 1, callS: 1 }, signal);
    expect(lastBody()).toMatchObject({ timeout_secs: 5, time_limit_secs: 30 });
  });

  it('is not sent where its webhooks could not be verified', async () => {
    for (const key of [null, '']) {
      const dialling = control.dial(credentials({ webhook_public_key: key }), request, signal);
      await expect(dialling).rejects.toThrow(/webhook_public_key is missing/);
    }
    expect(server.asked).toEqual([]);
  });

  it('without an application is not sent', async () => {
    const dialling = control.dial(credentials({ connection_id: null }), request, signal);
    await expect(dialling).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' });
    expect(server.asked).toEqual([]);
  });
});

describe('the media of a call over Telnyx', () => {
  it.each(['inbound', 'outbound'] as const)(
    'are mu-law by RTP to the leg itself, %s',
    async (direction) => {
      await answerOf(direction).command?.(credentials(), signal);
      const name = direction === 'inbound' ? 'answer' : 'streaming_start';
      expect(server.asked[0]?.path).toBe(`/v2/calls/v3%3Aa%3Ab%2Fc/actions/${name}`);
      expect(lastBody()).toMatchObject({
        stream_url: 'wss://gw.example.com/ws/1',
        stream_track: 'inbound_track',
        stream_codec: 'PCMU',
        stream_bidirectional_mode: 'rtp',
        stream_bidirectional_codec: 'PCMU',
        stream_bidirectional_target_legs: 'self',
        command_id: `${direction === 'inbound' ? 'answer' : 'stream'}-${CALL}`,
      });
    },
  );

  it('are connected again by a command of its own', async () => {
    await answerOf('outbound', { resumption: '5' }).command?.(credentials(), signal);
    expect(lastBody()['command_id']).toBe(`stream-${CALL}-5`);
  });

  it('move the later events of an inbound call to its run', async () => {
    await answerOf('inbound').command?.(credentials(), signal);
    expect(lastBody()['webhook_url']).toBe('https://gw.example.com/events/7');
  });

  it('are not missed in a call that has ended', async () => {
    server.answer = ENDED;
    await expect(answerOf('inbound').command?.(credentials(), signal)).resolves.toBeUndefined();
  });
});

describe('the end of a call over Telnyx', () => {
  it.each([ENDED, { status: 404, body: {} }])('is no error if it is over: %j', async (answer) => {
    server.answer = answer;
    await control.hangUp(credentials(), CALL, signal);
    expect(await control.getCall(credentials(), CALL, signal)).toBeUndefined();
  });

  it.each([
    ['busy', 'USER_BUSY'],
    ['draining', 'USER_BUSY'],
    ['signature', 'CALL_REJECTED'],
    ['no-workflow', 'CALL_REJECTED'],
  ] as const)('by a refusal as %s is %s', async (reason, cause) => {
    await webhook.reject(reason, CALL).command?.(credentials(), signal);
    expect(lastBody()['cause']).toBe(cause);
    expect(server.asked[0]?.path).toContain('/actions/reject');
  });

  it('of an answered call that is refused is a hang-up', async () => {
    const state = { status: 422, body: { errors: [{ code: '90034', title: 'Answered' }] } };
    server.answer = ({ path }): Answer => (path.endsWith('/reject') ? state : OK);
    await webhook.reject('error', CALL).command?.(credentials(), signal);
    expect(server.asked.map(({ path }) => path.split('/').at(-1))).toEqual(['reject', 'hangup']);
  });
});

describe('requests during a call over Telnyx', () => {
  it('say where it is transferred, and refuse what no telephone network dials', async () => {
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 20 };
    await control.transfer(credentials(), CALL, target, signal);
    expect(lastBody()).toEqual({ to: '+14155550102', from: '+14155550100', timeout_secs: 20 });
    const wrong = control.transfer(credentials(), CALL, { ...target, to: '4711' }, signal);
    await expect(wrong).rejects.toMatchObject({ code: 'PROVIDER_DESTINATION' });
    expect(server.asked).toHaveLength(1);
  });

  it('have the events of a transfer sent to where its result is wanted', async () => {
    const resultUrl = 'https://gw.example.com/api/v1/telephony/telnyx/transfer-result/1-c2';
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 20, resultUrl };
    await control.transfer(credentials(), CALL, target, signal);
    expect(lastBody()).toMatchObject({ webhook_url: resultUrl, webhook_url_method: 'POST' });
  });

  it('bridge two calls, after the stream of the second was stopped', async () => {
    const calls = { callId: CALL, legId: 'v3:leg', name: '1-w2', documentUrl: '' };
    await control.join?.(credentials(), calls, signal);
    expect(server.asked.map(({ path }) => decodeURIComponent(path))).toEqual([
      expect.stringContaining('/calls/v3:leg/actions/streaming_stop'),
      expect.stringContaining(`/calls/${CALL}/actions/bridge`),
    ]);
    expect(lastBody()).toEqual({ call_control_id: 'v3:leg' });
  });

  it('fail if the call is over', async () => {
    server.answer = ENDED;
    const pressing = control.sendDigits?.(credentials(), CALL, '1', signal);
    await expect(pressing).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' });
  });

  it('find a dial by its run among calls that are up; one that is not there may have ended', async () => {
    const state = Buffer.from('7').toString('base64');
    const calls = [
      { call_control_id: 'other', client_state: 'eA==' },
      { call_control_id: CALL, client_state: state },
    ];
    server.answer = { status: 200, body: { data: calls } };
    const wanted = { runId: '7', from: null, to: '+1', since: new Date() };
    const found = await control.findCalls(credentials(), wanted, signal);
    expect(found).toEqual([{ callId: CALL, status: 'in-progress' }]);
    server.answer = { status: 200, body: { data: calls.slice(0, 1) } };
    expect(await control.findCalls(credentials(), wanted, signal)).toBeUndefined();
  });
});

describe('the application of an account at Telnyx', () => {
  let fake: FakeTelnyx;
  beforeEach(async () => {
    fake = await startFakeTelnyx({
      gatewayUrl: 'https://gw.example.com',
      numbers: ['+14155550100', '+14155550199'],

      apiKey: 'KEY-of-the-test',
      connectionId: OURS,
      seedHex: SEED_HEX,
    });
    return () => fake.close();
  });
  const account = (connectionId: string | null = null) => ({
    ...telnyxRow.configuration(fake.baseUrl),
    api_key: 'KEY-of-the-test',
    connection_id: connectionId,
  });
  const wish = { installationId: '0123456789ab', inboundUrl: INBOUND };
  const ensure = (more = {}) =>
    control.ensureApplication?.(account(), { ...wish, ...more }, signal);

  it('is made once for an installation, with webhooks of version 2 and the outbound profile', async () => {
    const made = await ensure();
    const application = fake.account.applications.get(String(made?.['connection_id']));
    expect(application).toMatchObject({
      application_name: 'patchbay-0123456789ab',
      webhook_event_url: INBOUND,
      webhook_api_version: '2',
      first_command_timeout: true,
      outbound: { outbound_voice_profile_id: '1911' },
    });
    expect(await ensure()).toEqual(made);
    expect(fake.account.applications.size).toBe(2);
    expect(await ensure({ installationId: 'another' })).not.toEqual(made);
  });

  it('is not looked for if the configuration names one', async () => {
    expect(await control.ensureApplication?.(account(OURS), wish, signal)).toBeUndefined();
    expect(fake.account.applications.size).toBe(1);
  });

  it('is never changed: an address that has moved is reported', async () => {
    await ensure();
    const moved = ensure({ inboundUrl: 'https://new.example.com/in' });
    await expect(moved).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' });
    const error = await ensure({ inboundUrl: 'https://new.example.com/in' })?.catch(String);
    expect(error).toContain('Set its webhook URL there to https://new.example.com/in');
    expect(fake.account.applications.size).toBe(2);
  });

  it('gets the number; a second number taken away leaves it as it is', async () => {
    for (const number of ['+14155550100', '+14155550199']) {
      const done = await control.configureInbound(account(OURS), number, INBOUND, signal);
      expect(done).toEqual({ ok: true, message: null });
    }
    await control.detachInbound(account(OURS), '+14155550199', INBOUND, signal);
    const { numbers, applications } = fake.account;
    expect(numbers.get('+14155550100')?.connection_id).toBe(OURS);
    expect(numbers.get('+14155550199')?.connection_id).toBe('');
    expect(applications.get(OURS)?.webhook_event_url).toBe(INBOUND);
  });

  it.each([
    [{ webhook_event_url: 'https://old.example.com/x' }, 'sends its webhooks elsewhere'],
    [{ webhook_api_version: '1' }, 'webhooks of version 1'],
  ])('that is set otherwise is reported: %j', async (change, words) => {
    const application = fake.account.applications.get(OURS);
    if (application === undefined) throw new Error('no application');
    const before = { ...Object.assign(application, change) };
    const done = await control.configureInbound(account(OURS), '+14155550100', INBOUND, signal);
    expect(done).toEqual({ ok: false, message: expect.stringContaining(words) });
    expect(application).toEqual(before);
  });

  it('keeps a number whose calls it sends to another system', async () => {
    const number = fake.account.numbers.get('+14155550100');
    if (number === undefined) throw new Error('no number');
    number.connection_id = OURS;
    const ours = 'https://other.example.com/api/v1/telephony/inbound/run';
    const done = await control.detachInbound(account(OURS), '+14155550100', ours, signal);
    expect([done.ok, number.connection_id]).toEqual([true, OURS]);
  });

  it('takes no number from another connection', async () => {
    const number = fake.account.numbers.get('+14155550100');
    if (number === undefined) throw new Error('no number');
    Object.assign(number, { connection_id: '42', connection_name: 'Old PBX' });
    const done = await control.configureInbound(account(OURS), '+14155550100', INBOUND, signal);
    expect(done).toEqual({ ok: false, message: expect.stringContaining('Old PBX') });
    await control.detachInbound(account(OURS), '+14155550100', INBOUND, signal);
    expect(number.connection_id).toBe('42');
  });

  it('refuses a wrong key in the words of Telnyx', async () => {
    const wrong = { ...account(), api_key: 'KEY-wrong' };
    const error = await control.ensureApplication?.(wrong, wish, signal).catch((each) => each);
    expect(codeOf(error)).toBe('PROVIDER_AUTH');
    expect(String(error)).toContain('10009');
    expect(asked()).toEqual([]);
  });
});
