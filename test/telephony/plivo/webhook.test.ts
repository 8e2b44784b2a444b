import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { plivoWebhook } from '../../../src/telephony/plivo/webhook.ts';
import { conferenceUrl, transferUrl } from '../../../src/telephony/plivo-xml/xml-documents.ts';
import { readDocument } from '../../fakes/plivo/markup.ts';
import { rounds } from '../../rounds.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';

/** `FUZZ_RUNS=100000` for a longer run. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
const call = '97ceeb52-58b6-11e1-86da-77300b68f8bb';
const common = `CallUUID=${call}&From=14155550100&To=14155550101`;
const inbound = `${common}&Direction=inbound&CallStatus=ringing&Event=StartApp`;
const outbound = (more: string) =>
  `${common}&Direction=outbound&ALegUUID=${call}&ALegRequestUUID=${call}&${more}`;
const parse = (form: string) => plivoWebhook.parse(formPost(url, form));
const media = 'wss://gw.example.com/api/v1/telephony/ws/1/2/3/tok';
const answer = (mediaUrl = media) =>
  plivoWebhook.answer({
    runId: '1',
    callId: call,
    isAnswered: false,
    statusUrl: '',
    answeredByUrl: '',
    mediaUrl,
  }).reply;

describe('a webhook of Plivo', () => {
  it.each([
    ['its signature', bare(url, { ['x-plivo-signature-v3']: 'x' })],
    ['its fields', formPost(url, inbound)],
  ])('is recognised by %s', (_what, request) => {
    expect(plivoWebhook.recognises(request)).toBe(true);
  });

  it.each([
    ['Vobiz, by its signature', formPost(url, inbound, { ['x-vobiz-signature-v3']: 'x' })],
    ['Vobiz, by its older signature', formPost(url, inbound, { ['x-vobiz-signature-v2']: 'x' })],
    ['Vobiz, by its name', formPost(url, inbound, { ['user-agent']: 'Vobiz/1.0' })],
    ['Twilio', formPost(url, 'CallSid=CA1&AccountSid=AC1')],
    ['Telnyx', jsonPost(url, '{"data":{"record_type":"event"}}')],
  ])('is not one of %s', (_what, request) => {
    expect(plivoWebhook.recognises(request)).toBe(false);
  });

  it('reports a new call, whose number decides the account', () => {
    expect(parse(inbound)).toMatchObject({
      kind: 'inbound-call',
      callId: call,
      accountId: null,
      from: '14155550100',
      to: '14155550101',
      dedupeKey: `plivo:${call}:inbound`,
    });
  });

  it.each([
    ['of an inbound call', `${common}&Direction=inbound&CallStatus=completed&Event=Hangup`],
    ['with a status of a call in progress', `${inbound.replace('StartApp', 'Hangup')}`],
    ['without an event', `${common}&Direction=inbound&CallStatus=completed&HangupCauseCode=4000`],
  ])('is no new call if it is a hang-up %s (trap 12)', (_what, form) => {
    expect(parse(form)).toMatchObject({ kind: 'status', status: 'completed' });
  });

  it.each([
    ['Event=Ring&CallStatus=ringing', 'ringing'],
    ['Event=StartApp&CallStatus=in-progress', 'in-progress'],
    ['Event=Hangup&CallStatus=completed&HangupCauseCode=4000', 'completed'],
    ['Event=Hangup&CallStatus=completed&HangupCauseCode=4010', 'completed'],
    ['Event=Hangup&CallStatus=busy&HangupCauseCode=3010', 'busy'],
    ['Event=Hangup&CallStatus=timeout&HangupCauseCode=3000', 'no-answer'],
    ['Event=Hangup&CallStatus=timeout', 'no-answer'],
    ['Event=Hangup&CallStatus=no-answer', 'no-answer'],
    ['Event=Hangup&CallStatus=cancel', 'canceled'],
    ['Event=Hangup&CallStatus=completed&HangupCauseCode=1000', 'canceled'],
    ['Event=Hangup&CallStatus=failed&HangupCauseCode=3020', 'failed'],
    ['Event=Hangup&CallStatus=completed&HangupCauseCode=1010', 'failed'],
    ['Event=Hangup&CallStatus=failed&HangupCauseCode=5030', 'failed'],
    ['Event=Hangup&HangupCause=USER_BUSY', 'busy'],
    ['Event=Hangup&CallStatus=busy&HangupCauseCode=4000', 'busy'],
  ])('%s means %s', (fields, status) => {
    expect(parse(outbound(fields))).toMatchObject({ kind: 'status', status, callId: call });
  });

  it('is of the call that the dial named, if its own id is another', () => {
    const dialled = 'aaaaaaaa-58b6-11e1-86da-77300b68f8bb';
    const form = outbound('Event=Ring&CallStatus=ringing').replace(
      `ALegRequestUUID=${call}`,
      `ALegRequestUUID=${dialled}`,
    );
    expect(parse(form)).toMatchObject({ callId: dialled });
  });

  it('has the length of an ended call, and one key however often it comes (trap 36)', () => {
    const form = outbound('Event=Hangup&CallStatus=completed&HangupCauseCode=4000&Duration=61');
    expect(parse(form)).toMatchObject({ durationS: 61, dedupeKey: `plivo:${call}:completed` });
    expect(parse(form)).toEqual(parse(form));
  });

  it.each([
    ['true', 'machine', true],
    ['false', 'human', false],
  ])('reports who answered: Machine=%s', (verdict, answeredBy, machine) => {
    const form = outbound(`Event=MachineDetection&CallStatus=in-progress&Machine=${verdict}`);
    expect(parse(form)).toMatchObject({ kind: 'answered-by', answeredBy, machine });
  });

  it.each(['Redirect', 'Transfer', 'StartStream', 'PlayedStream', 'StopStream', 'Later'])(
    'changes nothing as %s',
    (event) => {
      const form = outbound(`Event=${event}&CallStatus=in-progress`);
      expect(parse(form)).toMatchObject({ kind: 'other' });
    },
  );

  it.each(['', 'CallUUID=', 'CallUUID=a b', 'CallUUID=1&Direction=inbound&CallStatus=ringing'])(
    'is malformed without what it needs: %j',
    (form) => {
      expect(() => parse(form)).toThrow(expect.objectContaining({ code: 'WEBHOOK_MALFORMED' }));
    },
  );

  it('is an event or WEBHOOK_MALFORMED, for any input', () => {
    const word = (...words: string[]) =>
      fc.constantFrom(...words, 'a b', '\u0000', '%', '9'.repeat(40));
    const fields = fc.record(
      {
        ['CallUUID']: word(call, ''),
        ['Event']: word('StartApp', 'Ring', 'Hangup', 'MachineDetection', 'Redirect'),
        ['CallStatus']: word('ringing', 'in-progress', 'completed', 'busy', 'timeout', 'cancel'),
        ['Direction']: word('inbound', 'outbound'),
        ['From']: word('14155550100'),
        ['To']: word('14155550101'),
        ['Machine']: word('true', 'false'),
        ['HangupCauseCode']: word('3010', '4000'),
        ['Duration']: word('7', '-1', '1e9'),
        ['ALegRequestUUID']: word(call),
        ['__proto__']: word('x'),
      },
      { requiredKeys: [] },
    );
    const kinds = new Set<string>();
    fc.assert(
      fc.property(fields, (form) => {
        try {
          const event = parse(new URLSearchParams(form).toString());
          kinds.add(event.kind);
          if (form['Event'] === 'Hangup') expect(event.kind).toBe('status');
        } catch (error) {
          expect(codeOf(error)).toBe('WEBHOOK_MALFORMED');
          kinds.add('malformed');
        }
      }),
      { numRuns: rounds(RUNS) },
    );
    const all = ['answered-by', 'inbound-call', 'malformed', 'other', 'status'];
    expect([...kinds].toSorted()).toEqual(all);
  }, 120_000);
});

describe("the gateway's reply to Plivo", () => {
  it('keeps the call alive while the stream lasts, at 8 kHz, both ways (trap 13)', () => {
    const { body, contentType, status } = answer();
    expect([status, contentType]).toEqual([200, 'application/xml; charset=utf-8']);
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Stream bidirectional="true" keepCallAlive="true" ' +
        'audioTrack="inbound" contentType="audio/x-mulaw;rate=8000" streamTimeout="86400">' +
        `${media}</Stream><Hangup/></Response>`,
    );
  });

  it('escapes the URL of the stream (trap 14)', () => {
    const { body } = answer(`${media}?a=1&b=<2>`);
    expect(body).toContain(`${media}?a=1&amp;b=&lt;2&gt;</Stream>`);
    expect(readDocument(body)[0]).toMatchObject({ url: `${media}?a=1&b=<2>` });
  });

  it('gives the busy tone, or a sentence', () => {
    const body = (reason: 'busy' | 'no-workflow') => plivoWebhook.reject(reason, null).reply.body;
    expect(body('busy')).toContain('<Response><Hangup reason="busy"/></Response>');
    expect(body('no-workflow')).toMatch(/<Speak>[^<]+<\/Speak><Hangup\/>/);
  });

  it.each([
    ['14155550102', 'Number'],
    ['sip:a&b@pbx.example.com', 'User'],
  ])('is the document of a transfer to %s, as the URL says it', (to, noun) => {
    const documentUrl = 'https://gw.example.com/api/v1/telephony/plivo/transfer/1';
    const wanted = transferUrl(documentUrl, { to, callerId: '+14155550100', ringS: 20 });
    expect(wanted).toMatch(/^https:[\w./-]+\?target=[\w-]+$/);
    const body = plivoWebhook.transferDocument?.(formPost(wanted, inbound))?.body ?? '';
    expect(body).toContain(`<${noun}>`);
    expect(readDocument(body)).toEqual([
      { verb: 'Dial', to, callerId: '14155550100', ringS: 20, resultUrl: null },
      { verb: 'Hangup', reason: null },
    ]);
  });

  it('asks for a report of the destination, which is the result of a transfer', () => {
    const base = 'https://gw.example.com/api/v1/telephony/plivo';
    const resultUrl = `${base}/transfer-result/1-c${'0'.repeat(32)}`;
    const target = { to: '14155550102', callerId: '+14155550100', ringS: 20, resultUrl };
    const wanted = transferUrl(`${base}/transfer/1`, target);
    const body = plivoWebhook.transferDocument?.(formPost(wanted, inbound))?.body ?? '';
    expect(readDocument(body)[0]).toMatchObject({ verb: 'Dial', resultUrl });
    expect(body).toContain('redirect="false"');
    const report = `${common}&DialStatus=busy&DialBLegUUID=b-1&DialBLegDuration=7`;
    expect(plivoWebhook.parse(formPost(resultUrl, report))).toEqual({
      kind: 'transfer-result',
      callId: 'b-1',
      status: 'busy',
      providerStatus: 'busy',
      durationS: 7,
      dedupeKey: 'plivo:b-1:transfer',
    });
  });

  it('is the document of a conference, as the URL says it', () => {
    const wanted = conferenceUrl(
      'https://gw.example.com/api/v1/telephony/plivo/transfer/1',
      '1-w2',
    );
    const body = plivoWebhook.transferDocument?.(formPost(wanted, inbound))?.body ?? '';
    expect(readDocument(body)[0]).toEqual({ verb: 'Conference', name: '1-w2' });
  });

  it.each([
    '?conference=',
    '?conference=a%3Cb',
    '',
    '?target=',
    '?target=e30',
    '?target=WyIxIiwiIiwxXQ',
    '?target=%00',
    '?other=1',
  ])('is no document for %j', (query) => {
    const request = formPost(`https://gw.example.com/transfer/1${query}`, inbound);
    expect(plivoWebhook.transferDocument?.(request)).toBeUndefined();
  });
});
