// Ends this process if its event loop stands still: what cannot be read or answered any more must not hold
// up those at the other end. A PBX whose media socket nobody reads cannot make a new call; the kernel closes
// the sockets of a process that is gone. Source: asterisk §0.1.

import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../std/clock.ts';
import { workerEntry } from './entry-point.ts';

/** How often the loop says that it runs. */
const BEAT_MS = 250;

/** For stall-guard-worker. */
export interface WatchdogState {
  /** Two counters, Int32: beats of the loop, and something to sleep on. */
  shared: SharedArrayBuffer;
  /** Looks in a row without a beat, after which the process is killed. */
  missedChecksMax: number;
  checkIntervalMs: number;
}

export interface EventLoopWatchdog {
  stop(): Promise<void>;
}

/** `limitMs`: how long the loop may stand still. A process that is suspended as a whole does not count. */
export function startEventLoopWatchdog(limitMs: number, clock: Clock): EventLoopWatchdog {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const beats = new Int32Array(shared);
  const looksMax = Math.ceil(limitMs / BEAT_MS);
  const data: WatchdogState = { shared, missedChecksMax: looksMax, checkIntervalMs: BEAT_MS };
  const entry = workerEntry('./event-loop-watchdog-worker.ts', import.meta.url);
  const worker = new Worker(entry, { workerData: data, name: 'stall-guard' });
  worker.unref();
  let timer: Timer;
  const beat = (): void => {
    Atomics.add(beats, 0, 1);
    timer = clock.after(BEAT_MS, beat);
  };
  beat();
  return {
    async stop() {
      timer.cancel();
      await worker.terminate();
    },
  };
}
