import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { createVonageMedia } from '../../../src/telephony/vonage/media.ts';

/** On a busy machine. */
const FUZZ_MS_MAX = 120_000;
const UUID = '63f61863-4a51-4f6b-86e1-46edebcf9356';
const connected = (more: object = {}) =>
  JSON.stringify({
    event: 'websocket:connected',
    'content-type': 'audio/l16;rate=8000',
    call_uuid: UUID,
    ...more,
  });

function stream() {
  const media = createVonageMedia();
  const events: MediaEvent[] = [];
  const audio: number[] = [];
  const listener = {
    onEvent: (event: MediaEvent) => events.push(event),
    onAudio: (payload: Uint8Array) => audio.push(payload.length),
  };
  const text = (message: string) => media.decodeText(message, listener);
  const binary = (message: Uint8Array) => media.decodeBinary?.(message, listener);
  return { media, events, audio, text, binary };
}

const failure = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
};

describe('a media socket of Vonage', () => {
  it('begins with the call, its codec and our own values', () => {
    const at = stream();
    at.text(connected({ run: '7' }));
    expect(at.events).toEqual([
      {
        type: 'started',
        start: {
          callId: UUID,
          streamId: UUID,
          codecIn: 'L16',
          codecOut: 'L16',
          parameters: { run: '7' },
        },
      },
    ]);
  });

  it('may be wideband, and has no other encoding', () => {
    const at = stream();
    at.text(connected({ 'content-type': 'audio/l16;rate=16000' }));
    expect(at.events[0]).toMatchObject({ start: { codecIn: 'L16/16000' } });
    for (const type of ['audio/l16;rate=44100', 'audio/pcmu;rate=8000', 'x']) {
      expect(failure(() => stream().text(connected({ 'content-type': type })))).toBe('MEDIA_CODEC');
    }
  });

  it('reports keys and played marks; an acknowledged clear needs nothing', () => {
    const at = stream();
    at.text(connected());
    at.text('{"event":"websocket:dtmf","digit":"#","duration":260}');
    at.text('{"event":"websocket:notify","payload":{"id":"u3"}}');
    at.text('{"event":"websocket:cleared"}');
    at.text('{"event":"websocket:of-a-later-version"}');
    expect(at.events.slice(1)).toEqual([
      { type: 'digit', digit: '#' },
      { type: 'mark', name: 'u3', outcome: 'played' },
    ]);
  });

  it('carries whole samples in binary messages', () => {
    const at = stream();
    at.text(connected());
    at.binary(new Uint8Array(320));
    at.binary(new Uint8Array(0));
    expect(at.audio).toEqual([320]);
    expect(failure(() => at.binary(new Uint8Array(321)))).toBe('MEDIA_MALFORMED');
    expect(failure(() => at.binary(new Uint8Array(48_002)))).toBe('MEDIA_MALFORMED');
  });

  it('is sent exactly one frame of 20 ms a message', () => {
    const { media } = stream();
    expect(media.traits.lead.stepMs).toBe(20);
    const frame = new Uint8Array(320);
    expect(media.encodeAudio(frame)).toEqual(frame);
    expect(JSON.parse(media.encodeClear() ?? '')).toEqual({ action: 'clear' });
    expect(JSON.parse(media.encodeMark('a"b') ?? '')).toEqual({
      action: 'notify',
      payload: { id: 'a"b' },
    });
  });

  it(
    'is read or refused as malformed, for any input',
    () => {
      const pieces = [
        connected(),
        '{"event":"websocket:dtmf"',
        ',"digit":"5"',
        '}',
        '{',
        '[]',
        'null',
        '"',
        '\u0000',
        '{"event":"websocket:notify","payload":{"id":"x"}}',
      ];
      const outcomes = new Set<string | undefined>();
      for (let i = 0; i < 100_000; i++) {
        const at = stream();
        if (i % 2 === 0) at.text(connected());
        const text = Array.from(
          { length: 1 + randomInt(3) },
          () => pieces[randomInt(pieces.length)],
        );
        outcomes.add(
          failure(() =>
            i % 5 === 0 ? at.binary(randomBytes(randomInt(700))) : at.text(text.join('')),
          ),
        );
      }
      expect([...outcomes].sort()).toEqual(['MEDIA_MALFORMED', undefined].sort());
    },
    FUZZ_MS_MAX,
  );
});
