// The recorded speech and its reference, and streams that are listened to, for the tests of the detector.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { VAD_WINDOW_SAMPLES, type VadModel } from '../../../src/audio/vad/vad.ts';
import { batchedVad } from '../../../src/audio/vad/vad-batch.ts';
import { type VadKernel, WEIGHTS } from '../../../src/audio/vad/vad-kernel.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const reference = z
  .strictObject({
    /** First sample of each utterance, and the first behind it. */
    speech: z.array(z.tuple([z.int(), z.int()])),
    /** What onnxruntime says to each window. */
    probabilities: z.array(z.number()),
  })
  .parse(JSON.parse(readFileSync('fixtures/audio/vad/speech.json', 'utf8')));

export const spoken = {
  pcm: readWav(readFileSync('fixtures/audio/vad/speech.wav')).samples,
  ...reference,
};

export function vadWeights(): Float32Array {
  const bytes = readFileSync('native/build/silero-v6-8k.bin');
  return Float32Array.from({ length: WEIGHTS.end }, (_, i) => bytes.readFloatLE(4 * i));
}

/** A model of its own queue, whose clock stands still. */
export function modelOn(kernel: VadKernel): VadModel {
  return batchedVad(kernel, new FakeClock());
}

/** A stream and what was told of it. */
export class Ear {
  readonly told: { probability: number; endMs: number }[] = [];
  readonly #stream: ReturnType<VadModel['open']>;

  constructor(model: VadModel) {
    this.#stream = model.open({
      onProbability: (probability, endMs) => this.told.push({ probability, endMs }),
      onBroken: (error) => {
        throw error;
      },
    });
  }

  /** The probability of each whole window of `pcm`, where none waits. */
  hear(pcm: Int16Array): number[] {
    const before = this.told.length;
    for (let from = 0; from + VAD_WINDOW_SAMPLES <= pcm.length; from += VAD_WINDOW_SAMPLES) {
      this.push(pcm.subarray(from, from + VAD_WINDOW_SAMPLES));
    }
    return this.told.slice(before).map(({ probability }) => probability);
  }

  push(window: Int16Array, endMs = 0): void {
    this.#stream.push(window, endMs);
  }

  skip(window: Int16Array): void {
    this.#stream.skip(window);
  }

  reset(): void {
    this.#stream.reset();
  }

  close(): void {
    this.#stream.close();
  }
}
