import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { twilioWebhook } from '../../../src/telephony/twilio/webhook.ts';
import { rounds } from '../../rounds.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';

const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
const call = 'CA00000000000000000000000000000001';
const account = 'AC00000000000000000000000000000001';
const inbound = `CallSid=${call}&AccountSid=${account}&From=%2B14155550100&To=%2B14155550101&CallStatus=ringing&Direction=inbound&ApiVersion=2010-04-01`;
const status = (fields: string) =>
  `CallSid=${call}&AccountSid=${account}&Direction=outbound-api&CallbackSource=call-progress-events&${fields}`;
const answer = (mediaUrl: string) =>
  twilioWebhook.answer({
    runId: '1',
    callId: 'CA1',
    isAnswered: false,
    statusUrl: '',
    answeredByUrl: '',
    mediaUrl,
  }).reply;
const parse = (form: string) => twilioWebhook.parse(formPost(url, form));

describe('a webhook of Twilio', () => {
  it.each([
    ['its signature', bare(url, { ['x-twilio-signature']: 'x' })],
    ['its idempotency token', bare(url, { ['i-twilio-idempotency-token']: 'x' })],
    ['its proxy', bare(url, { ['user-agent']: 'TwilioProxy/1.1' })],
    ['its fields', formPost(url, inbound)],
  ])('is recognised by %s', (_what, request) => {
    expect(twilioWebhook.recognises(request)).toBe(true);
  });

  it.each([
    ['Cloudonix, which has the same fields', formPost(url, inbound, { ['x-cx-apikey']: 'k' })],
    ['Plivo', formPost(url, 'CallUUID=x&From=1&To=2')],
    ['Telnyx', jsonPost(url, '{"data":{"record_type":"event"}}')],
  ])('is not one of %s', (_what, request) => {
    expect(twilioWebhook.recognises(request)).toBe(false);
  });

  it('announces an inbound call once, however often it is delivered', () => {
    const first = parse(inbound);
    expect(first).toMatchObject({
      kind: 'inbound-call',
      callId: call,
      accountId: account,
      from: '+14155550100',
      to: '+14155550101',
      raw: { ['CallStatus']: 'ringing' },
    });
    const again = twilioWebhook.parse(
      formPost(url, inbound, { ['i-twilio-idempotency-token']: 'another' }),
    );
    expect(again.dedupeKey).toBe(first.dedupeKey);
  });

  it.each([
    ['queued', 'initiated'],
    ['initiated', 'initiated'],
    ['ringing', 'ringing'],
    ['in-progress', 'in-progress'],
    ['completed', 'completed'],
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ])('reports %s as %s', (word, normal) => {
    expect(parse(status(`CallStatus=${word}&SequenceNumber=2`))).toMatchObject({
      kind: 'status',
      callId: call,
      status: normal,
      providerStatus: word,
      sequence: 2,
      durationS: null,
    });
  });

  it('orders events by their sequence number and counts the call in seconds', () => {
    const event = parse(status('CallStatus=completed&SequenceNumber=3&CallDuration=61&Duration=2'));
    expect(event).toMatchObject({ sequence: 3, durationS: 61 });
  });

  it('gives one key to a terminal status that arrives twice, and another to each status', () => {
    const keys = ['ringing&SequenceNumber=1', 'completed&SequenceNumber=3'].flatMap((fields) => [
      parse(status(`CallStatus=${fields}`)).dedupeKey,
      parse(status(`CallStatus=${fields}`)).dedupeKey,
    ]);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).toBe(keys[3]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  it('distinguishes the end of an inbound call from a new one', () => {
    const ended = inbound.replace('ringing', 'completed');
    expect(parse(`${ended}&CallDuration=5`)).toMatchObject({ kind: 'status', status: 'completed' });
    const news = `${inbound}&SequenceNumber=1&CallbackSource=call-progress-events`;
    expect(parse(news)).toMatchObject({ kind: 'status', status: 'ringing' });
  });

  it('distinguishes the answer to a call that we placed from a new one', () => {
    const answered = inbound.replace('ringing', 'in-progress').replace('inbound', 'outbound-api');
    expect(parse(answered)).toMatchObject({ kind: 'status', status: 'in-progress' });
  });

  it.each([
    ['human', false],
    ['unknown', false],
    ['machine_start', true],
    ['machine_end_beep', true],
    ['machine_end_silence', true],
    ['machine_end_other', true],
    ['fax', true],
  ])('says that %s answered', (verdict, machine) => {
    const form = `CallSid=${call}&AccountSid=${account}&AnsweredBy=${verdict}&MachineDetectionDuration=2100`;
    expect(parse(form)).toMatchObject({ kind: 'answered-by', answeredBy: verdict, machine });
  });

  it.each([
    ['a stream', `CallSid=${call}&StreamSid=MZ1&StreamEvent=stream-stopped`],
    ['a recording', `CallSid=${call}&RecordingSid=RE1&CallStatus=completed`],
    ['a status that does not exist yet', status('CallStatus=on-hold')],
    ['nothing', `CallSid=${call}`],
  ])('ignores events of %s', (_what, form) => {
    expect(parse(form)).toEqual({
      kind: 'other',
      dedupeKey: expect.stringMatching(/^twilio:\w+$/),
    });
  });

  it('keeps a bounded copy of the fields', () => {
    const many = Array.from({ length: 300 }, (_, i) => `f${i}=${'x'.repeat(2_000)}`).join('&');
    const event = parse(`${inbound}&${many}`);
    const raw = event.kind === 'inbound-call' ? event.raw : {};
    expect(Object.keys(raw).length).toBe(100);
    expect(Object.values(raw).every((value) => String(value).length <= 500)).toBe(true);
  });

  it('is a value or WEBHOOK_MALFORMED, for any input', () => {
    const name = fc.constantFrom(
      ...['CallSid', 'AccountSid', 'CallStatus', 'Direction', 'From', 'To', 'AnsweredBy'],
      ...['SequenceNumber', 'CallDuration', 'StreamEvent', 'CallbackSource', '__proto__', ''],
    );
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(call, account, 'inbound', 'ringing', 'completed', '1', '-1', '1e9'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (fields) => {
        try {
          const event = parse(new URLSearchParams(fields).toString());
          expect(event.dedupeKey).toMatch(/^twilio:/);
        } catch (error) {
          expect(codeOf(error)).toBe('WEBHOOK_MALFORMED');
        }
      }),
      { numRuns: rounds(1_000) },
    );
  });

  it.each(['', 'CallSid=', 'CallSid=a%20b', inbound.replace(/&To=[^&]*/, '')])(
    'is malformed as %j',
    (form) => {
      expect(() => parse(form)).toThrow(expect.objectContaining({ code: 'WEBHOOK_MALFORMED' }));
    },
  );
});

describe('what we answer', () => {
  const media = 'wss://gw.example.com/api/v1/telephony/ws/1/2/3/tok';

  it('connects the call to the media socket and hangs up when that closes', () => {
    const { status: code, contentType, body } = answer(media);
    expect([code, contentType]).toEqual([200, 'text/xml; charset=utf-8']);
    expect(body).toBe(
      `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${media}"/></Connect><Hangup/></Response>`,
    );
  });

  it('never pauses: a pause after the stream leaves the caller on a silent line', () => {
    expect(answer(media).body).not.toContain('Pause');
  });

  it('escapes what XML would read', () => {
    const odd = `wss://gw.example.com/a&b'c"d<e>`;
    expect(answer(odd).body).toContain('url="wss://gw.example.com/a&amp;b&apos;c&quot;d&lt;e&gt;"');
  });

  it('never puts a query into the media URL: Twilio would drop it, and the token with it', () => {
    expect(() => answer(`${media}?token=1`)).toThrow('without a query');
    expect(() => answer('https://gw.example.com/x')).toThrow();
  });

  it.each(['not-configured', 'no-workflow', 'signature', 'error'] as const)(
    'says a sentence and hangs up for %s',
    (reason) => {
      const reply = twilioWebhook.reject(reason, null).reply;
      expect(reply.status).toBe(200);
      expect(reply.body).toMatch(/<Response><Say>[^<]{20,}<\/Say><Hangup\/><\/Response>$/);
    },
  );

  it.each(['busy', 'draining'] as const)('gives the busy tone, uncharged, for %s', (reason) => {
    expect(twilioWebhook.reject(reason, null).reply.body).toContain(
      '<Response><Reject reason="busy"/></Response>',
    );
  });

  it('thanks for an event', () => {
    expect(twilioWebhook.acknowledge()).toEqual({
      status: 200,
      contentType: 'application/json',
      body: '{"status":"success"}',
    });
  });
});
