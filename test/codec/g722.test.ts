// The oracle is ffmpeg, which shares no code with ours: the same codes and the same samples to the bit.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createG722 } from '../../src/codec/g722.ts';
import { codecByName } from '../../src/codec/registry.ts';

const oracle = z
  .object({ encoded: z.string(), decoded: z.string(), decodedRandom: z.string() })
  .parse(JSON.parse(readFileSync('fixtures/audio/g722-oracle.json', 'utf8')));

const sha256 = (bytes: ArrayBufferView) =>
  createHash('sha256')
    .update(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    .digest('hex');

/** Bits from a linear congruence, the same on every machine. */
function* randomBits(): Generator<number, never> {
  for (let state = 1n; ; ) {
    state = (state * 1_103_515_245n + 12_345n) & 0x7fff_ffffn;
    yield Number(state >> 8n) & 0xffff;
  }
}

/** Four seconds: silence, a rising triangle, loud and soft noise, a square at full scale. */
function material(): Int16Array {
  const bits = randomBits();
  let phase = 0;
  return Int16Array.from({ length: 64_000 }, (_, i) => {
    const noise = bits.next().value - 32_768;
    const part = Math.floor(i / 8_000);
    if (part === 0) return 0;
    if (part < 3) {
      phase = (phase + Math.floor(i / 8)) % 65_536;
      return Math.abs(phase - 32_768) - 16_384;
    }
    if (part < 5) return noise;
    if (part < 7) return noise >> 4;
    return i % 200 < 100 ? 32_767 : -32_768;
  });
}

function encode(pcm: Int16Array, codec = createG722()): Uint8Array {
  const payload = new Uint8Array(pcm.length / 2);
  expect(codec.encode(pcm, payload)).toBe(payload.length);
  return payload;
}

function decode(payload: Uint8Array, codec = createG722()): Int16Array {
  const pcm = new Int16Array(codec.samplesIn(payload));
  expect(codec.decode(payload, pcm)).toBe(pcm.length);
  return pcm;
}

describe('G.722', () => {
  it('encodes to the codes of ffmpeg', () => {
    expect(sha256(encode(material()))).toBe(oracle.encoded);
  });

  it('decodes to the samples of ffmpeg, also codes that no encoder sends', () => {
    expect(sha256(decode(encode(material())))).toBe(oracle.decoded);
    const bits = randomBits();
    const random = Uint8Array.from({ length: 20_000 }, () => bits.next().value >> 8);
    expect(sha256(decode(random))).toBe(oracle.decodedRandom);
  });

  it('has a state per codec: each call gets its own', () => {
    const first = codecByName('G722');
    expect(codecByName('g722/8000')).not.toBe(first);
    const pcm = material().subarray(8_000, 8_320);
    const fresh = encode(pcm);
    expect(encode(pcm, first)).toEqual(fresh);
    expect(encode(pcm, first)).not.toEqual(fresh);
  });

  it('has 20 ms in a frame of 160 bytes', () => {
    const codec = createG722();
    expect(codec).toMatchObject({ rateHz: 16_000, frameBytes: 160 });
    expect(codec.samplesIn(new Uint8Array(160))).toBe(320);
  });

  it('gives the same in one piece and in any others', () => {
    const pcm = material().subarray(7_000, 9_000);
    const whole = encode(pcm);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 20 }), (cuts) => {
        const encoder = createG722();
        const decoder = createG722();
        const codes: number[] = [];
        const samples: number[] = [];
        let at = 0;
        for (const pairs of [...cuts, pcm.length]) {
          const piece = encode(pcm.subarray(at, at + 2 * pairs), encoder);
          at += 2 * pairs;
          codes.push(...piece);
          samples.push(...decode(piece, decoder));
        }
        expect(codes).toEqual([...whole]);
        expect(samples).toEqual([...decode(whole)]);
      }),
      { numRuns: 30 },
    );
  });
});
