// Every parser of a hosted provider's messages, many thousands of them each: any text gives a value or the error code
// of its kind, and reading from bytes gives what JSON gives.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../src/errors/gateway-error.ts';
import { systemClock } from '../../src/std/clock.ts';
import type { MediaProtocol } from '../../src/telephony/provider/media-protocol.ts';
import type { MediaListener } from '../../src/telephony/provider/media-session.ts';
import type { ProviderRequest } from '../../src/telephony/provider/provider.ts';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import { HEADER_BYTES } from '../load/caller/media-client.ts';
import { protocolOf, streamOf } from '../load/gateway-end.ts';
import { type CallStream, HOSTED, type HostedName } from '../load/wires/wire.ts';
import { wires } from '../load/wires/wires.ts';
import { rounds } from '../rounds.ts';
import { mutated, Sequence } from './mutations.ts';
import { bare, formPost } from './provider/provider-request.ts';

const INPUTS = rounds(10_000);
/** Smallest share of all inputs that is read, and that is refused: other inputs would show little. */
const SHARE_MIN = 0.02;
const LIMIT_MS = 120_000;
const URL = 'https://gw.example.com/api/v1/telephony/inbound/run';

const { stackTraceLimit } = Error;
// Of a million errors nobody reads the stack; taking it is a sixth of the time.
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

class Outcomes {
  read = 0;
  refused = 0;
  readonly codes = new Set<string>();

  /** Runs `work`; the code of its error, or undefined. */
  of(work: () => void): string | undefined {
    try {
      work();
      this.read += 1;
      return undefined;
    } catch (error) {
      const code = codeOf(error) ?? String(error);
      this.refused += 1;
      this.codes.add(code);
      return code;
    }
  }

  expectBoth(codes: readonly string[]): void {
    expect([...this.codes].filter((code) => !codes.includes(code))).toEqual([]);
    expect(this.read).toBeGreaterThan(INPUTS * SHARE_MIN);
    expect(this.refused).toBeGreaterThan(INPUTS * SHARE_MIN);
  }
}

class Scribe implements MediaListener {
  last = '';

  onAudio(payload: Uint8Array, timestampMs: number): void {
    this.last += `audio ${timestampMs} ${Buffer.from(payload).toString('latin1')}`;
  }

  onEvent(event: unknown): void {
    this.last += JSON.stringify(event);
  }
}

/** The messages of a stream, in all their kinds. */
function messagesOf(provider: HostedName, stream: CallStream): string[] {
  const texts = [...stream.opening(), stream.key('5'), stream.played('1:2')];
  for (const each of [stream.cleared(), stream.stop()]) if (each !== undefined) texts.push(each);
  if (provider === 'vonage') return texts;
  const payload = wires[provider].payloadOf(Uint8Array.from({ length: 160 }, (_each, i) => i));
  const audio = Array.from({ length: 4 }, () =>
    stream.audio(payload).toString('latin1', HEADER_BYTES),
  );
  return [...texts, ...audio];
}

/** As the connection gives a message on. */
function decode(media: MediaProtocol, message: string, scribe: Scribe): void {
  const bytes = Buffer.from(message);
  const isAscii = bytes.length === message.length;
  if (isAscii && media.decodeAscii?.(bytes, 0, bytes.length, scribe) === true) return;
  media.decodeText(message, scribe);
}

describe.each(HOSTED)('media messages of %s', (provider) => {
  it(
    'are a value or MEDIA_MALFORMED or MEDIA_CODEC, from bytes as from text',
    () => {
      const stream = streamOf(provider);
      const messages = messagesOf(provider, stream);
      const [fast, plain] = [protocolOf(provider), protocolOf(provider)];
      const [heard, wanted] = [new Scribe(), new Scribe()];
      for (const message of messages) {
        fast.decodeText(message, heard);
        plain.decodeText(message, wanted);
      }
      const sequence = new Sequence();
      const outcomes = new Outcomes();
      const plainOutcomes = new Outcomes();
      for (let nth = 0; nth < INPUTS; nth++) {
        const message = mutated(messages, sequence);
        heard.last = '';
        wanted.last = '';
        const code = outcomes.of(() => decode(fast, message, heard));
        const wantedCode = plainOutcomes.of(() => plain.decodeText(message, wanted));
        if (code !== wantedCode || heard.last !== wanted.last) expect.fail(message);
      }
      outcomes.expectBoth(['MEDIA_MALFORMED', 'MEDIA_CODEC']);
    },
    LIMIT_MS,
  );
});

/** Bodies of each provider's webhooks. */
const bodies: Readonly<Record<HostedName, readonly string[]>> = {
  twilio: [
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&From=%2B14155550100&To=%2B14155550101&Direction=inbound&CallStatus=ringing`,
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&CallStatus=completed&SequenceNumber=3&CallDuration=7&Direction=outbound-api&CallbackSource=call-progress-events`,
    `CallSid=CA${'1'.repeat(32)}&AccountSid=AC${'2'.repeat(32)}&AnsweredBy=machine_start`,
  ],
  telnyx: ['call.initiated', 'call.hangup', 'call.machine.detection.ended', 'streaming.failed'].map(
    (type) =>
      JSON.stringify({
        data: {
          ['record_type']: 'event',
          ['event_type']: type,
          id: 'e1',
          ['occurred_at']: '2026-11-21T10:00:00.250000Z',
          payload: {
            ['call_control_id']: 'v3:abc',
            ['connection_id']: '1293384261075731499',

            from: '+14155550101',
            to: '+14155550100',
            direction: 'incoming',

            ['hangup_cause']: 'user_busy',
            ['sip_hangup_cause']: '486',
            result: 'machine',
          },
        },
        meta: { attempt: 1 },
      }),
  ),
  plivo: xmlBodies(),
  vobiz: xmlBodies(),
  cloudonix: [
    '{"CallSid":"c1","Session":"ffffffffffffffffffffffffffffffff","From":"100","To":"200","Direction":"inbound","CallStatus":"ringing","Domain":"acme.cloudonix.net","SessionData":{"token":"ffffffffffffffffffffffffffffffff"}}',
    '{"id":4711,"domain":"acme.cloudonix.net","token":"ffffffffffffffffffffffffffffffff","status":"answer","callStartTime":1,"callAnswerTime":2,"callEndTime":9000}',
    '{"call_id":"c1","domain":"acme.cloudonix.net","disposition":"BUSY","billsec":0,"session":{"token":"ffffffffffffffffffffffffffffffff"}}',
  ],
  vonage: [
    '{"from":"14155550100","to":"14155550101","uuid":"aaaa-bbbb","conversation_uuid":"CON-1"}',
    '{"from":"14155550100","to":"14155550101","uuid":"aaaa-bbbb","conversation_uuid":"CON-1","status":"completed","duration":"7","direction":"inbound"}',
    '{"call_uuid":"aaaa-bbbb","status":"machine","sub_state":"beep_start"}',
  ],
};

function xmlBodies(): string[] {
  const common = 'CallUUID=97ceeb52&From=14155550100&To=14155550101&ParentAuthID=MA1';
  return [
    `${common}&Direction=inbound&CallStatus=ringing&Event=StartApp`,
    `${common}&Direction=outbound&CallStatus=busy&Event=Hangup&HangupCauseCode=3010&Duration=0&ALegRequestUUID=97ceeb52`,
    `${common}&Event=MachineDetection&Machine=true`,
  ];
}

/** A body as the API gives it on: JSON that is none has no value. */
function posted(provider: HostedName, body: string): ProviderRequest {
  if (!bodies[provider][0]?.startsWith('{')) return formPost(URL, body);
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  return { ...bare(URL), method: 'POST', rawBody: Buffer.from(body), json };
}

describe.each(HOSTED)('webhooks of %s', (provider) => {
  it(
    'are an event or WEBHOOK_MALFORMED',
    () => {
      const { webhook } = hostedRow(provider).create({ clock: systemClock });
      const sequence = new Sequence();
      const outcomes = new Outcomes();
      const kinds = new Set<string>();
      for (let nth = 0; nth < INPUTS; nth++) {
        const request = posted(provider, mutated(bodies[provider], sequence));
        webhook.recognises(request);
        webhook.accountOf(request);
        outcomes.of(() => {
          const event = webhook.parse(request);
          kinds.add(event.kind);
          if (!event.dedupeKey.startsWith(`${provider}:`)) throw new Error(event.dedupeKey);
        });
      }
      outcomes.expectBoth(['WEBHOOK_MALFORMED']);
      expect(kinds.size).toBeGreaterThanOrEqual(2);
    },
    LIMIT_MS,
  );
});
