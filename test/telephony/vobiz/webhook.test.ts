import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { normalizeAddress } from '../../../src/telephony/provider/phone-address.ts';
import { recognisedBy } from '../../../src/telephony/provider/provider.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { vobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import { vobizWebhook } from '../../../src/telephony/vobiz/webhook.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { rounds } from '../../rounds.ts';
import { formPost } from '../provider/provider-request.ts';

/** `FUZZ_RUNS=100000` for a longer run. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const url = 'https://gw.example.com/api/v1/telephony/inbound/run';
const inbound =
  'CallUUID=c-1&From=02271264296&To=02271264297&Direction=inbound&CallStatus=ringing&Event=StartApp';
const parse = (form: string) => vobizWebhook.parse(formPost(url, form));

describe('a webhook of Vobiz', () => {
  it.each([
    { ['x-vobiz-signature-v3']: 'x' },
    { ['x-vobiz-signature-v2']: 'x' },
    { ['user-agent']: 'Vobiz/2' },
  ])('is not taken for one of Plivo, which has the same fields: %o', (headers) => {
    const { hosted } = createProviders({ clock: new FakeClock(), random: systemRandom });
    expect(recognisedBy(hosted, formPost(url, inbound, headers))?.name).toBe('vobiz');
    expect(recognisedBy(hosted, formPost(url, inbound))?.name).toBe('plivo');
  });

  it('names Indian numbers in national form, which are completed (trap 34)', () => {
    const event = parse(inbound);
    if (event.kind !== 'inbound-call') throw new Error('no call');
    const known = normalizeAddress(event.to, event.toCountry ?? null)?.normalized;
    expect(known).toBe('+912271264297');
  });

  it.each(['Event=Hangup&CallStatus=in-progress', 'CallStatus=completed', 'Event=Hangup'])(
    'is no new call if it is a hang-up: %s (trap 12)',
    (fields) => {
      const form = `CallUUID=c-1&From=1&To=2&Direction=inbound&${fields}`;
      expect(parse(form)).toMatchObject({ kind: 'status', status: 'completed' });
    },
  );

  it('has a content that is confirmed before it has an effect (trap 16)', () => {
    const { capabilities } = vobizProvider.create({ clock: new FakeClock() });
    expect(capabilities).toMatchObject({ webhookProof: 'url-only', answeringMachine: false });
  });

  it('is answered with a stream that keeps the call alive and is opened once (trap 13)', () => {
    const media = 'wss://gw.example.com/ws/1?a=1&b=2';
    const { body } = vobizWebhook.answer({
      runId: '1',
      callId: 'c',
      isAnswered: false,
      statusUrl: '',
      answeredByUrl: '',
      mediaUrl: media,
    }).reply;
    expect(body).toContain(
      '<Stream bidirectional="true" keepCallAlive="true" audioTrack="inbound" ' +
        'contentType="audio/x-mulaw;rate=8000" streamTimeout="14400" maxRetries="0">',
    );
    expect(body).toContain('ws/1?a=1&amp;b=2</Stream><Hangup/>');
  });

  it('is an event or WEBHOOK_MALFORMED, for any input', () => {
    const word = (...words: string[]) => fc.constantFrom(...words, 'a b', '\u0000', '%', '');
    const fields = fc.record(
      {
        ['CallUUID']: word('c-1'),
        ['Event']: word('StartApp', 'Ring', 'Hangup', 'MachineDetection'),
        ['CallStatus']: word('ringing', 'in-progress', 'completed', 'busy'),
        ['Direction']: word('inbound', 'outbound'),
        ['From']: word('1'),
        ['To']: word('2'),
        ['HangupCause']: word('USER_BUSY', 'NORMAL_CLEARING'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, (form) => {
        try {
          expect(parse(new URLSearchParams(form).toString()).dedupeKey).toMatch(/^vobiz:/);
        } catch (error) {
          expect(codeOf(error)).toBe('WEBHOOK_MALFORMED');
        }
      }),
      { numRuns: rounds(RUNS) },
    );
  }, 120_000);
});
