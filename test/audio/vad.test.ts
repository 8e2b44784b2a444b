import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadKernels } from '../../src/audio/native.ts';
import { loadVad, type VadModel, type VadStream, vadModel } from '../../src/audio/vad.ts';
import { STATE_FLOATS, STREAMS_MAX } from '../../src/audio/vad-kernel.ts';
import { portableVadKernel } from '../../src/audio/vad-portable.ts';
import { wasmVadKernel } from '../../src/audio/vad-wasm.ts';
import { kernelInUse } from '../../src/metrics.ts';
import { hear, spoken, vadWeights } from './vad-fixture.ts';

function portable(): VadModel {
  return vadModel(portableVadKernel(vadWeights()));
}

function wasm(): VadModel {
  const kernels = loadKernels();
  if (kernels === undefined) throw new Error('native/kernels.wasm is committed, yet not there');
  return vadModel(wasmVadKernel(kernels, vadWeights()));
}

function largestDifference(some: number[], others: number[]): number {
  expect(some).toHaveLength(others.length);
  return Math.max(...some.map((value, i) => Math.abs(value - (others[i] ?? Number.NaN))));
}

describe.each([
  ['wasm', wasm],
  ['portable', portable],
] as const)('the %s kernel', (name, model) => {
  it('says its name', () => {
    expect(model().kernel).toBe(name);
  });

  it('hears 13 s of telephone speech as onnxruntime does, within 1e-5', () => {
    expect(spoken.probabilities).toHaveLength(420);
    const heard = hear(model().open(), spoken.pcm);
    expect(largestDifference(heard, spoken.probabilities)).toBeLessThan(1e-5);
  });

  it('keeps streams apart', () => {
    const opened = model();
    const [one, other] = [opened.open(), opened.open()];
    const alone = hear(opened.open(), spoken.pcm.subarray(0, 25_600));
    const mixed: number[] = [];
    for (let from = 0; from < 25_600; from += 256) {
      mixed.push(one.process(spoken.pcm.subarray(from, from + 256)));
      other.process(spoken.pcm.subarray(40_000 - from, 40_256 - from));
    }
    expect(mixed).toEqual(alone);
  });

  it('begins anew after reset', () => {
    const stream = model().open();
    const first = hear(stream, spoken.pcm.subarray(0, 12_800));
    stream.reset();
    expect(hear(stream, spoken.pcm.subarray(0, 12_800))).toEqual(first);
  });

  it("does not hear a closed stream's past in the next one", () => {
    const opened = model();
    const fresh = hear(opened.open(), spoken.pcm.subarray(0, 12_800));
    const closed = opened.open();
    hear(closed, spoken.pcm.subarray(20_000, 30_000));
    closed.close();
    expect(hear(opened.open(), spoken.pcm.subarray(0, 12_800))).toEqual(fresh);
  });

  it('opens and closes 10,000 streams in the same memory', () => {
    const opened = model();
    for (let i = 0; i < 10_000; i++) opened.open().close();
    const held = Array.from({ length: 100 }, () => opened.open());
    for (let i = 0; i < 10_000; i++) opened.open().close();
    for (const stream of held) stream.close();
    const all = Array.from({ length: STREAMS_MAX }, () => opened.open());
    expect(() => opened.open()).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
    all[7]?.close();
    all[7]?.close();
    opened.open();
    expect(() => opened.open()).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  });

  it('refuses to work for a closed stream, or on another length', () => {
    const stream = model().open();
    expect(() => stream.process(new Int16Array(160))).toThrow('256 samples');
    stream.close();
    expect(() => stream.process(new Int16Array(256))).toThrow('closed');
    expect(() => stream.reset()).toThrow('closed');
  });

  it('says a probability to any samples, at any loudness', () => {
    const opened = model();
    const sample = fc.oneof(fc.integer({ min: -32_768, max: 32_767 }), fc.constant(-32_768));
    fc.assert(
      fc.property(fc.int16Array({ minLength: 512, maxLength: 512 }), sample, (pcm, level) => {
        const stream = opened.open();
        for (const p of [...hear(stream, pcm), ...hear(stream, new Int16Array(512).fill(level))]) {
          expect(p).toBeGreaterThanOrEqual(0);
          expect(p).toBeLessThanOrEqual(1);
        }
        stream.close();
      }),
      { numRuns: 30 },
    );
  });
});

describe('the two kernels', () => {
  it('differ by less than 1e-5 on any sound', () => {
    const streams: VadStream[] = [wasm().open(), portable().open()];
    const gains = fc.constantFrom(1, 0.1, 0.001);
    fc.assert(
      fc.property(fc.int16Array({ minLength: 1_024, maxLength: 1_024 }), gains, (noise, gain) => {
        const pcm = noise.map((sample) => sample * gain);
        const [one = [], other = []] = streams.map((stream) => hear(stream, pcm));
        expect(largestDifference(one, other)).toBeLessThan(1e-5);
      }),
      { numRuns: 40 },
    );
  });

  it('keep at most 16 KB for a stream', () => {
    expect(STATE_FLOATS * 4).toBeLessThanOrEqual(16_384);
  });
});

describe('loadVad', () => {
  it('takes the WebAssembly kernel, and says so in a gauge', async () => {
    expect(loadVad().kernel).toBe('wasm');
    expect((await kernelInUse.get()).values).toEqual([
      { labels: { kernel: 'wasm' }, value: 1 },
      { labels: { kernel: 'portable' }, value: 0 },
    ]);
  });
});
