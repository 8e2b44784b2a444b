// Supervised worker thread: restarted when it dies, a bounded number of times at once, then after a pause. It carries
// messages; their meaning, and work in progress, belong to its owner.

import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';

export interface SupervisedWorkerOptions<Out> {
  /** Name in the log. */
  name: string;
  /** Entry point from runtime/entry-point. */
  entry: URL;
  /** The worker's `workerData`. */
  data: unknown;
  clock: Clock;
  log: Log;
  onMessage(message: Out): void;
  /** Called when the thread died. Another one is being started unless `forGood`. */
  onDown(reason: string, forGood: boolean): void;
  /** Called when the pause after a `forGood` is over and a thread is being started again. Without this function there
   *  is no further start. */
  onUp?(): void;
}

export interface SupervisedWorker<In> {
  /** Posts a message. It is lost while the thread is down. */
  post(message: In, transfer?: ArrayBuffer[]): void;
  /** Ends a thread that hangs; `onDown` follows. */
  kill(reason: string): void;
  /** Ends the thread. No `onDown` follows. */
  close(): Promise<void>;
}

/** Starts within the window. A thread that dies more often has a cause that a restart does not remove but time may: the
 *  text that broke it is not synthesised forever. */
const STARTS_MAX = 5;
const WINDOW_MS = 60_000;

export function startSupervisedWorker<In, Out>(
  options: SupervisedWorkerOptions<Out>,
): SupervisedWorker<In> {
  const { clock, log, name } = options;
  let startedAtMs: number[] = [];
  let thread: Worker | undefined;
  let closed = false;
  let killReason: string | undefined;
  let rest: Timer | undefined;

  function start(): void {
    const now = clock.monotonicMs();
    startedAtMs = [...startedAtMs.filter((at) => at > now - WINDOW_MS), now];
    const worker = new Worker(options.entry, { workerData: options.data, name });
    let failure: unknown;
    worker.unref();
    worker.on('message', options.onMessage);
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', (code) => {
      if (thread === worker) down(failure, code);
    });
    thread = worker;
  }

  function down(failure: unknown, code: number): void {
    thread = undefined;
    if (closed) return;
    const forGood = startedAtMs.length >= STARTS_MAX;
    const reason = killReason ?? `worker ended with code ${code}`;
    killReason = undefined;
    log.error({ worker: name, code, forGood, err: failure }, 'speech worker died');
    if (!forGood) start();
    else if (options.onUp !== undefined) rest = clock.after(WINDOW_MS, startAgain);
    options.onDown(reason, forGood);
  }

  function startAgain(): void {
    start();
    options.onUp?.();
  }

  start();
  return {
    post: (message, transfer = []) => thread?.postMessage(message, transfer),
    kill(reason) {
      killReason = reason;
      void thread?.terminate();
    },
    async close() {
      closed = true;
      rest?.cancel();
      await thread?.terminate();
    },
  };
}
