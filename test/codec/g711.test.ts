// Three oracles that share no code with ours: the decision values of the standard's tables, the npm
// package alawmulaw, and what ffmpeg and sox make of all 256 codes and all 65,536 samples.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { alaw, mulaw } from 'alawmulaw';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Codec } from '../../src/codec/codec.ts';
import { pcma, pcmu } from '../../src/codec/g711.ts';
import { codecContract } from './contract.ts';

codecContract(pcmu);
codecContract(pcma);

const oracle = z.strictObject({
  decode: z.array(z.int()).length(256),
  /** code, how many samples in a row from -32768 up, code, ... */
  encodeRuns: z.array(z.int()),
  encodeSha256: z.string(),
});
const oracles = z
  .strictObject({
    ffmpeg: z.strictObject({ mulaw: oracle, alaw: oracle }),
    sox: z.strictObject({ mulaw: oracle, alaw: oracle }),
  })
  .parse(JSON.parse(readFileSync('fixtures/audio/g711-oracles.json', 'utf8')));

const everyCode = Uint8Array.from({ length: 256 }, (_, i) => i);
const everySample = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);

function decodeAll(codec: Codec): Int16Array {
  const pcm = new Int16Array(256);
  codec.decode(everyCode, pcm);
  return pcm;
}

function encodeAll(codec: Codec): Uint8Array {
  const codes = new Uint8Array(65_536);
  codec.encode(everySample, codes);
  return codes;
}

function unrolled(runs: number[]): Uint8Array {
  const codes = new Uint8Array(65_536);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const length = runs[i + 1] ?? 0;
    codes.fill(runs[i] ?? 0, at, at + length);
    at += length;
  }
  expect(at).toBe(65_536);
  return codes;
}

/** Number of the quantizing interval of each sample, counted outwards from zero: G.711 tables 1a and
 *  2a give 16 equal intervals to each segment (A-law: 32 to the first) between these end points. */
function intervalsByTable(ends: number[], scale: number): Int16Array {
  const bounds: number[] = [];
  for (let segment = 0; segment + 1 < ends.length; segment++) {
    const [from = 0, to = 0] = [ends[segment], ends[segment + 1]];
    const count = ends.length === 8 && segment === 0 ? 32 : 16;
    for (let i = 0; i < count; i++) bounds.push((from + ((to - from) * i) / count) * scale);
  }
  return everySample.map((sample) => {
    const magnitude = Math.min(Math.abs(sample), (ends.at(-1) ?? 0) * scale - 1);
    return bounds.findLastIndex((bound) => bound <= magnitude);
  });
}

const laws = [
  {
    codec: pcmu,
    law: 'mulaw',
    library: mulaw,
    // Table 2a, column 3, in 14 bits. The first interval is half as wide: it begins below zero.
    intervals: intervalsByTable([-1, 31, 95, 223, 479, 991, 2015, 4063, 8159], 4),
    intervalOf: (code: number) => ~code & 0x7f,
  },
  {
    codec: pcma,
    law: 'alaw',
    library: alaw,
    // Table 1a, column 3, in 13 bits (the first two segments are one line).
    intervals: intervalsByTable([0, 64, 128, 256, 512, 1024, 2048, 4096], 8),
    intervalOf: (code: number) => (code ^ 0x55) & 0x7f,
  },
] as const;

describe.each(laws)('$law', ({ codec, law, library, intervals, intervalOf }) => {
  it('decodes all 256 codes as ffmpeg, sox and alawmulaw do', () => {
    const samples = [...decodeAll(codec)];
    expect(samples).toEqual(oracles.ffmpeg[law].decode);
    expect(samples).toEqual(oracles.sox[law].decode);
    expect(samples).toEqual([...everyCode].map((code) => library.decodeSample(code) | 0));
  });

  it("puts all 65,536 samples into the intervals of the standard's table", () => {
    const codes = encodeAll(codec);
    expect(Int16Array.from(codes, intervalOf)).toEqual(intervals);
  });

  it('encodes all 65,536 samples as alawmulaw does', () => {
    expect(encodeAll(codec)).toEqual(
      Uint8Array.from(everySample, (sample) => library.encodeSample(sample) & 0xff),
    );
  });

  it.each(['ffmpeg', 'sox'] as const)('encodes as %s does but for ties at an edge', (tool) => {
    const theirs = unrolled(oracles[tool][law].encodeRuns);
    expect(createHash('sha256').update(theirs).digest('hex')).toBe(oracles[tool][law].encodeSha256);
    const ours = encodeAll(codec);
    const samples = decodeAll(codec);
    // Both work on 14 bits, and ffmpeg puts the edge between two segments at the mean of the levels
    // instead of the table's decision value. So codes at an edge differ; the sound there is as near.
    const differing = [...everySample].filter((_, i) => ours[i] !== theirs[i]);
    expect(differing.length / everySample.length).toBeLessThan(0.018);
    for (const sample of differing) {
      const at = sample + 32_768;
      const levels = [samples[ours[at] ?? 0] ?? 0, samples[theirs[at] ?? 0] ?? 0];
      const edge = ((levels[0] ?? 0) + (levels[1] ?? 0)) / 2;
      expect(Math.abs(sample - edge)).toBeLessThanOrEqual(Math.max(8, Math.abs(sample) / 60));
    }
  });
});

it('takes any number of samples', () => {
  for (const count of [1, 2, 3, 5, 161]) {
    const payload = Uint8Array.from({ length: count }, (_, i) => (i * 7) & 0xff);
    const pcm = new Int16Array(count);
    const again = new Uint8Array(count);
    expect(pcma.decode(payload, pcm)).toBe(count);
    expect(pcma.encode(pcm, again)).toBe(count);
    expect(again).toEqual(payload);
  }
});
