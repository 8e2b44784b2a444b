import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioText } from '../../../src/telephony/twilio/audio-text.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/media.ts';
import { startMessage } from '../../load/twilio-wire.ts';

const HEAD = '{"event":"media","streamSid":"MZ1","media":{"payload":"';

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

describe('audio to Twilio as bytes', () => {
  it('is the message that JSON would be, whatever the payloads and their order', () => {
    const payload = fc.uint8Array({ minLength: 1, maxLength: 3_000 });
    fc.assert(
      fc.property(fc.array(payload, { minLength: 1, maxLength: 6 }), (payloads) => {
        const text = new AudioText(HEAD);
        for (const each of payloads) {
          const message = textOf(text.of(each));
          expect(message).toBe(`${HEAD}${Buffer.from(each).toString('base64')}"}}`);
        }
      }),
    );
  });

  it('takes no new memory while the size stays', () => {
    const text = new AudioText(HEAD);
    const first = text.of(new Uint8Array(480));
    expect(text.of(new Uint8Array(480).fill(1))).toBe(first);
  });

  it('is what the same stream gives as a string', () => {
    const media = createTwilioMedia();
    expect(() => media.encodeAscii?.(new Uint8Array(160))).toThrow('before the stream');
    const nothing = () => undefined;
    media.decodeText(
      startMessage({ accountSid: 'AC1', callSid: 'CA1', streamSid: 'MZ1', parameters: {} }),
      {
        ...{ onStart: nothing, onAudio: nothing, onDigit: nothing, onMark: nothing },
        ...{ onUnplayed: nothing, onCleared: nothing, onStop: nothing },
      },
    );
    const payload = Uint8Array.from({ length: 480 }, (_each, i) => i & 0xff);
    expect(textOf(media.encodeAscii?.(payload) ?? new Uint8Array(0))).toBe(
      media.encodeAudio(payload),
    );
  });
});
