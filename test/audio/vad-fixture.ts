// The recorded speech and its reference, for the tests of the detector.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { VAD_WINDOW_SAMPLES, type VadStream } from '../../src/audio/vad.ts';
import { WEIGHTS } from '../../src/audio/vad-kernel.ts';
import { readWav } from '../../src/audio/wav.ts';

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

/** The probability of each whole window of `pcm`. */
export function hear(stream: VadStream, pcm: Int16Array): number[] {
  const heard: number[] = [];
  for (let from = 0; from + VAD_WINDOW_SAMPLES <= pcm.length; from += VAD_WINDOW_SAMPLES) {
    heard.push(stream.process(pcm.subarray(from, from + VAD_WINDOW_SAMPLES)));
  }
  return heard;
}
