// Recorded clips as calls want them, against sox. Source: contract §10.3 (files of the library).

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWav, wavHeader } from '../../../src/audio/wav.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { decodeClip, inspectClip } from '../../../src/pipeline/speak/clip-decoder.ts';
import { levelDbfs } from '../../audio/sounds.ts';
import { rounds } from '../../rounds.ts';

const FOLDER = new URL('../../../fixtures/audio/clips/', import.meta.url);
const sox: Record<string, { bytes: number; sha256: string }> = JSON.parse(
  readFileSync(new URL('sox.json', FOLDER), 'utf8'),
);
const names = Object.keys(sox);
const wav = (name: string): Buffer => readFileSync(new URL(`${name}.wav`, FOLDER));

/** A file of one second or less. */
function file(samples: Int16Array, rateHz = 8_000, channels = 1): Buffer {
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz, channels, dataBytes: data.length }), data]);
}

/** Level of each 10 ms, in decibels. */
function levels(samples: Int16Array): number[] {
  return Array.from({ length: 8 }, (_, i) =>
    levelDbfs(samples.subarray(80 * (i + 1), 80 * (i + 2))),
  );
}

/** Places between samples where the sound goes through zero upwards. */
function crossings(samples: Int16Array): number[] {
  const found: number[] = [];
  for (let i = 1; i < 700; i++) {
    const [before, after] = [samples[i - 1] as number, samples[i] as number];
    if (i > 80 && before < 0 && after >= 0) found.push(i - after / (after - before));
  }
  return found;
}

describe('a clip', () => {
  it.each(names)('%s is decoded sample by sample as sox does', (name) => {
    const { samples } = readWav(wav(name));
    const bytes = Buffer.from(samples.buffer);
    expect(bytes.length).toBe(sox[name]?.bytes);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sox[name]?.sha256);
  });

  it.each(names)('%s sounds at 8 kHz as what sox makes of the source', async (name) => {
    const raw = readFileSync(new URL('sox-8k.raw', FOLDER));
    const reference = new Int16Array(raw.buffer, raw.byteOffset, raw.length / 2);
    const samples = await decodeClip(wav(name), 60);
    expect(Math.abs(samples.length - reference.length)).toBeLessThanOrEqual(1);
    // Both ends are the filters' own.
    const ours = levels(samples);
    for (const [i, level] of levels(reference).entries()) expect(ours[i]).toBeCloseTo(level, 0);
    // The filter's delay is no whole number of samples: at most half a sample is left of it.
    const places = crossings(samples);
    const inside = crossings(reference).filter((place) => place > 90 && place < 690);
    expect(inside.length).toBeGreaterThan(60);
    for (const place of inside) {
      expect(Math.min(...places.map((each) => Math.abs(each - place)))).toBeLessThan(0.7);
    }
  });

  it('of stereo is the mean of both channels', async () => {
    const both = Int16Array.of(100, 200, -100, -300, 0, 1);
    expect([...(await decodeClip(file(both, 8_000, 2), 60))]).toEqual([150, -200, 0]);
  });

  it('is cut at its longest', async () => {
    const samples = new Int16Array(8_000 * 3).fill(1_000);
    expect(await decodeClip(file(samples), 2)).toHaveLength(16_000);
    expect(await decodeClip(file(samples, 48_000), 0.1)).toHaveLength(800);
  });

  it('yields to the event loop while it is decoded', async () => {
    const bytes = file(new Int16Array(48_000 * 10), 48_000);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await decodeClip(bytes, 60);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(90);
  });

  it('reads its length from its header', () => {
    expect(inspectClip(wav('s24-44k-stereo')).seconds).toBeCloseTo(0.1, 3);
  });

  it.each([
    [
      'three channels',
      file(new Int16Array(6), 8_000, 3),
      'it has 3 channels; one or two are played',
    ],
    [
      'an odd rate',
      file(new Int16Array(6), 8_001),
      /^its sample rate is 8001 Hz; these are played/,
    ],
    ['no audio', file(new Int16Array(0)), 'there is no audio in it'],
    [
      'less than a sample of 8 kHz',
      file(Int16Array.of(1, 2, 3, 4, 5), 48_000),
      'there is no audio in it',
    ],
    ['no WAV', Buffer.from('ID3'), 'it does not begin with RIFF and WAVE'],
  ])('with %s is refused', async (_what, bytes, reason) => {
    const facts = { reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) };
    const refused = { code: 'WAV_UNREADABLE', facts };
    expect(() => inspectClip(bytes)).toThrow(expect.objectContaining(refused));
    await expect(decodeClip(bytes, 60)).rejects.toMatchObject(refused);
  });

  it('of any bytes is audio within its limit, or WAV_UNREADABLE', async () => {
    const damaged = fc
      .record({
        name: fc.constantFrom(...names),
        at: fc.nat(60),
        bytes: fc.uint8Array({ maxLength: 8 }),
        length: fc.nat(2_000),
      })
      .map(({ name, at, bytes, length }) => {
        const whole = wav(name);
        whole.set(bytes, at);
        return whole.subarray(0, length);
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, fc.uint8Array()), async (bytes) => {
        const samples = await decodeClip(bytes, 1).catch((error: unknown) => codeOf(error));
        if (typeof samples === 'string') expect(samples).toBe('WAV_UNREADABLE');
        else expect(samples?.length).toBeLessThanOrEqual(8_000);
      }),
      { numRuns: rounds(300) },
    );
  });
});
