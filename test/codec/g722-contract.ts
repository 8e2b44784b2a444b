// What every build of G.722 must keep. The oracle is ffmpeg, which shares no code with ours: the same codes and
// the same samples to the bit, by its results in a fixture, and by itself where it is installed.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Codec } from '../../src/codec/codec.ts';
import { createG722, type G722Streams } from '../../src/codec/g722.ts';
import { rounds } from '../rounds.ts';

const oracle = z
  .object({ encoded: z.string(), decoded: z.string(), decodedRandom: z.string() })
  .parse(JSON.parse(readFileSync('fixtures/audio/g722-oracle.json', 'utf8')));

const sha256 = (bytes: ArrayBufferView) =>
  createHash('sha256')
    .update(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    .digest('hex');

/** Bits from a linear congruence, the same on every machine. */
function* randomBits(seed = 1): Generator<number, never> {
  for (let state = BigInt(seed); ; ) {
    state = (state * 1_103_515_245n + 12_345n) & 0x7fff_ffffn;
    yield Number(state >> 8n) & 0xffff;
  }
}

/** Four seconds: silence, a rising triangle, loud and soft noise, a square at full scale. */
export function material(): Int16Array {
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

export function encode(pcm: Int16Array, codec: Codec): Uint8Array {
  const payload = new Uint8Array(pcm.length >> 1);
  expect(codec.encode(pcm, payload)).toBe(payload.length);
  return payload;
}

function decode(payload: Uint8Array, codec: Codec): Int16Array {
  const pcm = new Int16Array(codec.samplesIn(payload));
  expect(codec.decode(payload, pcm)).toBe(pcm.length);
  return pcm;
}

/** What `ffmpeg` makes of the bytes. */
function converted(bytes: ArrayBufferView, options: string[]): Buffer {
  const { stdout, status } = spawnSync('ffmpeg', ['-v', 'error', ...options, '-'], {
    input: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  });
  expect(status).toBe(0);
  return stdout;
}

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const AS_PCM = ['-f', 's16le', '-ar', '16000', '-ac', '1'];

export function g722Contract(build: string, streams: () => G722Streams): void {
  describe(`G.722, ${build}`, () => {
    const create = () => createG722(streams());

    it('encodes to the codes of ffmpeg', () => {
      expect(sha256(encode(material(), create()))).toBe(oracle.encoded);
    });

    it('decodes to the samples of ffmpeg, also codes that no encoder sends', () => {
      expect(sha256(decode(encode(material(), create()), create()))).toBe(oracle.decoded);
      const bits = randomBits();
      const random = Uint8Array.from({ length: 20_000 }, () => bits.next().value >> 8);
      expect(sha256(decode(random, create()))).toBe(oracle.decodedRandom);
    });

    it.skipIf(!hasFfmpeg)('does what the ffmpeg of this machine does (skipped without it)', () => {
      const seed = fc.integer({ min: 1, max: 2 ** 31 });
      fc.assert(
        fc.property(seed, fc.integer({ min: 0, max: 12 }), (from, quieter) => {
          const bits = randomBits(from);
          const pcm = Int16Array.from(
            { length: 16_000 },
            () => (bits.next().value - 32_768) >> quieter,
          );
          const codes = encode(pcm, create());
          expect(converted(pcm, [...AS_PCM, '-i', '-', '-f', 'g722']).equals(codes)).toBe(true);
          const samples = decode(codes, create());
          const expected = converted(codes, ['-f', 'g722', '-i', '-', ...AS_PCM]);
          expect(expected.equals(Buffer.from(samples.buffer))).toBe(true);
        }),
        { numRuns: rounds(3, 6) },
      );
    });

    it('keeps the states of two calls apart', () => {
      const pcm = material().subarray(8_000, 8_320);
      const [one, other] = [create(), create()];
      const fresh = encode(pcm, one);
      expect(encode(pcm, other)).toEqual(fresh);
      expect(encode(pcm, one)).not.toEqual(fresh);
      expect(decode(fresh, one)).toEqual(decode(fresh, other));
    });

    it('leaves out the half of a pair at the end', () => {
      expect(encode(material().subarray(8_000, 8_641), create())).toHaveLength(320);
      expect(encode(new Int16Array(0), create())).toHaveLength(0);
    });

    it('gives the same in one piece and in any others', () => {
      const pcm = material().subarray(7_000, 9_000);
      const whole = encode(pcm, create());
      const samplesOfWhole = [...decode(whole, create())];
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 20 }), (cuts) => {
          const codec = create();
          const codes: number[] = [];
          const samples: number[] = [];
          let at = 0;
          for (const pairs of [...cuts, pcm.length]) {
            const piece = encode(pcm.subarray(at, at + 2 * pairs), codec);
            at += 2 * pairs;
            codes.push(...piece);
            samples.push(...decode(piece, codec));
          }
          expect(codes).toEqual([...whole]);
          expect(samples).toEqual(samplesOfWhole);
        }),
        { numRuns: rounds(30, 60) },
      );
    });
  });
}
