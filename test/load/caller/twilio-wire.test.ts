// The load client's shortcuts against the gateway's own reading and writing of the protocol.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gatewayEnd, STREAM_SID } from '../gateway-end.ts';
import { HEADER_BYTES } from './media-client.ts';
import { markedClip } from './prepared-speech.ts';
import { AudioMessages, type GatewayListener, GatewayReader } from './twilio-wire.ts';
import { FRAME_BYTES } from './watermark.ts';

type Told = ['audio', number[]] | ['mark', string] | ['clear'] | ['fault'];

function read(messages: readonly string[]): Told[] {
  const told: Told[] = [];
  const listener: GatewayListener = {
    onAudio: (marks, count) => told.push(['audio', [...marks.subarray(0, count)]]),
    onMark: (name) => told.push(['mark', name]),
    onClear: () => told.push(['clear']),
    onFault: () => told.push(['fault']),
  };
  const reader = new GatewayReader();
  for (const message of messages) {
    // As it lies in a read of the socket: between others.
    const chunk = Buffer.from(`{"event":"media"${message}"payload":"x"`);
    const from = '{"event":"media"'.length;
    reader.read(chunk, from, from + Buffer.byteLength(message), listener);
  }
  return told;
}

describe('audio messages', () => {
  it('are whole messages that the gateway understands, through every change of their length', () => {
    let heard: { payload: Buffer; timestampMs: number } | undefined;
    const gateway = gatewayEnd((payload, timestampMs) => {
      heard = { payload: Buffer.from(payload), timestampMs };
    });
    const messages = new AudioMessages(STREAM_SID);
    const frames = 5_100;
    const wrong: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      if (frame % 97 === 0) messages.takeSequence();
      const payload = Buffer.alloc(FRAME_BYTES, frame % 251);
      const message = messages.next(Buffer.from(payload.toString('base64')));
      const text = message.toString('latin1', HEADER_BYTES);
      gateway.take(text);
      const { sequenceNumber, media: sent } = JSON.parse(text);
      const isRight =
        text.length === message.readUInt16BE(2) &&
        heard?.timestampMs === frame * 20 &&
        heard.payload.equals(payload) &&
        sequenceNumber === String(2 + frame + Math.floor(frame / 97) + 1) &&
        sent.chunk === String(frame + 1) &&
        sent.timestamp === String(frame * 20);
      if (!isRight) wrong.push(frame);
    }
    expect(wrong).toEqual([]);
  });
});

describe('the reader', () => {
  it("reads what the gateway's own encoder writes", () => {
    const gateway = gatewayEnd();
    const clip = markedClip(1, 5);
    const told = read([
      gateway.audio(clip.subarray(0, FRAME_BYTES)),
      gateway.mark('1:2:3'),
      gateway.audio(clip.subarray(FRAME_BYTES)),
      gateway.clear(),
      gateway.audio(new Uint8Array(FRAME_BYTES).fill(0xff)),
    ]);
    expect(told).toEqual([
      ['audio', [4_096]],
      ['mark', '1:2:3'],
      ['audio', [4_097, 4_098, 4_099, 4_100]],
      ['clear'],
      ['audio', [-1]],
    ]);
  });

  it('reads any order of fields and any blanks as JSON does', () => {
    const payload = Buffer.from(markedClip(0, 2)).toString('base64');
    const media = { event: 'media', streamSid: STREAM_SID, media: { payload } };
    const turned = { streamSid: STREAM_SID, media: { track: 'outbound', payload }, event: 'media' };
    const forms = [media, turned].flatMap((each) => [
      JSON.stringify(each),
      JSON.stringify(each, null, 2),
    ]);
    expect(read(forms)).toEqual(forms.map(() => ['audio', [0, 1]]));
  });

  it('takes anything else for a fault and goes on', () => {
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('{"event":"me', '{"event":"media"}'),
    );
    fc.assert(
      fc.property(any, (message) => {
        const told = read([message, `{"event":"clear","streamSid":"${STREAM_SID}"}`]);
        expect(told.at(-1)).toEqual(['clear']);
        expect(told.length).toBeLessThanOrEqual(2);
      }),
    );
  });
});
