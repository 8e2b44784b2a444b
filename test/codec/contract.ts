// What every codec must keep. Each codec's test file runs this against itself.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../src/codec/codec.ts';
import { codecByName } from '../../src/codec/registry.ts';

/** A value no codec of ours decodes or encodes to on purpose at the places the tests look at. */
const UNTOUCHED = 0x5a;

function decoded(codec: Codec, payload: Uint8Array): Int16Array {
  const pcm = new Int16Array(codec.samplesIn(payload));
  expect(codec.decode(payload, pcm)).toBe(pcm.length);
  return pcm;
}

function encoded(codec: Codec, pcm: Int16Array): Uint8Array {
  const payload = new Uint8Array(pcm.length * 2);
  return payload.subarray(0, codec.encode(pcm, payload));
}

const payloads = fc.uint8Array({ maxLength: 2_000 });

export function codecContract(codec: Codec): void {
  describe(`${codec.name} keeps the codec contract`, () => {
    it('is found in the registry by its name', () => {
      expect(codecByName(codec.name)).toBe(codec);
    });

    it('has 20 ms in a frame', () => {
      expect(codec.samplesIn(new Uint8Array(codec.frameBytes))).toBe(codec.rateHz / 50);
      expect(encoded(codec, new Int16Array(codec.rateHz / 50))).toHaveLength(codec.frameBytes);
    });

    it('decodes any bytes, and says how many samples it wrote', () => {
      fc.assert(
        fc.property(payloads, (payload) => {
          decoded(codec, payload);
        }),
      );
    });

    it('re-encodes what it decoded to the same sound', () => {
      fc.assert(
        fc.property(payloads, (payload) => {
          const once = decoded(codec, payload);
          expect(decoded(codec, encoded(codec, once))).toEqual(once);
        }),
      );
    });

    it('writes nothing behind what it says it wrote', () => {
      const payload = new Uint8Array(codec.frameBytes).fill(0x7f);
      const pcm = new Int16Array(codec.rateHz / 50 + 8).fill(UNTOUCHED);
      const samples = codec.decode(payload, pcm);
      expect([...pcm.subarray(samples)]).toEqual(Array(8).fill(UNTOUCHED));
      const bytes = new Uint8Array(codec.frameBytes + 8).fill(UNTOUCHED);
      const written = codec.encode(pcm.subarray(0, samples), bytes);
      expect([...bytes.subarray(written)]).toEqual(Array(8).fill(UNTOUCHED));
    });

    it('does not write to its input', () => {
      const payload = new Uint8Array(codec.frameBytes).fill(0x7f);
      decoded(codec, payload);
      expect(payload).toEqual(new Uint8Array(codec.frameBytes).fill(0x7f));
      const pcm = new Int16Array(160).fill(-1_234);
      encoded(codec, pcm);
      expect(pcm).toEqual(new Int16Array(160).fill(-1_234));
    });

    it('encodes silence to silence', () => {
      const loudest = decoded(codec, encoded(codec, new Int16Array(160))).map(Math.abs);
      expect(Math.max(...loudest)).toBeLessThanOrEqual(8);
    });

    it('clips at full scale instead of wrapping', () => {
      const [high = 0, low = 0] = decoded(codec, encoded(codec, Int16Array.of(32_767, -32_768)));
      expect(high).toBeGreaterThan(32_000);
      expect(low).toBeLessThan(-32_000);
    });
  });
}
