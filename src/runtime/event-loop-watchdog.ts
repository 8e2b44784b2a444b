// Watchdog: ends this process if its event loop blocks, so that peers do not wait for it. A PBX whose media socket
// is not read cannot make a new call; the kernel closes the sockets of a process that is gone. Source: asterisk §0.1.

import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../std/clock.ts';
import { workerEntry } from './entry-point.ts';
import type { Fault } from './self-test-report.ts';

/** Interval of the event loop's heartbeat. */
const BEAT_MS = 250;

const OWN_ENTRY = workerEntry('./event-loop-watchdog-worker.ts', import.meta.url);

/** Wait for the thread's first check. A thread starts within a second at full load. */
const START_MS_MAX = 30_000;

/** Data for event-loop-watchdog-worker. */
export interface WatchdogState {
  /** Three counters, Int32: heartbeats of the loop, a futex for the thread's sleep, and checks of the thread. */
  shared: SharedArrayBuffer;
  /** Checks in a row without a heartbeat, after which the process is killed. */
  missedChecksMax: number;
  checkIntervalMs: number;
}

export interface EventLoopWatchdog {
  stop(): Promise<void>;
}

export interface WatchdogOptions {
  /** Longest block of the event loop, in milliseconds. A suspension of the whole process does not count. */
  limitMs: number;
  clock: Clock;
  /** Called at the thread's first check, or with the reason why there is none; again if the thread ends later. */
  onTested(fault: Fault): void;
  /** Default: event-loop-watchdog-worker. */
  entry?: URL;
}

export function startEventLoopWatchdog(options: WatchdogOptions): EventLoopWatchdog {
  const { limitMs, clock, entry = OWN_ENTRY } = options;
  const shared = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
  const counters = new Int32Array(shared);
  const looksMax = Math.ceil(limitMs / BEAT_MS);
  const data: WatchdogState = { shared, missedChecksMax: looksMax, checkIntervalMs: BEAT_MS };
  const worker = new Worker(entry, { workerData: data, name: 'watchdog' });
  const startMs = clock.monotonicMs();
  let state: 'testing' | 'works' | 'over' = 'testing';
  const fail = (fault: string): void => {
    if (state !== 'over') options.onTested(fault);
    state = 'over';
  };
  worker.unref();
  worker.on('error', (error) => fail(error.message));
  worker.once('exit', () => fail('its thread has ended'));
  const test = (): void => {
    if (Atomics.load(counters, 2) > 0) {
      state = 'works';
      options.onTested(undefined);
    } else if (clock.monotonicMs() - startMs > START_MS_MAX) fail('its thread does not look');
  };
  let timer: Timer;
  const beat = (): void => {
    Atomics.add(counters, 0, 1);
    if (state === 'testing') test();
    timer = clock.after(BEAT_MS, beat);
  };
  beat();
  return {
    async stop() {
      state = 'over';
      timer.cancel();
      await worker.terminate();
    },
  };
}
