// Resampling against programs that share no code with ours. What they are given is later by our delay, so that the
// results lie one on the other. Skipped where neither sox nor ffmpeg is installed.

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { SampleRateHz } from '../../../src/audio/pcm.ts';
import { createResampler } from '../../../src/audio/resample/resampler.ts';
import { meanSquare, noise, powerDb } from '../sine.ts';

const rates: SampleRateHz[] = [8_000, 16_000, 24_000, 48_000];
const pairs = rates.flatMap((fromHz) =>
  rates.filter((toHz) => toHz !== fromHz).map((toHz) => ({ fromHz, toHz })),
);
type Pair = (typeof pairs)[number];

const RAW = ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1'];
const programs: Record<string, (pair: Pair) => string[]> = {
  sox: ({ fromHz, toHz }) => [
    ...['-D', ...RAW, '-r', `${fromHz}`, '-', ...RAW, '-r', `${toHz}`, '-'],
    ...['rate', '-v'],
  ],
  ffmpeg: ({ fromHz, toHz }) => [
    ...['-v', 'error', '-f', 's16le', '-ac', '1', '-ar', `${fromHz}`, '-i', '-'],
    ...['-af', `aresample=${toHz}:filter_size=64:cutoff=0.97`, '-f', 's16le', '-'],
  ],
};
const present = Object.keys(programs).filter(
  (name) => spawnSync(name, ['-version']).error === undefined,
);

/** Half a second of forty tones that fill 85 % of the lower rate's band, `lateMs` late. */
function chord({ fromHz, toHz }: Pair, lateMs: number): Int16Array {
  const random = noise(5);
  const tones = Array.from({ length: 40 }, (_, i) => ({
    hz: ((0.85 * Math.min(fromHz, toHz)) / 2) * ((i + 0.5) / 40),
    phase: Math.PI * random(),
  }));
  return Int16Array.from({ length: fromHz / 2 }, (_, i) => {
    const seconds = i / fromHz - lateMs / 1_000;
    const sum = tones.reduce(
      (all, { hz, phase }) => all + Math.sin(2 * Math.PI * hz * seconds + phase),
      0,
    );
    return Math.round(1_500 * sum);
  });
}

function converted(name: string, pair: Pair, samples: Int16Array): Int16Array {
  const { stdout, stderr } = spawnSync(name, programs[name]?.(pair) ?? [], {
    input: new Uint8Array(samples.buffer),
  });
  expect(`${stderr}`).toBe('');
  return new Int16Array(new Uint8Array(stdout).buffer, 0, stdout.length >> 1);
}

describe.skipIf(present.length === 0)('beside sox and ffmpeg (skipped without them)', () => {
  const rows = present.flatMap((name) => pairs.map((pair) => ({ name, ...pair })));

  it.each(rows)('sounds as $name makes it from $fromHz to $toHz Hz, within -65 dB', (row) => {
    const resampler = createResampler(row);
    const ours = resampler.process(chord(row, 0));
    const theirs = converted(row.name, row, chord(row, resampler.delayMs));
    const steady = (samples: Int16Array) => samples.subarray(row.toHz / 10, (row.toHz * 2) / 5);
    const apart = steady(ours).map((sample, i) => sample - (steady(theirs)[i] ?? Number.NaN));
    const level = powerDb(meanSquare(apart) / meanSquare(steady(theirs)));
    expect(level).toBeLessThan(-65);
  });
});
