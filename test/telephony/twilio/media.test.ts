import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaListener } from '../../../src/telephony/provider/media-session.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';
import { rounds } from '../../rounds.ts';

const wire = readFileSync('fixtures/wire/twilio/media-stream.jsonl', 'utf8').trim().split('\n');
const [connected = '', start = '', sidLast = '', sidFirst = '', dtmf = '', mark = '', stop = ''] =
  wire;
const STREAM = 'MZ00000000000000000000000000000001';
const pattern = Uint8Array.from({ length: 160 }, (_, i) => (i * 37) & 255);
const patternBase64 = Buffer.from(pattern).toString('base64');

type Heard = [string, ...unknown[]];

/** Writes down what it hears; payloads as hex, because they are only lent. */
function scribe(): { listener: MediaListener; heard: Heard[] } {
  const heard: Heard[] = [];
  return {
    heard,
    listener: {
      onAudio: (payload, timestampMs) =>
        heard.push(['audio', Buffer.from(payload).toString('hex'), timestampMs]),
      onEvent: ({ type, ...facts }) => heard.push([type, ...Object.values(facts)]),
    },
  };
}

function started() {
  const media = createTwilioMedia();
  media.decodeText(start, scribe().listener);
  return media;
}

/** As a socket does it: plain ASCII is offered as bytes, which lie among others. */
function decode(media: MediaProtocol, message: string, listener: MediaListener): void {
  const bytes = Buffer.from(`##${message}"}}`, 'latin1');
  const isAscii = Buffer.byteLength(message) === message.length;
  const isTaken = isAscii && media.decodeAscii?.(bytes, 2, bytes.length - 3, listener);
  if (isTaken !== true) media.decodeText(message, listener);
}

/** What one message means to a stream that has started, or the code of its error. */
function meaning(message: string): Heard[] | string {
  const { listener, heard } = scribe();
  try {
    decode(started(), message, listener);
  } catch (error) {
    return codeOf(error) ?? `not ours: ${String(error)}`;
  }
  return heard;
}

describe('a Twilio media stream', () => {
  it('is understood from its first message to its last', () => {
    const media = createTwilioMedia();
    const { listener, heard } = scribe();
    for (const message of wire) decode(media, message, listener);
    const hex = Buffer.from(pattern).toString('hex');
    expect(heard).toEqual([
      [
        'started',
        {
          callId: 'CA00000000000000000000000000000001',
          streamId: STREAM,
          codecIn: 'PCMU',
          codecOut: 'PCMU',
          parameters: { note: 'a b' },
        },
      ],
      ['audio', hex, 5],
      ['audio', hex, 25],
      ['digit', '7'],
      ['mark', '3:12', 'played'],
      ['closed', 'ended'],
    ]);
  });

  it('speaks the envelope that Twilio documents', () => {
    const media = started();
    expect(media.encodeAudio(pattern)).toBe(
      `{"event":"media","streamSid":"${STREAM}","media":{"payload":"${patternBase64}"}}`,
    );
    expect(media.encodeMark('3:12')).toBe(
      `{"event":"mark","streamSid":"${STREAM}","mark":{"name":"3:12"}}`,
    );
    expect(media.encodeClear()).toBe(`{"event":"clear","streamSid":"${STREAM}"}`);
  });

  it('sends payloads of any length, from any memory', () => {
    const media = started();
    for (const bytes of [0, 1, 159, 160, 320, 20_000]) {
      const whole = Uint8Array.from({ length: bytes + 7 }, (_, i) => i & 255);
      const payload = whole.subarray(7);
      const sent: unknown = JSON.parse(String(media.encodeAudio(payload)));
      expect(sent).toMatchObject({
        media: { payload: Buffer.from(payload).toString('base64') },
      });
    }
  });

  it('returns marks under their names, so that a cleared generation can be identified', () => {
    const media = started();
    const { listener, heard } = scribe();
    const names = ['1:1', '2:1', 'a"b\\c', 'ü'];
    for (const name of names) media.decodeText(String(media.encodeMark(name)), listener);
    expect(heard).toEqual(names.map((name) => ['mark', name, 'played']));
  });

  it('lends its buffer for one call only', () => {
    const media = started();
    const seen: Uint8Array[] = [];
    const listener = { ...scribe().listener, onAudio: (lent: Uint8Array) => void seen.push(lent) };
    decode(media, sidLast, listener);
    decode(media, sidFirst.replace(patternBase64, Buffer.alloc(160).toString('base64')), listener);
    expect(seen[0]).toBe(seen[1]);
    expect(seen[0]?.every((byte) => byte === 0)).toBe(true);
  });

  it.each([
    ['media before start', sidLast],
    ['a mark before start', mark],
  ])('does not accept %s', (_what, message) => {
    expect(() => createTwilioMedia().decodeText(message, scribe().listener)).toThrow(
      expect.objectContaining({ code: 'MEDIA_MALFORMED' }),
    );
  });

  it.each([
    ['not JSON', '{"event":'],
    ['no event', '{"streamSid":"MZ1"}'],
    ['a second start', start],
    ['audio of another stream', sidLast.replace(STREAM, 'MZ2')],
    ['a payload that is not base64', sidLast.replace(patternBase64, `!${patternBase64.slice(1)}`)],
    ['a cut payload', sidLast.replace(patternBase64, patternBase64.slice(1))],
    ['a digit that no telephone has', dtmf.replace('"7"', '"x"')],
    ['a mark without a name', mark.replace('"name"', '"label"')],
    ['a list', '[]'],
  ])('calls %s malformed', (_what, message) => {
    expect(meaning(message)).toBe('MEDIA_MALFORMED');
  });

  it('names an encoding that it cannot take', () => {
    const other = start.replace('audio/x-mulaw', 'audio/opus');
    expect(() => createTwilioMedia().decodeText(other, scribe().listener)).toThrow(
      expect.objectContaining({
        code: 'MEDIA_CODEC',
        facts: { encoding: 'audio/opus/8000/1' },
      }),
    );
  });

  it('ignores an unknown event, and the other track', () => {
    expect(meaning('{"event":"hiccup","streamSid":"x"}')).toEqual([]);
    expect(meaning(sidLast.replace('"inbound"', '"outbound"'))).toEqual([]);
    expect(meaning(connected)).toEqual([]);
    expect(meaning(stop)).toEqual([['closed', 'ended']]);
  });

  it('has no time for audio without a timestamp', () => {
    const bare = `{"event":"media","streamSid":"${STREAM}","media":{"payload":"AAAA"}}`;
    expect(meaning(bare)).toEqual([['audio', '000000', Number.NaN]]);
  });
});

describe('reading audio in place', () => {
  // A leading blank is the same JSON, and never takes the short way.
  const bothWays = (message: string) => [meaning(message), meaning(` ${message}`)];

  it('means the same as reading it as JSON, for well-formed audio', () => {
    const digits = fc.nat({ max: 1e9 }).map(String);
    const payload = fc.uint8Array({ maxLength: 400 }).map((b) => Buffer.from(b).toString('base64'));
    const sidIsLast = fc.boolean();
    fc.assert(
      fc.property(digits, digits, digits, payload, sidIsLast, (seq, chunk, time, data, last) => {
        const body = `"media":{"track":"inbound","chunk":"${chunk}","timestamp":"${time}","payload":"${data}"}`;
        const id = `"streamSid":"${STREAM}"`;
        const message = `{"event":"media","sequenceNumber":"${seq}",${last ? `${body},${id}` : `${id},${body}`}}`;
        const [short, long] = bothWays(message);
        expect(short).toEqual(long);
        if (data !== '') {
          expect(short).toEqual([
            ['audio', Buffer.from(data, 'base64').toString('hex'), Number(time)],
          ]);
        }
      }),
      { numRuns: rounds(1_000) },
    );
  });

  it('means the same as reading it as JSON, for audio messages with faults', () => {
    const fault = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 4 }),
      insert: fc.oneof(
        fc.constantFrom(
          '',
          '"',
          '\\',
          '\\u0041',
          '=',
          '==',
          '-',
          '_',
          '\n',
          '{',
          '}',
          ',',
          ':',
          '0',
        ),
        fc.string({ maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(sidLast, sidFirst),
        fc.array(fault, { maxLength: 3 }),
        (m, faults) => {
          let message = m.replace(patternBase64, patternBase64.slice(0, 24));
          for (const { at, remove, insert } of faults) {
            const index = at % message.length;
            message = message.slice(0, index) + insert + message.slice(index + remove);
          }
          const [short, long] = bothWays(message);
          expect(short).toEqual(long);
        },
      ),
      { numRuns: rounds(5_000) },
    );
  });

  it('gives a value or its error code for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const result = meaning(text);
        expect(typeof result === 'string' ? result : 'fine').toMatch(
          /^(fine|MEDIA_MALFORMED|MEDIA_CODEC)$/,
        );
      }),
      { numRuns: rounds(1_000) },
    );
  });
});
