import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { createStreamMedia } from '../../../src/telephony/plivo-xml/media.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaListener } from '../../../src/telephony/provider/media-session.ts';
import { rounds } from '../../rounds.ts';

/** `FUZZ_RUNS=100000` for a longer run. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const STREAM = 's-1';
const frame = Buffer.from(Uint8Array.from({ length: 160 }, (_, i) => (i * 37) & 255));
const payload = frame.toString('base64');
const startOf = (encoding = 'audio/x-mulaw', sampleRate: unknown = 8_000) =>
  JSON.stringify({
    sequenceNumber: 0,
    event: 'start',
    start: {
      callId: 'c-1',
      streamId: STREAM,
      accountId: 'a',
      tracks: ['inbound'],
      mediaFormat: { encoding, sampleRate },
    },
    extra_headers: 'a=1',
  });
const audioAt = (timestamp: string, more = {}) =>
  JSON.stringify({
    sequenceNumber: 1,
    event: 'media',
    streamId: STREAM,
    media: { track: 'inbound', timestamp, chunk: 1, payload, ...more },
  });

type Seen = [string, ...unknown[]];

function recorder(): { listener: MediaListener; seen: Seen[] } {
  const seen: Seen[] = [];
  return {
    seen,
    listener: {
      onAudio: (given, ms) => seen.push(['audio', Buffer.from(given).toString('hex'), ms]),
      onEvent: ({ type, ...facts }) => seen.push([type, ...Object.values(facts)]),
    },
  };
}

function started(start = startOf()): MediaProtocol {
  const media = createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' });
  media.decodeText(start, recorder().listener);
  return media;
}

function decoded(media: MediaProtocol, ...messages: string[]): Seen[] {
  const { listener, seen } = recorder();
  for (const message of messages) media.decodeText(message, listener);
  return seen;
}

describe('an audio stream of Plivo', () => {
  it('is decoded from its start to its close, without a last message (trap 19)', () => {
    const media = createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' });
    const hex = frame.toString('hex');
    const messages = [
      startOf(),
      audioAt('1712345678901'),
      audioAt('1712345678921'),
      `{"event":"dtmf","streamId":"${STREAM}","dtmf":{"track":"inbound","digit":"5"}}`,
      `{"event":"playedStream","streamId":"${STREAM}","name":"3:12"}`,
      `{"event":"clearedAudio","streamId":"${STREAM}"}`,
    ];
    const codecs = { codecIn: 'PCMU', codecOut: 'PCMU' };
    expect(decoded(media, ...messages)).toEqual([
      ['started', { callId: 'c-1', streamId: STREAM, ...codecs, parameters: {} }],
      ['audio', hex, 0],
      ['audio', hex, 20],
      ['digit', '5'],
      ['mark', '3:12', 'played'],
    ]);
  });

  it('ends with a stop, which some versions send', () => {
    expect(decoded(started(), '{"event":"stop"}')).toEqual([['closed', 'ended']]);
  });

  it('is sent audio, checkpoints and clears as documented', () => {
    const media = started();
    expect(media.encodeAudio(frame)).toBe(
      `{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"${payload}"}}`,
    );
    expect(media.encodeMark('3:"12')).toBe(
      `{"event":"checkpoint","streamId":"${STREAM}","name":"3:\\"12"}`,
    );
    expect(media.encodeClear()).toBe(`{"event":"clearAudio","streamId":"${STREAM}"}`);
  });

  it('is sent payloads of any length', () => {
    for (const bytes of [0, 1, 159, 320, 20_000, 40_000]) {
      const sent: unknown = JSON.parse(String(started().encodeAudio(new Uint8Array(bytes))));
      const expected = Buffer.alloc(bytes).toString('base64');
      expect(sent).toMatchObject({ media: { payload: expected } });
    }
  });

  it.each([
    ['audio/x-l16', 8_000, 'L16'],
    ['audio/x-l16', '16000', 'L16/16000'],
  ])('may be linear: %s at %s', (encoding, rate, codec) => {
    const media = createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' });
    const [start] = decoded(media, startOf(encoding, rate));
    expect(start?.[1]).toMatchObject({ codecIn: codec, codecOut: codec });
    expect(decoded(media, audioAt('1'))).toEqual([['audio', frame.toString('hex'), 0]]);
    expect(JSON.parse(String(media.encodeAudio(frame)))).toMatchObject({
      media: { contentType: encoding, sampleRate: Number(rate) },
    });
  });

  it.each([
    ['audio/x-l16', 24_000],
    ['audio/opus', 48_000],
  ])('of %s at %s is refused', (encoding, rate) => {
    const media = createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' });
    expect(() => decoded(media, startOf(encoding, rate))).toThrow(
      expect.objectContaining({ code: 'MEDIA_CODEC' }),
    );
  });

  it('has no audio of ours, and none before its start', () => {
    expect(decoded(started(), audioAt('1', { track: 'outbound' }))).toEqual([]);
    const media = createStreamMedia({ provider: 'plivo', linearIn: 'little-endian' });
    expect(decoded(media, audioAt('1'))).toEqual([]);
  });

  it.each([
    ['no JSON', 'x'],
    ['no event', '{}'],
    ['a second start', startOf()],
    ['another stream', audioAt('1').replace(STREAM, 's-2')],
    ['no base64', audioAt('1', { payload: '*' })],
    ['a payload that is too long', audioAt('1', { payload: 'A'.repeat(80_000) })],
    ['a key that is none', '{"event":"dtmf","dtmf":{"digit":"x"}}'],
    ['a checkpoint without a name', '{"event":"playedStream"}'],
  ])('is malformed: %s', (_what, message) => {
    expect(() => decoded(started(), message)).toThrow(
      expect.objectContaining({ code: 'MEDIA_MALFORMED' }),
    );
  });

  it('may have later events, which are passed over', () => {
    expect(decoded(started(), '{"event":"degradedStream"}')).toEqual([]);
  });

  it('is a value or MEDIA_MALFORMED, for any input', () => {
    const whole = [
      startOf(),
      audioAt('20', { payload: 'AAAA' }),
      `{"event":"dtmf","streamId":"${STREAM}","dtmf":{"digit":"5"}}`,
      `{"event":"playedStream","name":"3:12"}`,
      '{"event":"clearedAudio"}',
      '{"event":"stop"}',
    ];
    const part = fc.constantFrom(
      '',
      '"',
      '{',
      '}',
      '[]',
      ',',
      ':',
      'null',
      '-1',
      '1e9',
      '\\u0000',
      '=',
      'é',
      STREAM,
    );
    const message = fc
      .tuple(fc.constantFrom(...whole), fc.nat(400), fc.nat(12), part)
      .map(([text, at, cut, put]) => {
        const index = at % (text.length * 2);
        return text.slice(0, index) + put + text.slice(index + cut);
      });
    const kinds = new Set<string>();
    fc.assert(
      fc.property(message, (text) => {
        try {
          for (const [kind] of decoded(started(), text)) kinds.add(kind);
        } catch (error) {
          expect(['MEDIA_MALFORMED', 'MEDIA_CODEC']).toContain(codeOf(error));
          kinds.add('malformed');
        }
      }),
      { numRuns: rounds(RUNS) },
    );
    expect([...kinds].toSorted()).toEqual(['audio', 'closed', 'digit', 'malformed', 'mark']);
  }, 120_000);
});
