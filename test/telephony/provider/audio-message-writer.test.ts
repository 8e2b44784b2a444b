import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AudioMessageLayout,
  AudioMessageWriter,
} from '../../../src/telephony/provider/audio-message-writer.ts';
import { protocolOf, streamOf } from '../../load/gateway-end.ts';
import { HOSTED } from '../../load/wires/wire.ts';

const form = { head: '{"event":"media","streamSid":"', middle: '","media":{"payload":"' };

function messageOf(streamSid: string, payload: Uint8Array): string {
  const media = { payload: Buffer.from(payload).toString('base64') };
  return JSON.stringify({ event: 'media', streamSid, media });
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

describe('audio as bytes', () => {
  it('is the message that JSON would be, whatever the streams, the payloads and their order', () => {
    const payload = fc.uint8Array({ minLength: 1, maxLength: 3_000 });
    const stream = fc.constantFrom('MZ1', 'MZ2', 'MZ30', 'M'.repeat(64));
    const layout = new AudioMessageLayout(form);
    fc.assert(
      fc.property(fc.array(fc.tuple(stream, payload), { minLength: 1, maxLength: 6 }), (each) => {
        const texts = new Map(each.map(([sid]) => [sid, new AudioMessageWriter(layout, sid)]));
        for (const [sid, bytes] of each) {
          const message = texts.get(sid)?.write(bytes) ?? new Uint8Array(0);
          expect(textOf(message)).toBe(messageOf(sid, bytes));
        }
      }),
    );
  });

  it('takes no new memory while the sizes stay, of several streams', () => {
    const layout = new AudioMessageLayout(form);
    const first = new AudioMessageWriter(layout, 'MZ1').write(new Uint8Array(480));
    const second = new AudioMessageWriter(layout, 'MZ2').write(new Uint8Array(480).fill(1));
    expect(second).toBe(first);
  });

  it.each(HOSTED.filter((provider) => provider !== 'vonage'))(
    'is what the same stream gives as a string, for %s beside the others',
    (provider) => {
      const media = protocolOf(provider);
      const nothing = () => undefined;
      for (const message of streamOf(provider).opening()) {
        media.decodeText(message, { onAudio: nothing, onEvent: nothing });
      }
      for (const bytes of [160, 480, 640, 1, 5_000, 20_000]) {
        const payload = Uint8Array.from({ length: bytes }, (_each, i) => i & 0xff);
        const message = media.encodeAscii?.(payload) ?? new Uint8Array(0);
        expect(textOf(message)).toBe(media.encodeAudio(payload));
      }
    },
  );

  it.each(['twilio', 'plivo'] as const)('is refused before the stream of %s', (provider) => {
    const media = protocolOf(provider);
    expect(() => media.encodeAscii?.(new Uint8Array(160))).toThrow('before the stream');
  });
});
