import { describe, expect, it } from 'vitest';
import { AudioPackets } from '../../../src/speech/stt/audio-packets.ts';
import { SpeechDecoder } from '../../../src/speech/tts/speech-decoder.ts';
import { hum } from '../../fakes/speech-services.ts';

function packets(format: 'ulaw8' | 's16@8000' | 's16@16000', packetMs = 60) {
  const sent: Uint8Array[] = [];
  const audio = new AudioPackets({ format, packetMs, send: (packet) => sent.push(packet) });
  return { audio, sent };
}

describe('packets for a recogniser', () => {
  it('hold so many milliseconds, and the rest goes out on demand', () => {
    const { audio, sent } = packets('ulaw8');
    for (let i = 0; i < 4; i++) audio.push(hum(20, 3_000, i * 20));
    expect(sent.map((each) => each.length)).toEqual([480]);
    audio.flush();
    audio.flush();
    expect(sent.map((each) => each.length)).toEqual([480, 160]);
  });

  it('keep their bytes when later frames arrive', () => {
    const { audio, sent } = packets('s16@8000', 20);
    audio.push(new Int16Array(160).fill(257));
    audio.push(new Int16Array(160).fill(514));
    expect(sent.map((each) => each[0])).toEqual([1, 2]);
  });

  it('are resampled where a service needs 16 kHz', () => {
    const { audio, sent } = packets('s16@16000', 100);
    audio.push(hum(100, 3_000, 0));
    expect(sent[0]?.length).toBe(3_200);
  });

  it('carry the sound: what is decoded again differs by the companding alone', () => {
    const { audio, sent } = packets('ulaw8', 20);
    const sound = hum(20, 8_000, 0);
    audio.push(sound);
    const again = new SpeechDecoder('ulaw8').decode(sent[0] as Uint8Array);
    for (const [i, sample] of again.entries()) {
      expect(Math.abs(sample - (sound[i] as number))).toBeLessThanOrEqual(300);
    }
  });
});

describe('the decoder of a voice', () => {
  it.each([1, 2, 3, 7, 320])('joins samples that are split into chunks of %d bytes', (size) => {
    const sound = hum(20, 8_000, 0);
    const bytes = new Uint8Array(sound.buffer.slice(0));
    const decoder = new SpeechDecoder('s16@8000');
    const parts: number[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      parts.push(...decoder.decode(bytes.subarray(at, at + size)));
    }
    expect(parts).toEqual([...sound]);
  });

  it('converts 24 kHz to 8 kHz', () => {
    const bytes = new Uint8Array(4_800);
    expect(new SpeechDecoder('s16@24000').decode(bytes)).toHaveLength(800);
  });
});
