// The wire of a browser's media socket, as docs/web-calls.md has it.

import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { createWebMedia } from '../../../src/telephony/web/media.ts';
import { rounds } from '../../rounds.ts';

const HELLO = '{"type":"hello","rate":16000,"echo":true,"out_ms":38,"ua":"test"}';

function stream() {
  const media = createWebMedia({ runId: '7' });
  const events: MediaEvent[] = [];
  const audio: number[][] = [];
  const listener = {
    onEvent: (event: MediaEvent) => void events.push(event),
    onAudio: (payload: Uint8Array) => void audio.push([payload.length, payload[0] ?? 0]),
  };
  return {
    media,
    events,
    audio,
    text: (message: string) => media.decodeText(message, listener),
    binary: (message: Uint8Array) => media.decodeBinary?.(message, listener),
  };
}

function failure(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
}

describe('a media socket of a browser', () => {
  it.each([
    [16_000, 'L16/16000', 640],
    [8_000, 'L16', 320],
  ])('has audio of the rate %s that its hello names, in frames of 20 ms', (rate, codec, bytes) => {
    const at = stream();
    at.text(`{"type":"hello","rate":${rate}}`);
    const start = { callId: '7', streamId: '7', codecIn: codec, codecOut: codec, parameters: {} };
    expect(at.events).toEqual([{ type: 'started', start }]);
    at.binary(new Uint8Array(bytes).fill(5));
    expect(at.audio).toEqual([[bytes, 5]]);
    expect(failure(() => at.binary(new Uint8Array(bytes - 2)))).toBe('MEDIA_MALFORMED');
  });

  it('begins with one hello of a known rate', () => {
    const at = stream();
    for (const early of ['{"type":"key","digit":"1"}', '{"type":"hello","rate":44100}', 'x']) {
      expect(failure(() => at.text(early))).toBe('MEDIA_MALFORMED');
    }
    expect(failure(() => at.binary(new Uint8Array(640)))).toBe('MEDIA_MALFORMED');
    at.text(HELLO);
    expect(failure(() => at.text(HELLO))).toBe('MEDIA_MALFORMED');
    expect(at.events).toHaveLength(1);
  });

  it('reports keys, played marks and the end', () => {
    const at = stream();
    at.text(HELLO);
    at.text('{"type":"key","digit":"#"}');
    at.text('{"type":"mark","name":"u1","at_frame":9600}');
    at.text('{"type":"bye"}');
    expect(at.events.slice(1)).toEqual([
      { type: 'digit', digit: '#' },
      { type: 'mark', name: 'u1', outcome: 'played' },
      { type: 'closed', reason: 'ended' },
    ]);
  });

  it('takes keys at the pace of a line, forty at once, and drops others', () => {
    const at = stream();
    at.text(HELLO);
    const taken = (): number => at.events.filter(({ type }) => type === 'digit').length;
    for (let i = 0; i < 60; i++) at.text('{"type":"key","digit":"5"}');
    expect(taken()).toBe(40);
    for (let frame = 0; frame < 9; frame++) at.binary(new Uint8Array(640));
    for (let i = 0; i < 60; i++) at.text('{"type":"key","digit":"5"}');
    expect(taken()).toBe(41);
  });

  it('has silence in place of a muted caller', () => {
    const at = stream();
    at.text(HELLO);
    at.text('{"type":"mute","on":true}');
    at.binary(new Uint8Array(640).fill(5));
    at.text('{"type":"mute","on":false}');
    at.binary(new Uint8Array(640).fill(5));
    expect(at.audio).toEqual([
      [640, 0],
      [640, 5],
    ]);
  });

  it('is sent audio as it is, marks, clears, and what its page may know of the call', () => {
    const { media } = stream();
    const frame = new Uint8Array(640);
    expect(media.encodeAudio(frame)).toBe(frame);
    expect(JSON.parse(media.encodeMark('a"b') ?? '')).toEqual({ type: 'mark', name: 'a"b' });
    expect(JSON.parse(media.encodeClear() ?? '')).toEqual({ type: 'clear' });
    const { notices } = media;
    expect(JSON.parse(notices?.started({ run_id: '7' }) ?? '')).toEqual({
      type: 'started',
      run_id: '7',
    });
    expect(JSON.parse(notices?.ended({ reason: 'user_hangup' }) ?? '')).toEqual({
      type: 'ended',
      reason: 'user_hangup',
    });
  });

  it('is read or refused as malformed, for any input', () => {
    const pieces = [HELLO, '{"type":"key"', ',"digit":"5"', '}', '{', '[]', 'null', '"', '\u0000'];
    const outcomes = new Set<string | undefined>();
    for (let i = 0; i < rounds(10_000); i++) {
      const at = stream();
      if (i % 2 === 0) at.text(HELLO);
      const text = Array.from({ length: 1 + randomInt(3) }, () => pieces[randomInt(pieces.length)]);
      outcomes.add(
        failure(() =>
          i % 5 === 0 ? at.binary(randomBytes(randomInt(700))) : at.text(text.join('')),
        ),
      );
    }
    expect([...outcomes].sort()).toEqual(['MEDIA_MALFORMED', undefined].sort());
  });
});
