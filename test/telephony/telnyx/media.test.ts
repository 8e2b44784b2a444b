// Telnyx' media messages, and what any bytes in their place do.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { createTelnyxMedia } from '../../../src/telephony/telnyx/media.ts';
import { rounds } from '../../rounds.ts';

const FUZZ_RUNS = 10_000;

function stream(format: Record<string, unknown> = {}) {
  const media = createTelnyxMedia();
  const events: MediaEvent[] = [];
  const audio: { payload: Buffer; timestampMs: number }[] = [];
  const listener = {
    onEvent: (event: MediaEvent) => void events.push(event),
    onAudio: (payload: Uint8Array, timestampMs: number) =>
      void audio.push({ payload: Buffer.from(payload), timestampMs }),
  };
  const take = (message: unknown): void => media.decodeText(JSON.stringify(message), listener);
  const start = (): void =>
    take({
      event: 'start',
      sequence_number: '1',
      stream_id: 's1',
      start: {
        call_control_id: 'v3:x',
        media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1, ...format },
      },
    });
  return { media, events, audio, take, start, listener };
}

const refusal = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
  return 'taken';
};

describe('a media stream of Telnyx', () => {
  it('starts with its call and its codecs', () => {
    const { take, start, events } = stream();
    take({ event: 'connected', version: '1.0.0' });
    start();
    const ids = { callId: 'v3:x', streamId: 's1' };
    expect(events).toEqual([
      { type: 'started', start: { ...ids, codecIn: 'PCMU', codecOut: 'PCMU', parameters: {} } },
    ]);
  });

  it.each([
    ['PCMA', 8000, 'PCMA'],
    ['G722', 8000, 'G722'],
    ['G722', 16000, 'G722'],
    ['pcmu', '8000', 'PCMU'],
  ])('may bring %s at %s while we send mu-law', (encoding, sampleRate, codecIn) => {
    const { start, events } = stream({ encoding, sample_rate: sampleRate });
    start();
    expect(events).toMatchObject([{ start: { codecIn, codecOut: 'PCMU' } }]);
  });

  it.each([
    { encoding: 'L16', sample_rate: 16000 },
    { encoding: 'AMR-WB', sample_rate: 16000 },
    { channels: 2 },
  ])('of another format is refused: %j', (format) => {
    const { start } = stream(format);
    expect(refusal(start)).toBe('MEDIA_CODEC');
  });

  it('brings audio with its time, keys, marks and an end', () => {
    const { take, start, events, audio } = stream();
    start();
    const payload = Buffer.from([1, 2, 3]).toString('base64');
    take({
      event: 'media',
      stream_id: 's1',
      media: { track: 'inbound', timestamp: '40', payload },
    });
    take({ event: 'media', stream_id: 's1', media: { track: 'outbound', payload } });
    take({ event: 'media', stream_id: 's1', media: { payload: '' } });
    take({ event: 'dtmf', stream_id: 's1', dtmf: { digit: '#' } });
    take({ event: 'mark', stream_id: 's1', mark: { name: 'u3' } });
    take({ event: 'stop', stream_id: 's1', stop: {} });
    take({ event: 'something new' });
    expect(audio).toEqual([{ payload: Buffer.from([1, 2, 3]), timestampMs: 40 }]);
    expect(events.slice(1)).toEqual([
      { type: 'digit', digit: '#' },
      { type: 'mark', name: 'u3', outcome: 'played' },
      { type: 'closed', reason: 'ended' },
    ]);
  });

  it('is sent audio, marks and clears in the words of the protocol', () => {
    const { media } = stream();
    expect(JSON.parse(String(media.encodeAudio(Uint8Array.of(255, 0))))).toEqual({
      event: 'media',
      media: { payload: '/wA=' },
    });
    const long = new Uint8Array(20_000).fill(7);
    const { media: sent } = JSON.parse(String(media.encodeAudio(long)));
    expect(Buffer.from(sent.payload, 'base64')).toEqual(Buffer.from(long));
    expect(JSON.parse(media.encodeMark('a"b') ?? '')).toEqual({
      event: 'mark',
      mark: { name: 'a"b' },
    });
    expect(JSON.parse(media.encodeClear() ?? '')).toEqual({ event: 'clear' });
  });

  it.each([
    { event: 'media', stream_id: 's2', media: { payload: '' } },
    { event: 'media', stream_id: 's1', media: { payload: '###' } },
    { event: 'media', stream_id: 's1', media: { payload: 'A'.repeat(100_000) } },
    { event: 'dtmf', stream_id: 's1', dtmf: { digit: '12' } },
    { event: 'error', stream_id: 's1', payload: { code: 100004, title: 'invalid_media' } },
    { event: 'mark' },
    [],
    null,
  ])('does not take %j', (message) => {
    const { take, start } = stream();
    start();
    expect(refusal(() => take(message))).toBe('MEDIA_MALFORMED');
  });

  it('starts once', () => {
    const { start } = stream();
    start();
    expect(refusal(start)).toBe('MEDIA_MALFORMED');
  });

  it('takes any message for a value or a fault of the protocol', { timeout: 120_000 }, () => {
    const word = fc.constantFrom('start', 'media', 'dtmf', 'mark', 'stop', 'error', 'x');
    const part = fc.oneof(fc.jsonValue(), fc.record({ payload: fc.base64String() }));
    const message = fc.oneof(
      { weight: 1, arbitrary: fc.string() },
      { weight: 1, arbitrary: fc.json() },
      {
        weight: 4,
        arbitrary: fc
          .record({ event: word, stream_id: fc.constantFrom('s1', '', 7), media: part, dtmf: part })
          .map((each) => JSON.stringify(each)),
      },
    );
    const { media, start, listener } = stream();
    start();
    const allowed = new Set(['taken', 'MEDIA_MALFORMED', 'MEDIA_CODEC']);
    fc.assert(
      fc.property(message, (text) => allowed.has(refusal(() => media.decodeText(text, listener)))),
      { numRuns: rounds(FUZZ_RUNS) },
    );
  });
});
