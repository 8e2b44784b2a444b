import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTwilioMedia } from '../../../src/telephony/twilio/media.ts';
import { MediaMessageWriter } from '../../../src/telephony/twiml/media-message-writer.ts';
import { streamOf } from '../../load/gateway-end.ts';

function messageOf(streamSid: string, payload: Uint8Array): string {
  const media = { payload: Buffer.from(payload).toString('base64') };
  return JSON.stringify({ event: 'media', streamSid, media });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

describe('audio to Twilio as bytes', () => {
  it('is the message that JSON would be, whatever the streams, the payloads and their order', () => {
    const payload = fc.uint8Array({ minLength: 1, maxLength: 3_000 });
    const stream = fc.constantFrom('MZ1', 'MZ2', 'MZ30', 'M'.repeat(64));
    fc.assert(
      fc.property(fc.array(fc.tuple(stream, payload), { minLength: 1, maxLength: 6 }), (each) => {
        const texts = new Map(each.map(([sid]) => [sid, new MediaMessageWriter(sid)]));
        for (const [sid, bytes] of each) {
          const message = texts.get(sid)?.write(bytes) ?? new Uint8Array(0);
          expect(textOf(message)).toBe(messageOf(sid, bytes));
        }
      }),
    );
  });

  it('takes no new memory while the sizes stay, of several streams', () => {
    const first = new MediaMessageWriter('MZ1').write(new Uint8Array(480));
    expect(new MediaMessageWriter('MZ2').write(new Uint8Array(480).fill(1))).toBe(first);
  });

  it('is what the same stream gives as a string', () => {
    const media = createTwilioMedia();
    expect(() => media.encodeAscii?.(new Uint8Array(160))).toThrow('before the stream');
    const nothing = () => undefined;
    for (const message of streamOf('twilio').opening()) {
      media.decodeText(message, { onAudio: nothing, onEvent: nothing });
    }
    const payload = Uint8Array.from({ length: 480 }, (_each, i) => i & 0xff);
    expect(textOf(media.encodeAscii?.(payload) ?? new Uint8Array(0))).toBe(
      media.encodeAudio(payload),
    );
  });
});
