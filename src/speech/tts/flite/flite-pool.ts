// The worker threads that run flite, and the queue of sentences for them, first in, first out.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import {
  type SupervisedWorker,
  startSupervisedWorker,
} from '../../../runtime/supervised-worker.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { CachedSpeech } from '../prompt-cache.ts';
import type { FliteData, FliteJob, FliteSpeech } from './flite-worker.ts';

export interface FlitePoolOptions {
  workers: number;
  entry: URL;
  data: FliteData;
  clock: Clock;
  log: Log;
}

export interface FlitePool {
  /** Rejects with TTS_*, or with the signal's reason. */
  speak(
    what: { text: string; voice: string },
    limits: { deadlineMs: number; signal: AbortSignal },
  ): Promise<CachedSpeech>;
  close(): Promise<void>;
}

/** Sentences that wait for a thread, 50 ms each: beyond this the last would be seconds late. */
const QUEUE_MAX = 64;
/** More than half a minute of speech; the caller splits longer text into sentences first. */
const TEXT_CHARS_MAX = 1_000;

interface Job {
  message: FliteJob;
  resolve(speech: CachedSpeech): void;
  reject(error: unknown): void;
}

export function createFlitePool(options: FlitePoolOptions): FlitePool {
  const { clock } = options;
  const waiting: Job[] = [];
  const threads = Array.from({ length: options.workers }, () => openThread(options, next));
  let lastId = 0;

  function next(): void {
    if (threads.every((thread) => thread.state === 'dead')) {
      const error = new GatewayError('TTS_UNAVAILABLE', { reason: 'its workers keep dying' });
      for (const job of waiting.splice(0)) job.reject(error);
      return;
    }
    const thread = threads.find((each) => each.state === 'idle');
    const job = thread && waiting.shift();
    if (job !== undefined) thread?.start(job);
  }

  function leaveQueue(job: Job): void {
    const index = waiting.indexOf(job);
    if (index >= 0) waiting.splice(index, 1);
  }

  function refusal({ text }: FliteJob): GatewayError | undefined {
    if (text.length > TEXT_CHARS_MAX) {
      return new GatewayError('TTS_FAILED', { reason: 'the text is too long' });
    }
    if (waiting.length < QUEUE_MAX) return undefined;
    return new GatewayError('TTS_UNAVAILABLE', { reason: 'too many sentences wait' });
  }

  return {
    async speak({ text, voice }, { deadlineMs, signal }) {
      const message = { id: ++lastId, text, voice };
      const refused = refusal(message);
      if (refused !== undefined) throw refused;
      const { job, speech } = deferred(message);
      const onAbort = () => {
        leaveQueue(job);
        job.reject(signal.reason);
      };
      const deadline: Timer = clock.after(deadlineMs, () => {
        leaveQueue(job);
        job.reject(new GatewayError('TTS_TIMEOUT', { deadlineMs }));
        // A sentence takes 50 ms: a thread that takes this long hangs.
        for (const thread of threads) thread.kill(job, 'a sentence took too long');
      });
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push(job);
      next();
      try {
        return await speech;
      } finally {
        deadline.cancel();
        signal.removeEventListener('abort', onAbort);
      }
    },
    async close() {
      const error = new GatewayError('TTS_UNAVAILABLE', { reason: 'it is closed' });
      for (const job of waiting.splice(0)) job.reject(error);
      await Promise.all(threads.map((thread) => thread.close(error)));
    },
  };
}

function deferred(message: FliteJob): { job: Job; speech: Promise<CachedSpeech> } {
  let settle: Pick<Job, 'resolve' | 'reject'> | undefined;
  const speech = new Promise<CachedSpeech>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const job: Job = {
    message,
    resolve: (given) => settle?.resolve(given),
    reject: (error) => settle?.reject(error),
  };
  return { job, speech };
}

interface Thread {
  readonly state: 'idle' | 'busy' | 'dead';
  start(job: Job): void;
  /** Kills the thread if it works on `job`. */
  kill(job: Job, reason: string): void;
  close(error: GatewayError): Promise<void>;
}

/** `onFree` is called whenever the thread can take a job, or has died too often. */
function openThread(options: FlitePoolOptions, onFree: () => void): Thread {
  let current: Job | undefined;
  let dead = false;

  function take(): Job | undefined {
    const job = current;
    current = undefined;
    return job;
  }

  const worker: SupervisedWorker<FliteJob> = startSupervisedWorker<FliteJob, FliteSpeech>({
    ...options,
    name: 'flite',
    onMessage({ speech, failure }) {
      const job = take();
      if (speech === undefined) job?.reject(new GatewayError('TTS_FAILED', { reason: failure }));
      else job?.resolve(speech);
      onFree();
    },
    onDown(reason, forGood) {
      dead = forGood;
      take()?.reject(new GatewayError('TTS_FAILED', { reason }));
      onFree();
    },
    onUp() {
      dead = false;
      onFree();
    },
  });

  return {
    get state() {
      if (dead) return 'dead';
      return current === undefined ? 'idle' : 'busy';
    },
    start(job) {
      current = job;
      worker.post(job.message);
    },
    kill(job, reason) {
      if (current === job) worker.kill(reason);
    },
    close(error) {
      take()?.reject(error);
      return worker.close();
    },
  };
}
