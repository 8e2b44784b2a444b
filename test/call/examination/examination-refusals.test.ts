// When no examination call is placed, whose it is, how it ends before its time, and what it says of a call that goes wrong.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { PUBLIC_URL } from '../../api/served.ts';
import type { HostedCall } from '../../fakes/hosted/hosted-call.ts';
import { hostedRow } from '../../fakes/hosted/hosted-rows.ts';
import { answersWith, THEIRS, withExaminations } from './examining-gateway.ts';

const CALL_MS_MAX = 60_000;
const row = hostedRow('twilio');
const gateway = withExaminations();
const body = { phone_number: THEIRS };

async function ended(one: string) {
  await expect
    .poll(() => gateway.ok('GET', one), { timeout: CALL_MS_MAX, interval: 100 })
    .toMatchObject({ state: 'ended' });
  const { ok, steps } = await gateway.ok('GET', one);
  const find = (key: string) => steps.find((step: { key: string }) => step.key === key);
  return { ok, find };
}

describe('an examination call', () => {
  it('is refused without a public https address, for an Asterisk, and for what is no number', async () => {
    const { path, fake } = await gateway.configure(row);
    const start = (to: string, phoneNumber = THEIRS) =>
      gateway.call('POST', `/api/v1${to}/examination-calls`, {
        body: { phone_number: phoneNumber },
      });
    for (const url of ['http://localhost:8000', 'http://gw.example.com', 'https://10.0.0.7']) {
      gateway.publicUrl = url;
      const { status, body: said } = await start(path);
      expect([status, said.detail]).toEqual([400, expect.stringContaining('PATCHBAY_PUBLIC_URL')]);
    }
    gateway.publicUrl = PUBLIC_URL;
    expect((await start(path, 'extension')).status).toBe(422);
    const config = {
      provider: 'ari',
      ari_endpoint: 'http://pbx:8088',
      app_name: 'a',
      app_password: 'secret-4711',
    };
    const { id } = await gateway.ok('POST', '/organizations/telephony-configs', {
      name: 'pbx',
      config,
    });
    const { status, body: said } = await start(`/organizations/telephony-configs/${id}`);
    expect([status, said.detail]).toEqual([400, expect.stringMatching(/hosted providers|ready/)]);
    expect(fake.calls).toEqual([]);
  });

  it(
    'is the only one of its organization, its own alone, and ends when it is hung up',
    async () => {
      const { path, fake } = await gateway.configure(row);
      const rings = new Promise<HostedCall>((resolve) => fake.onOutboundCall(resolve));
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const one = `${path}/examination-calls/${id}`;
      const second = await gateway.call('POST', `/api/v1${path}/examination-calls`, { body });
      expect(second.status).toBe(409);
      expect((await gateway.call('GET', `/api/v1${one}/capture`)).status).toBe(409);
      const { apiKey: key } = await gateway.stranger();
      expect((await gateway.call('GET', `/api/v1${one}`, { key })).status).toBe(404);
      expect((await gateway.call('POST', `/api/v1${one}/hang-up`, { key })).status).toBe(404);
      const call = await rings;
      await gateway.ok('POST', `${one}/hang-up`);
      const { find } = await ended(one);
      expect(find('hang_up')).toMatchObject({ verdict: 'pass' });
      expect(find('answered')).toMatchObject({ verdict: 'skip' });
      expect(call.isOver).toBe(true);
    },
    CALL_MS_MAX,
  );

  it(
    'that is busy says so with what to do',
    async () => {
      const { path, fake } = await gateway.configure(row);
      fake.onOutboundCall((call) => call.refuse('busy'));
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const busy = await ended(`${path}/examination-calls/${id}`);
      expect(busy.ok).toBe(false);
      expect(busy.find('answered')).toMatchObject({
        verdict: 'fail',
        message: 'The call ended as busy.',
        advice: expect.stringContaining('answers'),
      });
    },
    CALL_MS_MAX,
  );

  it(
    'that the provider refuses says so with what to do, and is over at once',
    async () => {
      const { path } = await gateway.configure({
        ...row,
        configuration: (url) => ({ ...row.configuration(url), ...row.wrongSecret }),
      });
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const { find } = await ended(`${path}/examination-calls/${id}`);
      expect(find('dial')).toMatchObject({
        verdict: 'fail',
        advice: expect.stringContaining('credentials'),
      });
      expect(find('hang_up')).toBeUndefined();
    },
    CALL_MS_MAX,
  );

  it(
    'in which the person has heard no keys is not faultless',
    async () => {
      const { path, fake } = await gateway.configure(row);
      fake.onOutboundCall(answersWith('2'));
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const { ok, find } = await ended(`${path}/examination-calls/${id}`);
      expect(ok).toBe(false);
      expect(find('keys_in')).toMatchObject({ verdict: 'pass' });
      expect(find('keys_out')).toMatchObject({ verdict: 'fail' });
    },
    CALL_MS_MAX,
  );

  it(
    'whose dial got no clear answer is hung up if it is answered after the end',
    async () => {
      const { path, fake } = await gateway.configure(hostedRow('vobiz'));
      gateway.afterDial = () =>
        Promise.reject(
          new GatewayError('PROVIDER_UNCERTAIN', {
            provider: 'vobiz',
            action: 'dial',
            reason: 'x',
          }),
        );
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const { find } = await ended(`${path}/examination-calls/${id}`);
      expect(find('dial')).toMatchObject({
        verdict: 'fail',
        advice: expect.stringContaining('ring'),
      });
      const [call] = fake.calls;
      expect(call?.isOver).toBe(false);
      call?.answer();
      await expect.poll(() => call?.isOver, { timeout: CALL_MS_MAX }).toBe(true);
      const { text } = await gateway.call('GET', `/api/v1${path}/examination-calls/${id}/capture`);
      expect(text).toContain('"action":"hang-up"');
      expect(text).not.toContain('<Stream');
    },
    CALL_MS_MAX,
  );

  it(
    'that is answered before the answer of its dial is talked in',
    async () => {
      const { path, fake } = await gateway.configure(hostedRow('vobiz'));
      fake.onOutboundCall(answersWith('1'));
      gateway.afterDial = async () => {
        await fake.calls[0]?.waitFor('stream-started');
      };
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const { find } = await ended(`${path}/examination-calls/${id}`);
      expect(find('answered')).toMatchObject({ verdict: 'pass' });
      expect(find('media')).toMatchObject({ verdict: 'pass' });
    },
    CALL_MS_MAX,
  );

  it('is not placed if its organization has as many calls as it may', async () => {
    const { path, fake } = await gateway.configure(row);
    await gateway.test.sql('update organizations set concurrent_call_limit = 0');
    try {
      const refused = await gateway.call('POST', `/api/v1${path}/examination-calls`, { body });
      expect(refused.status).toBe(429);
      expect(fake.calls).toEqual([]);
    } finally {
      await gateway.test.sql('update organizations set concurrent_call_limit = null');
    }
  });

  it('is not placed if the gateway began to stop while its speech was made', async () => {
    const { path, fake } = await gateway.configure(row);
    gateway.beforeSpeech = async () => {
      gateway.isDraining = true;
    };
    const { status } = await gateway.call('POST', `/api/v1${path}/examination-calls`, { body });
    expect(status).toBe(503);
    expect(fake.calls).toEqual([]);
  });

  it(
    'is forgotten ten minutes after its end',
    async () => {
      const { path, fake } = await gateway.configure(row);
      fake.onOutboundCall((call) => call.refuse('busy'));
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const one = `/api/v1${path}/examination-calls/${id}`;
      await ended(one.replace('/api/v1', ''));
      expect((await gateway.call('GET', `${one}/capture`)).status).toBe(200);
      gateway.aheadMs = 601_000;
      for (const what of [one, `${one}/capture`]) {
        expect((await gateway.call('GET', what)).status).toBe(404);
      }
    },
    CALL_MS_MAX,
  );

  it(
    'takes no event of the account that it has not sent',
    async () => {
      const { path, fake } = await gateway.configure(hostedRow('plivo'));
      const rings = new Promise<HostedCall>((resolve) => fake.onOutboundCall(resolve));
      const { id } = await gateway.ok('POST', `${path}/examination-calls`, body);
      const one = `${path}/examination-calls/${id}`;
      await rings;
      const keys = async () =>
        (await gateway.ok('GET', one)).steps.map(({ key }: { key: string }) => key);
      await expect.poll(keys, { timeout: CALL_MS_MAX, interval: 100 }).toContain('dial');
      const [call] = fake.calls;
      const event = {
        key: null,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-plivo-signature-v3': 'of another account',
          'x-plivo-signature-v3-nonce': '1',
        },
        body: `CallUUID=${call?.id}&Event=Hangup&CallStatus=completed`,
      };
      const hangUp = '/api/v1/telephony/plivo/hangup-callback';
      expect((await gateway.call('POST', hangUp, event)).status).toBe(200);
      expect(gateway.runs.taken).toMatchObject([{ what: 'account-event', provider: 'plivo' }]);
      gateway.runs.refusal = new GatewayError('WEBHOOK_SIGNATURE');
      expect((await gateway.call('POST', hangUp, event)).status).toBe(401);
      await gateway.ok('POST', `${one}/hang-up`);
      await ended(one);
      const { text } = await gateway.call('GET', `/api/v1${one}/capture`);
      expect(text.match(/"event":"unproven"/g)).toHaveLength(1);
    },
    CALL_MS_MAX,
  );
});
