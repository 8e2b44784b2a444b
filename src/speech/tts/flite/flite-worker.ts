// Worker thread that runs flite: text in, speech at 8 kHz out, one sentence at a time. No queue: the pool sends the
// next sentence after the result of the last.

import { parentPort, workerData } from 'node:worker_threads';
import { createResampler } from '../../../audio/resample/resampler.ts';
import { readWav } from '../../../audio/wav.ts';
import { lowerThreadPriority } from '../../../runtime/thread-priority.ts';
import { ownThreadId } from '../../../runtime/thread-work.ts';
import { normalizeLoudness } from '../loudness-normalization.ts';
import { normalizeText } from '../text-normalization.ts';
import type { WordTiming } from '../tts.ts';
import { createFliteProgram, type FliteModule } from './flite-program.ts';
import { OUTPUT_PATH } from './flite-wasi.ts';
import { wordTimings } from './flite-word-timings.ts';

export interface FliteData {
  module: FliteModule;
  /** 32 bits for the kernel's id of the thread; 0: not known. */
  threadId: SharedArrayBuffer;
}

export interface FliteJob {
  id: number;
  text: string;
  voice: string;
}

export interface FliteSpeech {
  id: number;
  /** Undefined if flite failed on this text. */
  speech: { samples: Int16Array<ArrayBuffer>; words: WordTiming[] } | undefined;
  failure: string;
}

lowerThreadPriority();
const port = parentPort;
const { module, threadId }: FliteData = workerData;
Atomics.store(new Int32Array(threadId), 0, ownThreadId());
const program = createFliteProgram(module);
program.prepare();

port?.on('message', (job: FliteJob) => {
  let speech: FliteSpeech['speech'];
  let failure = '';
  try {
    speech = speak(job);
  } catch (error) {
    failure = error instanceof Error ? error.name : 'unknown';
  }
  const message: FliteSpeech = { id: job.id, speech, failure };
  port.postMessage(message, speech === undefined ? [] : [speech.samples.buffer]);
  program.prepare();
});

function speak(job: FliteJob): FliteSpeech['speech'] {
  const text = normalizeText(job.text);
  if (text === '') return { samples: new Int16Array(0), words: [] };
  const { wave, printed } = program.run([
    ...['-voice', job.voice, '-psdur', '-o', OUTPUT_PATH],
    ...['-t', text],
  ]);
  const { samples, cutMs } = normalizeLoudness(toTelephone(wave));
  const durationMs = samples.length / 8;
  const shift = (ms: number) => Math.round(Math.min(durationMs, Math.max(0, ms - cutMs)));
  const words = wordTimings(job.text, printed).map(({ word, startMs, endMs }) => {
    return { word, startMs: shift(startMs), endMs: shift(endMs) };
  });
  return { samples: samples.slice(), words };
}

/** Resamples to 8 kHz and removes the filter's delay. The voices have 16 kHz, `kal` 8. */
function toTelephone(wave: Buffer): Int16Array {
  const { rateHz, samples } = readWav(wave);
  if (rateHz !== 16_000) return samples;
  const resampler = createResampler({ fromHz: 16_000, toHz: 8_000 });
  const delaySamples = Math.round(resampler.delayMs * 8);
  const padded = new Int16Array(samples.length + 2 * delaySamples);
  padded.set(samples);
  return resampler.process(padded).slice(delaySamples);
}
