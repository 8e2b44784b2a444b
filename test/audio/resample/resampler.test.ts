import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SampleRateHz } from '../../../src/audio/pcm.ts';
import { designPhases, WEIGHT_ONE } from '../../../src/audio/resample/resample-filter.ts';
import { portableFilter } from '../../../src/audio/resample/resample-portable.ts';
import { compiledFilters, createResampler } from '../../../src/audio/resample/resampler.ts';
import { loadAddon, loadWasm } from '../../../src/runtime/native-kernels.ts';
import { rounds } from '../../rounds.ts';
import { buildAddon, compiler } from '../../runtime/built-addon.ts';
import { amplitudeAt, meanSquare, noise, powerDb, sine } from '../sine.ts';

const rates: SampleRateHz[] = [8_000, 16_000, 24_000, 48_000];
const pairs = rates.flatMap((fromHz) =>
  rates.filter((toHz) => toHz !== fromHz).map((toHz) => ({ fromHz, toHz })),
);
const AMPLITUDE = 16_000;

/** The steady part (0.1-0.5 s) of a tone after the filter. */
function tone(pair: { fromHz: SampleRateHz; toHz: SampleRateHz }, hz: number): Int16Array {
  const samples = sine({
    hz,
    rateHz: pair.fromHz,
    count: pair.fromHz / 2,
    amplitude: AMPLITUDE,
  });
  return createResampler(pair)
    .process(samples)
    .slice(pair.toHz / 10);
}

/** Frequencies from..to as shares of the lower rate's half band. */
function sweep(pair: { fromHz: number; toHz: number }, shares: number[]): number[] {
  return shares.map((share) => Math.round((share * Math.min(pair.fromHz, pair.toHz)) / 20) * 10);
}

describe.each(pairs)('from $fromHz to $toHz Hz', (pair) => {
  const { fromHz, toHz } = pair;

  it('gives 20 ms for 20 ms, every time', () => {
    const resampler = createResampler(pair);
    for (let frame = 0; frame < 50; frame++) {
      expect(resampler.process(new Int16Array(fromHz / 50))).toHaveLength(toHz / 50);
    }
  });

  it('passes up to 85 % of the band within 0.02 dB', () => {
    for (const hz of sweep(pair, [0.05, 0.2, 0.4, 0.55, 0.7, 0.8, 0.85])) {
      const gainDb = 2 * powerDb(amplitudeAt(tone(pair, hz), hz, toHz) / AMPLITUDE);
      expect(Math.abs(gainDb), `${hz} Hz: ${gainDb} dB`).toBeLessThan(0.02);
    }
  });

  it('adds no image or alias above -60 dB', () => {
    for (const hz of sweep(pair, [0.1, 0.5, 0.9])) {
      const passed = tone(pair, hz);
      const wanted = amplitudeAt(passed, hz, toHz) ** 2 / 2;
      const added = powerDb(Math.max(1, meanSquare(passed) - wanted) / (AMPLITUDE ** 2 / 2));
      expect(added, `${hz} Hz`).toBeLessThan(-60);
    }
  });

  it('delays by what it says', () => {
    const resampler = createResampler(pair);
    const click = new Int16Array(fromHz / 10);
    click[fromHz / 20] = 30_000;
    const heard = [...resampler.process(click)];
    const peakMs = (heard.indexOf(Math.max(...heard)) / toHz) * 1_000;
    expect(Math.abs(peakMs - 50 - resampler.delayMs)).toBeLessThan(0.1);
    expect(resampler.delayMs).toBeLessThan(2.1);
  });

  it('keeps a steady level steady', () => {
    const level = createResampler(pair).process(new Int16Array(fromHz / 10).fill(10_000));
    expect([...new Set(level.slice(toHz / 50))]).toEqual([10_000]);
  });

  it('gives the same sound however the input is cut', () => {
    const random = noise(fromHz + toHz);
    const input = Int16Array.from({ length: 2_400 }, () => random() * 30_000);
    const whole = [...createResampler(pair).process(input)];
    fc.assert(
      fc.property(fc.array(fc.nat(1_100), { maxLength: 8 }), (cuts) => {
        const resampler = createResampler(pair);
        const edges = [0, ...cuts.map((cut) => cut * 2).sort((a, b) => a - b), 2_400];
        const pieces = edges
          .slice(1)
          .map((to, i) => [...resampler.process(input.slice(edges[i], to))]);
        expect(pieces.flat()).toEqual(whole);
      }),
      { numRuns: rounds(20, 40) },
    );
  });

  it('drops its history on reset', () => {
    const resampler = createResampler(pair);
    const input = sine({ hz: 440, rateHz: fromHz, count: 500, amplitude: AMPLITUDE });
    const first = [...resampler.process(input)];
    resampler.process(new Int16Array(333).fill(-32_768));
    resampler.reset();
    expect([...resampler.process(input)]).toEqual(first);
  });
});

describe.each(pairs.filter(({ fromHz, toHz }) => toHz < fromHz))(
  'down from $fromHz to $toHz Hz',
  (pair) => {
    const { fromHz, toHz } = pair;

    it('keeps out what the lower rate cannot carry, by 60 dB', () => {
      const shares = [1.0875, 1.2, 1.5, 1.9].filter((share) => share * toHz < fromHz);
      for (const hz of sweep(pair, shares)) {
        const leaked = powerDb(Math.max(1, meanSquare(tone(pair, hz))) / (AMPLITUDE ** 2 / 2));
        expect(leaked, `${hz} Hz`).toBeLessThan(-60);
      }
    });
  },
);

describe('every build', () => {
  let addon: ReturnType<typeof buildAddon> | undefined;
  beforeAll(() => {
    // Without a C compiler there is no addon to compare.
    if (compiler !== undefined) addon = buildAddon();
  }, 120_000);
  afterAll(() => addon?.remove());

  it.each(pairs)('gives the samples of the portable one from $fromHz to $toHz Hz', (pair) => {
    const kernels = [loadWasm(), ...(addon === undefined ? [] : [loadAddon([addon.folder])])];
    for (const each of kernels) {
      if (each === undefined) throw new Error('the kernels are not there');
      const random = noise(3);
      const compiled = createResampler(pair, compiledFilters(each));
      const portable = createResampler(pair, portableFilter);
      for (const length of [1, 160, 959, 960, 961, 2_500, 7]) {
        const input = Int16Array.from({ length }, () => random() * 40_000);
        expect(compiled.process(input), each.build).toEqual(portable.process(input));
      }
    }
  });
});

describe('the weights', () => {
  // The compiled kernel sums products with samples in 32 bits.
  it.each([8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])(
    'of no row between %d and 8000 Hz sum up beyond 32 bits, or to another level',
    (fileHz) => {
      for (const { taps, up, weights } of [
        designPhases(fileHz, 8_000),
        designPhases(8_000, fileHz),
      ]) {
        for (let row = 0; row < up; row++) {
          const each = weights.subarray(row * taps, (row + 1) * taps);
          expect(each.reduce((sum, weight) => sum + weight, 0)).toBe(WEIGHT_ONE);
          expect(each.reduce((sum, weight) => sum + Math.abs(weight), 0)).toBeLessThan(65_535);
        }
      }
    },
  );
});

describe('createResampler', () => {
  it('keeps streams apart', () => {
    const input = sine({ hz: 300, rateHz: 8_000, count: 160, amplitude: AMPLITUDE });
    const rates = { fromHz: 8_000, toHz: 16_000 } as const;
    const alone = createResampler(rates);
    const expected = [[...alone.process(input)], [...alone.process(input)]];
    const [one, other] = [createResampler(rates), createResampler(rates)];
    const first = [...one.process(input)];
    other.process(new Int16Array(160).fill(20_000));
    expect([first, [...one.process(input)]]).toEqual(expected);
  });

  it('refuses more than a minute at once', () => {
    const resampler = createResampler({ fromHz: 48_000, toHz: 8_000 });
    expect(() => resampler.process(new Int16Array(60 * 48_000 + 1))).toThrow('more than a minute');
  });

  it('passes samples through when the rates are equal', () => {
    const samples = Int16Array.of(1, 2, 3);
    expect(createResampler({ fromHz: 8_000, toHz: 8_000 }).process(samples)).toBe(samples);
  });

  it('clips instead of wrapping', () => {
    const square = Int16Array.from({ length: 800 }, (_, i) => (i % 20 < 10 ? 32_767 : -32_768));
    const heard = createResampler({ fromHz: 8_000, toHz: 24_000 }).process(square);
    for (let i = 1; i < heard.length; i++) {
      expect(Math.abs((heard[i] ?? 0) - (heard[i - 1] ?? 0))).toBeLessThan(40_000);
    }
    expect(Math.max(...heard)).toBe(32_767);
  });

  it('accepts no samples', () => {
    expect(createResampler({ fromHz: 8_000, toHz: 16_000 }).process(new Int16Array(0))).toEqual(
      new Int16Array(0),
    );
  });
});

describe.each([11_025, 22_050, 44_100])(
  'from %i Hz, a rate of synthesisers, to 8 kHz',
  (fromHz) => {
    const pair = { fromHz, toHz: 8_000 };

    it('keeps the pitch, the level and the length', () => {
      const samples = sine({ hz: 1_000, rateHz: fromHz, count: fromHz, amplitude: AMPLITUDE });
      const heard = createResampler(pair).process(samples).slice();
      expect(heard).toHaveLength(8_000);
      const gainDb = 2 * powerDb(amplitudeAt(heard.subarray(800), 1_000, 8_000) / AMPLITUDE);
      expect(Math.abs(gainDb)).toBeLessThan(0.05);
    });

    it('gives the same samples for pieces of any length', () => {
      const random = noise(7);
      const samples = Int16Array.from({ length: fromHz / 5 }, () => random() * 10_000);
      const whole = [...createResampler(pair).process(samples)];
      const resampler = createResampler(pair);
      const pieces: number[] = [];
      for (let at = 0; at < samples.length; at += 333) {
        pieces.push(...resampler.process(samples.subarray(at, at + 333)));
      }
      expect(pieces).toEqual(whole);
    });
  },
);

it('refuses a rate whose filter would have too many phases', () => {
  expect(() => createResampler({ fromHz: 22_051, toHz: 8_000 })).toThrow(RangeError);
});
