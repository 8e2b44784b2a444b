import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { cloudonixWebhook } from '../../../src/telephony/cloudonix/webhook.ts';
import { withProof } from '../../../src/telephony/cloudonix/webhook-proof.ts';
import { twilioWebhook } from '../../../src/telephony/twilio/webhook.ts';
import { rounds } from '../../rounds.ts';
import { formPost, jsonPost } from '../provider/provider-request.ts';

const BASE = 'https://gw.example.com/api/v1/telephony';
const INBOUND = `${BASE}/inbound/run`;
const STATUS = `${BASE}/cloudonix/status-callback/7`;
const CDR = `${BASE}/cloudonix/cdr`;
const TOKEN = 'a0000000000000000000000000000001';
const RUNS = 10_000;
const credentials = { bearer_token: 'XI-bearer', application_key: 'XI-application' };
const { parse, verify, recognises, accountOf } = cloudonixWebhook;

const call = {
  ['CallSid']: 'c0000000000000000000000000000002',
  ['Session']: TOKEN,
  ['From']: '+14155550101',
  ['To']: '14155550100',
  ['Direction']: 'inbound',
  ['CallStatus']: 'ringing',
  ['Domain']: 'Acme',
  ['AccountSid']: 'acme.cloudonix.net',
  ['SessionData']: { token: TOKEN, profile: { 'trunk-sip-headers': { a: 'b' } } },
};
const update = {
  id: 1,
  domainId: 2,
  domain: 'acme.cloudonix.net',
  token: TOKEN,
  status: 'ringing',

  callerId: '+14155550100',
  destination: '+14155550101',
  modifiedAt: 1_700_000_000_000,
};
const record = {
  call_id: 'c1',
  domain: 'acme.cloudonix.net',
  disposition: 'ANSWER',
  billsec: 12,
  session: { token: TOKEN },
};
const post = (url: string, body: unknown, headers = {}) =>
  jsonPost(url, JSON.stringify(body), headers);

describe('a webhook of a call over Cloudonix', () => {
  it.each([
    ['a key header', post(INBOUND, {}, { 'x-cx-apikey': 'k' }), true],
    ['a domain header', post(INBOUND, {}, { 'x-cx-domain': 'd' }), true],
    ['its user agent', post(INBOUND, {}, { 'user-agent': 'Cloudonix/2' }), true],
    ['session and domain', post(INBOUND, call), true],
    ['something else', post(INBOUND, { ['CallSid']: 'CA1' }), false],
    ["Twilio's fields", formPost(INBOUND, 'CallSid=CA1&AccountSid=AC1&ApiVersion=1'), false],
  ])('with %s is recognised: %s', (_what, request, expected) => {
    expect(recognises(request)).toBe(expected);
  });

  it('is not taken for one of Twilio, whose fields it has', () => {
    const fields = 'CallSid=CA1&AccountSid=AC1&ApiVersion=1';
    const request = formPost(INBOUND, fields, { 'x-cx-domain': 'acme.cloudonix.net' });
    expect([recognises(request), twilioWebhook.recognises(request)]).toEqual([true, false]);
  });

  it('is an inbound call, named by its session and not by CallSid (trap 26)', () => {
    expect(parse(post(INBOUND, call))).toMatchObject({
      kind: 'inbound-call',
      callId: TOKEN,
      accountId: 'acme.cloudonix.net',
      from: '+14155550101',
      to: '14155550100',
      dedupeKey: `cloudonix:${TOKEN}:inbound`,
    });
  });

  it('may be a form, and have its session in a header alone', () => {
    const { ['SessionData']: _data, ['Session']: _session, ...fields } = call;
    const request = formPost(INBOUND, new URLSearchParams(fields).toString(), {
      'x-cx-session': TOKEN,
    });
    expect(parse(request)).toMatchObject({ kind: 'inbound-call', callId: TOKEN });
  });

  it('keeps no nested profile and no header', () => {
    const request = post(INBOUND, call, { 'x-cx-apikey': 'XI-application' });
    const event = parse(request);
    expect(JSON.stringify(event)).not.toMatch(/XI-application|trunk-sip-headers/);
  });

  it.each(['subscriber', 'inbound'])('is a new call for the direction %s', (direction) => {
    expect(parse(post(INBOUND, { ...call, ['Direction']: direction })).kind).toBe('inbound-call');
  });

  it.each([[''], [undefined]])('of a caller who withholds the number (%j) is a call', (from) => {
    const request = post(INBOUND, { ...call, ['From']: from });
    expect(parse(request)).toMatchObject({ kind: 'inbound-call', from: 'anonymous' });
  });

  it.each([
    [
      'of a call that we placed',
      { ['Direction']: 'outbound-api', ['CallStatus']: 'in-progress' },
      'in-progress',
    ],
    ['of a call that is over', { ['CallStatus']: 'completed' }, 'completed'],
    [
      'with an unknown word',
      { ['Direction']: 'outbound-api', ['CallStatus']: 'floating' },
      'in-progress',
    ],
  ])('%s starts no call', (_what, more, status) => {
    const event = parse(post(INBOUND, { ...call, ...more }));
    expect(event).toMatchObject({ kind: 'status', callId: TOKEN, status });
  });

  it.each([
    ['no session', { ...call, ['Session']: undefined }],
    ['a session that is a path', { ...call, ['Session']: '../x' }],
    ['no number', { ...call, ['To']: '' }],
  ])('with %s is malformed', (_what, body) => {
    expect(() => parse(post(INBOUND, body))).toThrowError(
      expect.objectContaining({ code: 'WEBHOOK_MALFORMED' }),
    );
  });
});

describe('the domain of a webhook', () => {
  it.each([
    [post(INBOUND, { ['Domain']: 'Acme' }), 'acme.cloudonix.net'],
    [post(INBOUND, {}, { 'x-cx-domain': 'voice.example.com' }), 'voice.example.com'],
    [post(STATUS, { domain: 'acme.cloudonix.net' }), 'acme.cloudonix.net'],
    [post(INBOUND, { ['Domain']: '04de7985-ebeb-41d8-9c51-c91e48c0c96d' }), undefined],
    [post(INBOUND, { ['Domain']: '4711' }), undefined],
    [post(INBOUND, { ['Domain']: 'a b' }), undefined],
  ])('is its name in full, or none', (request, expected) => {
    expect(accountOf(request)).toBe(expected);
  });

  it('that is no name leaves the choice to the key', () => {
    const body = { ...call, ['Domain']: '4711', ['AccountSid']: '4711' };
    expect(parse(post(INBOUND, body))).toMatchObject({ accountId: null });
  });
});

describe('the proof of a webhook', () => {
  const withKey = (key: string) => post(INBOUND, call, { 'x-cx-apikey': key });

  it('of a new call is the key of the application, or of the account', () => {
    expect(verify(withKey('XI-application'), credentials, 0)).toBe(true);
    expect(verify(withKey('XI-bearer'), credentials, 0)).toBe(true);
  });

  it.each(['XI-other', 'XI-applicatio', 'XI-applicationn', ''])(
    'is missing for a call with the key "%s" (trap 29)',
    (key) => {
      expect(verify(withKey(key), credentials, 0)).toBe(false);
    },
  );

  it('is missing without a header, and where the configuration has no key', () => {
    expect(verify(post(INBOUND, call), credentials, 0)).toBe(false);
    expect(verify(withKey(''), { bearer_token: '', application_key: '' }, 0)).toBe(false);
    expect(verify(withKey('null'), { bearer_token: null, application_key: null }, 0)).toBe(false);
  });

  it('may be missing where a status is no more than a report: at its own routes alone', () => {
    for (const [url, body] of [
      [STATUS, update],
      [CDR, record],
    ] as const) {
      expect(verify(post(url, body), credentials, 0)).toBe(false);
      expect(cloudonixWebhook.isReport?.(post(url, body))).toBe(true);
    }
    const elsewhere = [
      ...[INBOUND, `${BASE}/cloudonix/answer/7`, `${BASE}/inbound/7`],
      ...[`${INBOUND}?x=/telephony/cloudonix/cdr`, `${CDR}/../../inbound/run`],
    ];
    for (const url of elsewhere) {
      expect(verify(post(url, update), credentials, 0)).toBe(false);
      expect(cloudonixWebhook.isReport?.(post(url, update))).toBe(false);
    }
  });

  it('of the status of a call that we placed is in its URL', () => {
    const proven = withProof(STATUS, 'XI-bearer');
    expect(verify(post(proven, update), credentials, 0)).toBe(true);
    expect(verify(post(proven.replace('/7?', '/8?'), update), credentials, 0)).toBe(false);
  });
});

describe('a status of Cloudonix', () => {
  it('is read from an object and from a list with one (trap 27)', () => {
    const expected = {
      kind: 'status',
      callId: TOKEN,
      status: 'ringing',
      providerStatus: 'ringing',

      sequence: 1_700_000_000_000,
      dedupeKey: `cloudonix:${TOKEN}:ringing`,
    };
    expect(parse(post(STATUS, update))).toMatchObject(expected);
    expect(parse(post(STATUS, [update]))).toMatchObject(expected);
  });

  it('comes from a call detail record too, by its session', () => {
    expect(parse(post(CDR, record))).toMatchObject({
      kind: 'status',
      callId: TOKEN,
      status: 'completed',
      durationS: 12,
    });
  });

  it.each([
    ['BUSY', 'busy'],
    ['CANCEL', 'canceled'],
    ['FAILED', 'failed'],
    ['CONGESTION', 'failed'],
    ['NOANSWER', 'no-answer'],
  ])('has the disposition %s for %s', (disposition, status) => {
    expect(parse(post(CDR, { ...record, disposition }))).toMatchObject({ status });
  });

  it('with an unknown word has no effect', () => {
    expect(parse(post(STATUS, { ...update, status: 'floating' })).kind).toBe('other');
    expect(parse(post(CDR, { ...record, disposition: 'MAYBE' })).kind).toBe('other');
  });

  it('that arrives twice has one key (trap 36)', () => {
    const first = parse(post(STATUS, update));
    const again = parse(post(STATUS, [{ ...update, modifiedAt: 1_700_000_000_500 }]));
    expect(again.dedupeKey).toBe(first.dedupeKey);
  });
});

describe('the answer to a call', () => {
  const request = {
    runId: '1',
    callId: TOKEN,
    isAnswered: false,
    statusUrl: '',
    answeredByUrl: '',
    mediaUrl: 'wss://gw.example.com/a&b/1',
  };

  it('connects it to our media, with an escaped URL (trap 14), and ends it after that', () => {
    const { reply, command } = cloudonixWebhook.answer(request);
    expect(reply.body).toContain(
      '<Connect><Stream url="wss://gw.example.com/a&amp;b/1"/></Connect><Hangup/>',
    );
    expect([reply.contentType, command]).toEqual(['text/xml; charset=utf-8', undefined]);
  });

  it('refuses it with a sentence, or as busy', () => {
    expect(cloudonixWebhook.reject('not-configured', null).reply.body).toContain('<Say>');
    expect(cloudonixWebhook.reject('busy', null).reply.body).toContain('<Reject reason="busy"/>');
  });
});

it('a webhook is an event or WEBHOOK_MALFORMED, for any input', () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.jsonValue({ maxDepth: 1 }),
    fc.constant(TOKEN),
  );
  const keys = [...Object.keys(call), ...Object.keys(update), ...Object.keys(record)];
  const changed = fc
    .record({
      body: fc.constantFrom<object>(call, update, record),
      key: fc.constantFrom(...keys),
      value,
      isList: fc.boolean(),
    })
    .map(({ body, key, value: to, isList }) => {
      const fields = { ...body, [key]: to };
      return isList ? [fields] : fields;
    });
  const property = fc.property(fc.oneof(changed, fc.jsonValue({ maxDepth: 1 })), (body) => {
    try {
      const request = post(STATUS, body ?? null);
      recognises(request);
      accountOf(request);
      verify(request, credentials, 0);
      parse(request);
    } catch (error) {
      if (codeOf(error) !== 'WEBHOOK_MALFORMED') throw error;
    }
  });
  expect(() => fc.assert(property, { numRuns: rounds(RUNS) })).not.toThrow();
}, 300_000);
