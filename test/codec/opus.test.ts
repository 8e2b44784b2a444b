// Opus by the optional package. Without it what must be said of that is tested, and the rest is skipped.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SampleRateHz } from '../../src/audio/pcm.ts';
import { createResampler } from '../../src/audio/resample/resampler.ts';
import { createOpus, hasOpus, opusPacketMs } from '../../src/codec/opus.ts';
import { codecByName } from '../../src/codec/registry.ts';
import { meanSquare } from '../audio/sine.ts';
import { spoken } from '../audio/vad/vad-fixture.ts';

const rates: SampleRateHz[] = [8_000, 16_000, 24_000, 48_000];
const isHere = hasOpus();
const bytes = fc.uint8Array({ maxLength: 5_000 });

it.runIf(!isHere)(
  'is refused with what to install where its package is not (the rest is skipped)',
  () => {
    expect(() => codecByName('opus')).toThrow(
      expect.objectContaining({
        code: 'CODEC_MISSING',
        facts: { name: 'opus', package: '@evan/opus' },
      }),
    );
  },
);

describe('a packet of Opus', () => {
  /** Configuration, and the code of how many frames. RFC 6716, table 2. */
  it.each([
    [0, 0, 10],
    [1, 0, 20],
    [3, 0, 60],
    [3, 1, 120],
    [13, 0, 20],
    [16, 0, 2.5],
    [31, 2, 40],
  ])('of configuration %d and code %d holds %d ms', (configuration, code, ms) => {
    expect(opusPacketMs(Uint8Array.of((configuration << 3) | code, 0))).toBe(ms);
  });

  it('says in its second byte how many frames it holds beyond two', () => {
    expect(opusPacketMs(Uint8Array.of((1 << 3) | 3, 0x80 | 4))).toBe(80);
    expect(opusPacketMs(Uint8Array.of((1 << 3) | 3, 7))).toBe(0);
    expect(opusPacketMs(Uint8Array.of((1 << 3) | 3))).toBe(0);
  });

  it('that is empty or too long holds nothing', () => {
    expect(opusPacketMs(new Uint8Array(0))).toBe(0);
    expect(opusPacketMs(new Uint8Array(4_000))).toBe(0);
  });
});

describe.runIf(isHere).each(rates)('Opus at %d Hz', (rateHz) => {
  const frame = rateHz / 50;

  function speech(): Int16Array {
    const pcm = spoken.pcm.subarray(0, 8_000 * 6);
    return rateHz === 8_000
      ? pcm
      : createResampler({ fromHz: 8_000, toHz: rateHz }).process(pcm).slice();
  }

  /** Both ways, frame by frame; `lost` ones are not decoded. */
  function heard(pcm: Int16Array, lost: (nth: number) => boolean = () => false): Int16Array {
    const codec = createOpus(rateHz);
    const packet = new Uint8Array(codec.frameBytes);
    const out = new Int16Array(pcm.length);
    for (let at = 0; at + frame <= pcm.length; at += frame) {
      codec.encode(pcm.subarray(at, at + frame), packet);
      if (!lost(at / frame)) codec.decode(packet, out.subarray(at, at + frame));
    }
    return out;
  }

  it('is found by its name, a new one for each call', () => {
    const name = rateHz === 8_000 ? 'opus' : `opus/${rateHz}`;
    const codec = codecByName(name);
    expect(codec.name).toBe(name.toUpperCase());
    expect(codecByName(name)).not.toBe(codec);
    expect(codec.rateHz).toBe(rateHz);
  });

  it('has 20 ms in each packet, all of one length', () => {
    const codec = createOpus(rateHz);
    const packet = new Uint8Array(codec.frameBytes);
    const pcm = speech();
    for (let at = 0; at + frame <= pcm.length; at += frame) {
      expect(codec.encode(pcm.subarray(at, at + frame), packet)).toBe(codec.frameBytes);
      expect(codec.samplesIn(packet)).toBe(frame);
    }
  });

  it('sounds like what was said', () => {
    const pcm = speech();
    const { correlation, snrDb } = likeness(pcm, heard(pcm), rateHz);
    expect(correlation).toBeGreaterThan(0.93);
    expect(snrDb).toBeGreaterThan(8);
  });

  it('goes on after lost packets as if none had been', () => {
    const pcm = speech();
    const isLost = (nth: number) => nth % 20 === 19;
    const [whole, holed] = [heard(pcm), heard(pcm, isLost)];
    const error: number[] = [];
    whole.forEach((sample, i) => {
      if (Math.floor(i / frame) % 20 === 18) error.push(sample - (holed[i] ?? 0));
    });
    const level = Math.sqrt(meanSquare(whole));
    expect(Math.sqrt(meanSquare(Int16Array.from(error)))).toBeLessThan(level / 10);
  });

  it('decodes any bytes, and says how many samples it wrote', () => {
    const codec = createOpus(rateHz);
    fc.assert(
      fc.property(bytes, (packet) => {
        const before = packet.slice();
        const pcm = new Int16Array(codec.samplesIn(packet) + 8).fill(0x5a);
        expect(codec.decode(packet, pcm)).toBe(pcm.length - 8);
        expect([...pcm.subarray(pcm.length - 8)]).toEqual(Array(8).fill(0x5a));
        expect(packet).toEqual(before);
      }),
    );
  });

  it('makes silence of silence', () => {
    expect(heard(new Int16Array(20 * frame)).every((sample) => Math.abs(sample) <= 8)).toBe(true);
  });
});

/** With the codec's own delay taken out: up to 20 ms. */
function likeness(said: Int16Array, heard: Int16Array, rateHz: number) {
  let best = { correlation: 0, snrDb: Number.NEGATIVE_INFINITY };
  for (let delay = 0; delay < rateHz / 50; delay += rateHz / 8_000) {
    let [product, saidEnergy, heardEnergy] = [0, 0, 0];
    for (let i = 0; i + delay < said.length; i++) {
      const [one, other] = [said[i] ?? 0, heard[i + delay] ?? 0];
      product += one * other;
      saidEnergy += one * one;
      heardEnergy += other * other;
    }
    const correlation = product / Math.sqrt(saidEnergy * heardEnergy);
    if (correlation <= best.correlation) continue;
    const error = saidEnergy + heardEnergy - 2 * product;
    best = { correlation, snrDb: 10 * Math.log10(saidEnergy / error) };
  }
  return best;
}
