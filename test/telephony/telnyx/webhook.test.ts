// Telnyx' webhooks: what they mean, and by which commands they are answered.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { newTransferId } from '../../../src/model/transfer-id.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { telnyxProvider } from '../../../src/telephony/telnyx/provider.ts';
import { clientState } from '../../../src/telephony/telnyx/stream-settings.ts';
import { jsonPost } from '../provider/provider-request.ts';

const URL = 'https://gw.example.com/api/v1/telephony/inbound/run';
const { webhook } = telnyxProvider.create({ clock: systemClock });
const CALL = 'v3:abc';

function event(type: string, payload: Record<string, unknown> = {}, id = 'e1') {
  const data = {
    record_type: 'event',
    event_type: type,
    id,
    occurred_at: '2026-11-21T10:00:00.250000Z',
    payload: {
      call_control_id: CALL,
      connection_id: '1293384261075731499',
      from: '+14155550101',
      to: '+14155550100',
      ...payload,
    },
  };
  return jsonPost(URL, JSON.stringify({ data, meta: { attempt: 1, delivered_to: URL } }));
}
const parse = (type: string, payload?: Record<string, unknown>) =>
  webhook.parse(event(type, payload));

describe('a webhook of Telnyx', () => {
  it('is recognised by its signature or its form, and nothing else is', () => {
    expect(webhook.recognises(event('call.answered'))).toBe(true);
    const bytes = jsonPost(URL, '{}', { ['telnyx-signature-ed25519']: 'x' });
    expect(webhook.recognises(bytes)).toBe(true);
    expect(webhook.recognises(jsonPost(URL, '{"data":{"record_type":"call"}}'))).toBe(false);
    expect(webhook.recognises(jsonPost(URL, '[]'))).toBe(false);
  });

  it('of an inbound call names the call, the application and the numbers', () => {
    expect(parse('call.initiated', { direction: 'incoming', state: 'parked' })).toMatchObject({
      kind: 'inbound-call',
      callId: CALL,
      accountId: '1293384261075731499',
      from: '+14155550101',
      to: '+14155550100',
      dedupeKey: `telnyx:${CALL}:inbound`,
    });
    expect(webhook.accountOf(event('call.answered'))).toBe('1293384261075731499');
    expect(webhook.accountOf(event('x', { connection_id: 7 }))).toBe('7');
  });

  it.each([[''], [null], [undefined]])(
    'of a caller who withholds the number (%j) is a call',
    (from) => {
      const call = parse('call.initiated', { direction: 'incoming', from });
      expect(call).toMatchObject({ kind: 'inbound-call', from: 'anonymous', to: '+14155550100' });
    },
  );

  it('of a call that we placed is no inbound call', () => {
    expect(parse('call.initiated', { direction: 'outgoing' })).toMatchObject({
      kind: 'status',
      status: 'initiated',
    });
  });

  it.each([
    ['normal_clearing', {}, 'completed'],
    ['time_limit', {}, 'completed'],
    ['user_busy', {}, 'busy'],
    ['timeout', {}, 'no-answer'],
    ['no_answer', {}, 'no-answer'],
    ['originator_cancel', {}, 'canceled'],
    ['call_rejected', {}, 'failed'],
    ['call_rejected', { sip_hangup_cause: '486' }, 'busy'],
    ['call_rejected', { sip_hangup_cause: 600 }, 'busy'],
    ['not_found', {}, 'failed'],
    ['unspecified', {}, 'failed'],
    ['something new', {}, 'failed'],
  ])('of the end by %s %j is %s', (hangupCause, more, status) => {
    const ended = parse('call.hangup', { hangup_cause: hangupCause, ...more });
    expect(ended).toMatchObject({
      kind: 'status',
      status,
      providerStatus: `call.hangup ${hangupCause}`,
      sequence: Date.parse('2026-11-21T10:00:00.250Z'),
      dedupeKey: 'telnyx:e1',
    });
  });

  it('with an underscore after its first word means the same', () => {
    expect(parse('call_answered')).toMatchObject({ kind: 'status', status: 'in-progress' });
  });

  it.each([
    ['call.machine.detection.ended', 'human', false],
    ['call.machine.detection.ended', 'machine', true],
    ['call.machine.detection.ended', 'not_sure', false],
    ['call.machine.premium.detection.ended', 'human_residence', false],
    ['call.machine.premium.detection.ended', 'machine', true],
    ['call.machine.premium.detection.ended', 'silence', false],
    ['call.machine.premium.detection.ended', 'fax_detected', true],
  ])('%s with %s: a machine is %s', (type, result, machine) => {
    expect(parse(type, { result })).toMatchObject({
      kind: 'answered-by',
      callId: CALL,
      answeredBy: result,
      machine,
    });
  });

  it.each([
    'call.machine.greeting.ended',
    'call.bridged',
    'call.dtmf.received',
    'call.cost',
    'streaming.started',
    'conference.ended',
  ])('%s changes nothing', (type) => {
    expect(parse(type)).toEqual({ kind: 'other', dedupeKey: 'telnyx:e1' });
  });

  it.each(['streaming.failed', 'streaming_failed'])('%s says why there are no media', (type) => {
    expect(parse(type, { failure_reason: 'connection_failed' })).toEqual({
      kind: 'media-failed',
      callId: CALL,
      reason: 'connection_failed',
      dedupeKey: 'telnyx:e1',
    });
  });

  it('is stored without what is nested or long', () => {
    const parsed = parse('call.answered', {
      client_state: 'MQ==',
      custom_headers: [{ name: 'x', value: 'y' }],
      long: 'x'.repeat(5_000),
    });
    const { raw } = parsed as { raw: Record<string, unknown> };
    expect(raw).not.toHaveProperty('client_state');
    expect(raw).not.toHaveProperty('custom_headers');
    expect(String(raw['long'])).toHaveLength(500);
    expect(raw['event_type']).toBe('call.answered');
  });

  it.each([
    '{}',
    '{"data":null}',
    '{"data":{"record_type":"event"}}',
    '{"data":{"record_type":"event","event_type":"call.answered","id":"1","payload":{}}}',
    '{"data":{"record_type":"event","event_type":"call.initiated","id":"1","payload":{"call_control_id":"c","direction":"incoming"}}}',
  ])('that is none is refused: %s', (body) => {
    let error: unknown;
    try {
      webhook.parse(jsonPost(URL, body));
    } catch (thrown) {
      error = thrown;
    }
    expect(codeOf(error)).toBe('WEBHOOK_MALFORMED');
  });

  it('is answered with nothing but success, for what is to be done is a command', () => {
    const request = {
      runId: '1',
      callId: CALL,
      isAnswered: false,
      mediaUrl: 'wss://gw/x',
      statusUrl: 'https://gw/s',
      answeredByUrl: 'https://gw/s',
    };
    const { reply, command } = webhook.answer(request);
    expect([reply.status, reply.body]).toEqual([200, '{"status":"ok"}']);
    expect(command).toBeInstanceOf(Function);
    expect(webhook.reject('busy', CALL).command).toBeInstanceOf(Function);
    expect(webhook.reject('busy', null).command).toBeUndefined();
  });
});

// The signature covers no URL: a webhook of one call, sent once more to the URL of another run, connected that run's call
// to media while it rang, which failed, or gave it the first one's call.
describe('a webhook of a call that Telnyx knows by our run', () => {
  const isOfRun = (runId: string, state: unknown) =>
    webhook.isOfRun?.(event('call.answered', { client_state: state }), runId);

  it('is of that run, or of a transfer of it, alone', () => {
    const transferId = newTransferId('7', 'warm', systemRandom);
    expect(isOfRun('7', clientState('7'))).toBe(true);
    expect(isOfRun('7', clientState(transferId))).toBe(true);
    expect(isOfRun('8', clientState('7'))).toBe(false);
    expect(isOfRun('7', clientState('77'))).toBe(false);
    expect(isOfRun('8', clientState(transferId))).toBe(false);
  });

  it('may name none, as of an inbound call that is not answered yet', () => {
    for (const none of [null, undefined, '']) expect(isOfRun('7', none)).toBe(true);
  });
});
