// A worker thread that is started again when it dies, a bounded number of times at once, then after a rest. It
// carries messages; their meaning, and work under way, are its owner's.

import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';
import type { Clock, Timer } from '../std/clock.ts';

export interface SupervisedWorkerOptions<Out> {
  /** What it is called in the log. */
  name: string;
  /** From runtime/entry-point. */
  entry: URL;
  /** The worker's `workerData`. */
  data: unknown;
  clock: Clock;
  log: Log;
  onMessage(message: Out): void;
  /** The thread died; another is being started unless `forGood`. */
  onDown(reason: string, forGood: boolean): void;
  /** The rest after a `forGood` is over and a thread is being started again. Without this there is no
   *  further start. */
  onUp?(): void;
}

export interface SupervisedWorker<In> {
  /** Lost while the thread is down. */
  post(message: In, transfer?: ArrayBuffer[]): void;
  /** Ends a thread that hangs; `onDown` follows. */
  kill(reason: string): void;
  /** No `onDown` follows. */
  close(): Promise<void>;
}

/** A thread that dies more often than this within the window has a cause that a restart does not remove; time
 *  may: the text that broke it is not synthesised for ever. */
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
