import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { PUBLIC_URL, withApi } from '../served.ts';

const served = withApi();
const { call } = served;
const form = 'sid=CA1&to=%2B1%20555&digits=1&digits=2&empty=';
const headers = {
  'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
  'x-twilio-signature': 'proof',
  host: 'evil.example.com',
};
const post = (path: string, more: object = {}) =>
  call('POST', `/api/v1/telephony/${path}`, { body: form, headers, key: null, ...more });

describe("a provider's webhook", () => {
  it('goes on with its bytes, its fields and the configured URL, for any Host header', async () => {
    const { status, text, headers: answered } = await post('inbound/run?a=1&b=%20x');
    expect([status, text, answered['content-type']]).toEqual([200, '<Response/>', 'text/xml']);
    const [taken] = served.callService.taken;
    expect(taken).toMatchObject({ what: 'inbound', id: null });
    expect(taken?.request).toEqual({
      method: 'POST',
      url: `${PUBLIC_URL}/api/v1/telephony/inbound/run?a=1&b=%20x`,
      headers: expect.objectContaining({ 'x-twilio-signature': 'proof' }),
      rawBody: Buffer.from(form),
      form: { sid: 'CA1', to: '+1 555', digits: '2', empty: '' },
      formAll: { sid: ['CA1'], to: ['+1 555'], digits: ['1', '2'], empty: [''] },
      json: undefined,
    });
  });

  it('that asks about a waiting call goes to the calls, and the sound for it needs no key', async () => {
    await post('twilio/wait/7');
    expect(served.callService.taken[0]).toMatchObject({
      what: 'wait',
      id: '7',
      provider: 'twilio',
    });
    const path = '/api/v1/telephony/waiting-sound.wav';
    const sound = await call('GET', path, { key: null });
    expect([sound.status, sound.headers['content-type']]).toEqual([200, 'audio/wav']);
    expect(sound.text.startsWith('RIFF')).toBe(true);
  });

  it('may be JSON', async () => {
    const body = '{"data": {"record_type":"event"}}';
    await post('inbound/run', { body, headers: { 'content-type': 'application/json' } });
    const request = served.callService.taken[0]?.request;
    expect(request?.json).toEqual({ data: { record_type: 'event' } });
    expect(request?.rawBody.toString()).toBe(body);
    expect(request?.form).toEqual({});
  });

  it.each([
    ['{"broken', 'application/json'],
    ['[[', 'application/json'],
    ['\u0000\u0001', 'application/octet-stream'],
    ['', 'application/x-www-form-urlencoded'],
    ['%zz=%', 'application/x-www-form-urlencoded'],
  ])('reaches the call service even if it is %j of type %s', async (body, type) => {
    const { status } = await post('inbound/run', { body, headers: { 'content-type': type } });
    expect(status).toBe(200);
    expect(served.callService.taken[0]?.request.rawBody.toString()).toBe(body);
  });

  it('that could not be answered ends with an apology in the markup of its provider', async () => {
    const form = {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'TwilioProxy/1.1',
    };
    const answer = await call('POST', '/api/v1/telephony/inbound/fallback', {
      key: null,
      body: 'CallSid=CA1&AccountSid=AC1',
      headers: { ...form, 'x-twilio-signature': 'any' },
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('<Hangup');
    expect(answer.text).toContain('<Say');
    const unknown = await call('POST', '/api/v1/telephony/inbound/fallback', { key: null });
    expect([unknown.status, unknown.text]).toEqual([200, expect.stringContaining('<Hangup/>')]);
    expect(served.callService.taken).toEqual([]);
  });

  it('of the deprecated route names the agent', async () => {
    await post('inbound/7');
    expect(served.callService.taken[0]).toMatchObject({ what: 'inbound', id: '7' });
    await post('inbound/x');
    expect(served.callService.taken[1]).toMatchObject({ what: 'inbound', id: 'x' });
  });

  it.each([
    ['twiml?workflow_id=1&workflow_run_id=42&organization_id=1', 'answer'],
    ['twilio/answer/42', 'answer'],
    ['twilio/status-callback/42', 'event'],
    ['twilio/answered-by/42/', 'event'],
  ])('at %s is the %s of a run', async (path, what) => {
    expect((await post(path)).status).toBe(200);
    expect(served.callService.taken[0]).toMatchObject({ what, id: '42', provider: 'twilio' });
    expect(served.callService.taken[0]?.request.url).toBe(`${PUBLIC_URL}/api/v1/telephony/${path}`);
  });

  it('of a provider that is not built is not found', async () => {
    for (const provider of ['nobody', 'smoke-signals']) {
      expect((await post(`${provider}/status-callback/42`)).status).toBe(404);
    }
    expect(served.callService.taken).toEqual([]);
  });

  it('that is not true is refused', async () => {
    served.callService.refusal = new GatewayError('WEBHOOK_SIGNATURE');
    const { status, body } = await post('twilio/status-callback/42');
    expect([status, body]).toEqual([
      401,
      { detail: 'Invalid webhook signature', code: 'WEBHOOK_SIGNATURE' },
    ]);
  });

  it('is answered with the reply of the call service, whatever its type', async () => {
    served.callService.reply = {
      status: 200,
      contentType: 'application/json',
      body: '{"status":"success"}',
    };
    const { text, headers: answered } = await post('twilio/status-callback/42');
    served.callService.reply = { status: 200, contentType: 'text/xml', body: '<Response/>' };
    expect([text, answered['content-type']]).toEqual([
      '{"status":"success"}',
      expect.stringContaining('application/json'),
    ]);
  });

  it('is limited in size', async () => {
    expect((await post('inbound/run', { body: 'a='.padEnd(300_000, 'x') })).status).toBe(413);
  });
});
