import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { createCloudonixMedia } from '../../../src/telephony/cloudonix/provider.ts';
import type { MediaListener } from '../../../src/telephony/provider/media-session.ts';
import { rounds } from '../../rounds.ts';

const wire = readFileSync('fixtures/wire/cloudonix/media-stream.jsonl', 'utf8').trim().split('\n');
const [, start = ''] = wire;
const SESSION = 'a0000000000000000000000000000001';
const STREAM = 'MZ00000000000000000000000000000001';
const RUNS = 10_000;

type Event = [string, ...unknown[]];

function recorder(): { listener: MediaListener; events: Event[] } {
  const events: Event[] = [];
  return {
    events,
    listener: {
      onAudio: (payload, timestampMs) =>
        events.push(['audio', Buffer.from(payload).toString('hex'), timestampMs]),
      onEvent: ({ type, ...facts }) => events.push([type, ...Object.values(facts)]),
    },
  };
}

function decodedStart(change: (start: Record<string, unknown>) => void): Event[] {
  const message = JSON.parse(start);
  change(message);
  const { listener, events } = recorder();
  createCloudonixMedia().decodeText(JSON.stringify(message), listener);
  return events;
}

describe('a Cloudonix media stream', () => {
  it('is decoded from its first message to its last', () => {
    const media = createCloudonixMedia();
    const { listener, events } = recorder();
    for (const message of wire) media.decodeText(message, listener);
    expect(events).toEqual([
      [
        'started',
        {
          callId: SESSION,
          streamId: STREAM,
          codecIn: 'PCMU',
          codecOut: 'PCMU',
          parameters: {},
        },
      ],
      ['audio', '00254a6f94b9de03', 20],
      ['audio', '00254a6f94b9de03', Number.NaN],
      ['digit', '7'],
      ['mark', '3:12', 'played'],
      ['closed', 'ended'],
    ]);
  });

  it('names the call by its session, never by callSid (trap 26)', () => {
    const [started] = decodedStart(() => undefined);
    expect(started?.[1]).toMatchObject({ callId: SESSION });
    const withoutSession = (message: Record<string, unknown>): void => {
      delete (message['start'] as Record<string, unknown>)['session'];
    };
    expect(() => decodedStart(withoutSession)).toThrowError(
      expect.objectContaining({ code: 'MEDIA_MALFORMED' }),
    );
  });

  it('may lack what Twilio always sends: the format, and the stream of a message', () => {
    const [started] = decodedStart((message) => {
      delete message['streamSid'];
      delete (message['start'] as Record<string, unknown>)['mediaFormat'];
    });
    expect(started?.[1]).toMatchObject({ streamId: STREAM, codecIn: 'PCMU' });
  });

  it('with another format than mu-law at 8 kHz is refused', () => {
    const wide = (message: Record<string, unknown>): void => {
      const format = { encoding: 'audio/x-l16', sampleRate: 16_000, channels: 1 };
      (message['start'] as Record<string, unknown>)['mediaFormat'] = format;
    };
    expect(() => decodedStart(wide)).toThrowError(expect.objectContaining({ code: 'MEDIA_CODEC' }));
  });

  it('is written in the envelope of Twilio', () => {
    const media = createCloudonixMedia();
    media.decodeText(start, recorder().listener);
    expect(media.encodeAudio(Uint8Array.of(0, 37))).toBe(
      `{"event":"media","streamSid":"${STREAM}","media":{"payload":"ACU="}}`,
    );
    expect(media.encodeClear()).toBe(`{"event":"clear","streamSid":"${STREAM}"}`);
  });

  it('gives events or MEDIA_MALFORMED or MEDIA_CODEC, for any input', () => {
    const allowed = new Set([undefined, 'MEDIA_MALFORMED', 'MEDIA_CODEC']);
    const field = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(STREAM));
    const changed = fc
      .record({ line: fc.constantFrom(...wire), key: fc.string(), value: field })
      .map(({ line, key, value }) => JSON.stringify({ ...JSON.parse(line), [key]: value }));
    const cut = fc
      .record({ line: fc.constantFrom(...wire), at: fc.nat(400) })
      .map(({ line, at }) => line.slice(0, at));
    const property = fc.property(fc.oneof(changed, cut, fc.json(), fc.string()), (message) => {
      const media = createCloudonixMedia();
      const { listener } = recorder();
      media.decodeText(start, listener);
      let code: string | undefined;
      try {
        media.decodeText(message, listener);
      } catch (error) {
        code = codeOf(error) ?? String(error);
      }
      expect(allowed.has(code as never)).toBe(true);
    });
    fc.assert(property, { numRuns: rounds(RUNS) });
  }, 300_000);
});
