// The audio of a segment: pieces of any size in memory that other segments have used before.

import { describe, expect, it } from 'vitest';
import { Segment, SLAB_SAMPLES, Utterance } from '../../../src/pipeline/speak/utterance.ts';

const newSegment = () => new Segment(new Utterance(1, true), '');

/** Samples from..from + count - 1, each its own number, which is never 0. */
const numbered = (from: number, count: number) =>
  Int16Array.from({ length: count }, (_, i) => ((from + i) % 32_000) + 1);

function filled(segment: Segment, sizes: readonly number[]): number {
  let at = 0;
  for (const size of sizes) {
    expect(segment.push(numbered(at, size))).toBe(true);
    at += size;
  }
  return at;
}

function readAll(segment: Segment, step: number): number[] {
  const all: number[] = [];
  const out = new Int16Array(step);
  for (let at = 0; at < segment.samples; at += step) {
    all.push(...out.subarray(0, segment.read(at, out)));
  }
  return all;
}

describe('the audio of a segment', () => {
  it.each([
    [[800, 800, 800, 800, 800, 800, 800]],
    [[1, 3_999, 1, SLAB_SAMPLES, 7, 9_000, 9_000, 80]],
    [[SLAB_SAMPLES - 1, 2, SLAB_SAMPLES + 1]],
  ])('is read as it was pushed, in pieces of %j', (sizes) => {
    const segment = newSegment();
    const length = filled(segment, sizes);
    expect(segment.samples).toBe(length);
    for (const step of [160, 7_777]) {
      expect(readAll(segment, step)).toEqual([...numbered(0, length)]);
    }
  });

  it('is padded with silence behind its end', () => {
    const segment = newSegment();
    filled(segment, [100, 50]);
    const out = new Int16Array(160).fill(9);
    expect(segment.read(0, out)).toBe(150);
    expect([...out.subarray(148)]).toEqual([149, 150, ...Array.from({ length: 10 }, () => 0)]);
    expect(segment.read(150, out)).toBe(0);
  });

  it('is at most a minute', () => {
    const segment = newSegment();
    const minute = 60 * 8_000;
    for (let at = 0; at < minute; at += 1_600) expect(segment.push(numbered(at, 1_600))).toBe(true);
    expect(segment.push(numbered(0, 1))).toBe(false);
    expect(segment.keep(numbered(0, 1))).toBe(false);
    expect(segment.samples).toBe(minute);
  });

  it('leaves nothing of another segment to be heard, and is silent once it was released', () => {
    const first = newSegment();
    filled(first, [3_000, 3_000]);
    first.release();
    first.release();
    const out = new Int16Array(160).fill(9);
    expect(first.read(0, out)).toBe(0);
    expect(out.every((sample) => sample === 0)).toBe(true);
    expect(first.samples).toBe(6_000);
    const [second, third] = [newSegment(), newSegment()];
    second.push(numbered(0, 200));
    third.push(numbered(500, 200));
    expect(readAll(second, 160)).toEqual([...numbered(0, 200)]);
    expect(readAll(third, 160)).toEqual([...numbered(500, 200)]);
  });

  it('that belongs to its owner is kept as it is, and is there after the release', () => {
    const clip = numbered(0, 500);
    const segment = newSegment();
    expect(segment.keep(clip)).toBe(true);
    segment.release();
    expect(readAll(segment, 160)).toEqual([...clip]);
  });
});
