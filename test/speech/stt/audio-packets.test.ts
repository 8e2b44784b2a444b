import { describe, expect, it } from 'vitest';
import { AudioPackets } from '../../../src/speech/stt/audio-packets.ts';
import { SpeechDecoder } from '../../../src/speech/tts/speech-decoder.ts';
import { hum } from '../../fakes/speech-services.ts';

/** What came at once is over. */
const settled = () => Promise.resolve();

function packets(format: 'ulaw8' | 's16@8000' | 's16@16000', packetMs = 60) {
  const sent: Uint8Array[] = [];
  const audio = new AudioPackets({ format, packetMs, send: (packet) => sent.push(packet) });
  return { audio, sent };
}

describe('packets for a recogniser', () => {
  it('hold so many milliseconds, and the rest goes out on demand', async () => {
    const { audio, sent } = packets('ulaw8');
    for (let i = 0; i < 4; i++) {
      audio.push(hum(20, 3_000, i * 20));
      await settled();
    }
    expect(sent.map((each) => each.length)).toEqual([480]);
    audio.flush();
    audio.flush();
    expect(sent.map((each) => each.length)).toEqual([480, 160]);
  });

  it('wait for the shortest rest that the service takes', async () => {
    const sent: number[] = [];
    const audio = new AudioPackets({
      format: 'ulaw8',
      packetMs: 100,
      restMsMin: 50,
      send: (packet) => sent.push(packet.length / 8),
    });
    const push = async (frames: number) => {
      for (let i = 0; i < frames; i++) {
        audio.push(hum(20, 3_000, 0));
        await settled();
      }
    };
    await push(2);
    audio.flush();
    expect(sent).toEqual([]);
    await push(6);
    expect(sent).toEqual([60, 100]);
    await push(3);
    audio.flush();
    audio.flush();
    expect(sent).toEqual([60, 100, 60]);
    await push(5);
    expect(sent).toEqual([60, 100, 60, 100]);
  });

  it('hold all frames that come at once with the last one, up to 60 ms more', async () => {
    const { audio, sent } = packets('ulaw8', 100);
    const lengths = () => sent.splice(0).map((each) => each.length / 8);
    for (const frames of [4, 4, 4, 3, 9]) {
      for (let i = 0; i < frames; i++) audio.push(hum(20, 3_000, 0));
      await settled();
    }
    expect(lengths()).toEqual([160, 140, 160]);
    audio.flush();
    expect(lengths()).toEqual([20]);
  });

  it('are not longer than 200 ms, but where a service wants them so', async () => {
    for (const [packetMs, mostMs] of [
      [20, 80],
      [160, 200],
      [200, 200],
    ] as const) {
      const { audio, sent } = packets('ulaw8', packetMs);
      for (let i = 0; i < 20; i++) audio.push(hum(20, 3_000, 0));
      await settled();
      expect(sent.map((each) => each.length / 8)).toEqual(
        Array.from({ length: 400 / mostMs }, () => mostMs),
      );
    }
  });

  it('go out before a message that must follow them, and once', async () => {
    const { audio, sent } = packets('ulaw8');
    for (let i = 0; i < 3; i++) audio.push(hum(20, 3_000, 0));
    audio.flushComplete();
    audio.push(hum(20, 3_000, 0));
    audio.flushComplete();
    await settled();
    expect(sent.map((each) => each.length)).toEqual([480]);
  });

  it('that cannot be sent are a fault of the next frame, within the call, and once', async () => {
    let isBroken = true;
    const sent: Uint8Array[] = [];
    const send = (packet: Uint8Array) => {
      if (isBroken) throw new Error('broken');
      sent.push(packet);
    };
    const audio = new AudioPackets({ format: 'ulaw8', packetMs: 20, send });
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', note);
    audio.push(hum(20, 3_000, 0));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('uncaughtException', note);
    for (const each of others) process.on('uncaughtException', each);
    expect(uncaught).toEqual([]);
    expect(() => audio.push(hum(20, 3_000, 0))).toThrow('broken');
    isBroken = false;
    audio.push(hum(20, 3_000, 0));
    await settled();
    expect(sent).toHaveLength(1);
  });

  it('keep their bytes when later frames arrive', async () => {
    const { audio, sent } = packets('s16@8000', 20);
    audio.push(new Int16Array(160).fill(257));
    await settled();
    audio.push(new Int16Array(160).fill(514));
    await settled();
    expect(sent.map((each) => each[0])).toEqual([1, 2]);
  });

  it('are resampled where a service needs 16 kHz', async () => {
    const { audio, sent } = packets('s16@16000', 100);
    audio.push(hum(100, 3_000, 0));
    await settled();
    expect(sent[0]?.length).toBe(3_200);
  });

  it('carry the sound: what is decoded again differs by the companding alone', async () => {
    const { audio, sent } = packets('ulaw8', 20);
    const sound = hum(20, 8_000, 0);
    audio.push(sound);
    await settled();
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
