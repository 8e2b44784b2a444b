import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BATCH_MAX,
  CONTEXT_SAMPLES,
  INPUT_SAMPLES,
  INSTRUCTIONS,
  STATE_FLOATS,
  STREAMS_MAX,
  type VadKernel,
  WINDOW_SAMPLES,
} from '../../../src/audio/vad/vad-kernel.ts';
import { compiledVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import { portableVadKernel } from '../../../src/audio/vad/vad-portable.ts';
import { loadAddon, loadWasm } from '../../../src/runtime/native-kernels.ts';
import { rounds } from '../../rounds.ts';
import { buildAddon, compiler } from '../../runtime/built-addon.ts';
import { isFullSet } from '../../test-sets.ts';
import { Ear, modelOn, spoken, vadWeights } from './vad-fixture.ts';

let addon: ReturnType<typeof buildAddon> | undefined;

beforeAll(() => {
  if (compiler !== undefined) addon = buildAddon();
}, 120_000);
afterAll(() => addon?.remove());

function portable(): VadKernel {
  return portableVadKernel(vadWeights());
}

function wasm(): VadKernel {
  const kernels = loadWasm();
  if (kernels === undefined) throw new Error('native/kernels.wasm is committed, yet not there');
  return compiledVadKernel(kernels, vadWeights());
}

/** The addon on one of the processor's sets of instructions; undefined where it lacks it. */
function onAddon(instructions: number): () => VadKernel | undefined {
  return () => {
    const kernels = loadAddon([addon?.folder ?? '']);
    if (kernels === undefined) throw new Error('the addon was built, yet is not there');
    if (instructions > kernels.function('vadInstructions')()) return undefined;
    return compiledVadKernel(kernels, vadWeights(), instructions);
  };
}

/** Between two builds, in probability. The tiles of AMX take numbers with 16 bits of mantissa instead of 24. */
const WITHIN = 1e-5;
const WITHIN_OF_TILES = 1e-4;

// The addon is skipped where it cannot be compiled, and a set of instructions where the processor lacks it.
const present: [string, () => VadKernel | undefined, number][] = [
  ['wasm (base)', wasm, WITHIN],
  ['portable (base)', portable, WITHIN],
  ...(compiler === undefined ? [] : INSTRUCTIONS).map(
    (name, nth): [string, () => VadKernel | undefined, number] => [
      `addon (${name})`,
      onAddon(nth),
      name === 'amx' ? WITHIN_OF_TILES : WITHIN,
    ],
  ),
];

function largestDifference(some: number[], others: number[]): number {
  expect(some).toHaveLength(others.length);
  return Math.max(...some.map((value, i) => Math.abs(value - (others[i] ?? Number.NaN))));
}

const STEPS = 12;

/** Some windows of speech, other ones for each stream. */
function soundOf(stream: number): Int16Array {
  const from = ((stream * 37) % 400) * WINDOW_SAMPLES;
  return spoken.pcm.subarray(from, from + STEPS * WINDOW_SAMPLES);
}

/** What `count` streams in slots far apart are told when each step is one call of the kernel. */
function hearTogether(kernel: VadKernel, count: number): number[][] {
  const streams = Array.from({ length: count }, (_, stream) => {
    const slot = (stream * 31) % STREAMS_MAX;
    kernel.clear(slot);
    const sound = new Int16Array(CONTEXT_SAMPLES + STEPS * WINDOW_SAMPLES);
    sound.set(soundOf(stream), CONTEXT_SAMPLES);
    return { slot, sound, heard: [] as number[] };
  });
  for (let step = 0; step < STEPS; step++) {
    for (const [i, { slot, sound }] of streams.entries()) {
      const from = step * WINDOW_SAMPLES;
      kernel.slots[i] = slot;
      kernel.windows.set(sound.subarray(from, from + INPUT_SAMPLES), i * INPUT_SAMPLES);
    }
    kernel.hear(count);
    for (const [i, { heard }] of streams.entries())
      heard.push(kernel.probabilities[i] ?? Number.NaN);
  }
  return streams.map(({ heard }) => heard);
}

describe.each(present)('the kernel %s', (name, kernelOf, within) => {
  function each(work: (kernel: VadKernel) => void): () => void {
    return () => {
      const kernel = kernelOf();
      if (kernel !== undefined) work(kernel);
    };
  }

  it(
    'says its name and its instructions',
    each((kernel) => {
      const model = modelOn(kernel);
      expect(`${model.kernel} (${model.instructions})`).toBe(name);
    }),
  );

  it(
    `matches onnxruntime on 13 s of telephone speech, within ${within}`,
    each((kernel) => {
      expect(spoken.probabilities).toHaveLength(420);
      const heard = new Ear(modelOn(kernel)).hear(spoken.pcm);
      expect(largestDifference(heard, spoken.probabilities)).toBeLessThan(within);
    }),
  );

  it(
    'gives the same for any number of streams together as for each alone, within 1e-5',
    each((kernel) => {
      const alone = Array.from({ length: BATCH_MAX }, (_, stream) => {
        const ear = new Ear(modelOn(kernel));
        const heard = ear.hear(soundOf(stream));
        ear.close();
        return heard;
      });
      for (const count of TOGETHER) {
        for (const [stream, heard] of hearTogether(kernel, count).entries()) {
          const difference = largestDifference(heard, alone[stream] ?? []);
          expect(difference, `${stream} of ${count}`).toBeLessThan(1e-5);
        }
      }
    }),
  );

  it(
    'starts again after reset',
    each((kernel) => {
      const ear = new Ear(modelOn(kernel));
      const first = ear.hear(spoken.pcm.subarray(0, 12_800));
      ear.reset();
      expect(ear.hear(spoken.pcm.subarray(0, 12_800))).toEqual(first);
    }),
  );

  it(
    'does not carry the state of a closed stream over to the next one',
    each((kernel) => {
      const model = modelOn(kernel);
      const fresh = new Ear(model).hear(spoken.pcm.subarray(0, 12_800));
      const closed = new Ear(model);
      closed.hear(spoken.pcm.subarray(20_000, 30_000));
      closed.close();
      expect(new Ear(model).hear(spoken.pcm.subarray(0, 12_800))).toEqual(fresh);
    }),
  );

  it(
    'says a probability to any samples, at any loudness',
    each((kernel) => {
      const model = modelOn(kernel);
      const sample = fc.oneof(fc.integer({ min: -32_768, max: 32_767 }), fc.constant(-32_768));
      fc.assert(
        fc.property(fc.int16Array({ minLength: 512, maxLength: 512 }), sample, (pcm, level) => {
          const ear = new Ear(model);
          for (const p of [...ear.hear(pcm), ...ear.hear(new Int16Array(512).fill(level))]) {
            expect(p).toBeGreaterThanOrEqual(0);
            expect(p).toBeLessThanOrEqual(1);
          }
          ear.close();
        }),
        { numRuns: rounds(30, 60) },
      );
    }),
  );

  it(
    `differs from the portable one by less than ${within} on any sound`,
    each((kernel) => {
      const models = [modelOn(kernel), modelOn(portable())];
      const gains = fc.constantFrom(1, 0.1, 0.001);
      fc.assert(
        fc.property(fc.int16Array({ minLength: 1_024, maxLength: 1_024 }), gains, (noise, gain) => {
          const pcm = noise.map((sample) => sample * gain);
          const ears = models.map((model) => new Ear(model));
          const [one = [], other = []] = ears.map((ear) => ear.hear(pcm));
          for (const ear of ears) ear.close();
          expect(largestDifference(one, other)).toBeLessThan(within);
        }),
        { numRuns: rounds(40, 80) },
      );
    }),
  );
});

/** Numbers of streams around the widths of the kernels. */
const TOGETHER = isFullSet()
  ? [1, 2, 3, 5, 11, 12, 13, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48]
  : [1, 3, 13, 33];

describe('the memory of streams', () => {
  it('is at most 16 KB for each', () => {
    expect(STATE_FLOATS * 4).toBeLessThanOrEqual(16_384);
  });

  it('is shared by all models on the addon, whose memory is one', () => {
    if (compiler === undefined) return;
    const [one, other] = [onAddon(0)(), onAddon(0)()];
    expect(one).toBeDefined();
    expect(one).toBe(other);
  });
});
