// Watchdog of the recogniser's thread: distinguishes a busy thread, or one that a busy machine keeps waiting, from a
// hanging one while results are due.

import { processorMsOf, ThreadWork } from '../../../runtime/thread-work.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { SphinxCall } from './pocketsphinx-call.ts';
import { HANDLED, THREAD } from './pocketsphinx-messages.ts';

/** A thread that works for this long without having processed a message hangs: the longest decoding takes a second. */
const STUCK_MS = 3_000;
/** Work before its first message: the thread reads the model and the dictionary, which takes a second. */
const LOADING_MS_MAX = 20_000;
/** Interval at which the watchdog examines a thread with work and reports the delay to the thread's calls. */
const CHECK_MS = 250;

/** Watches a thread while words are awaited. A thread that processes messages is busy; one that works and processes
 *  none hangs. `processorMs`: of the thread. */
export function watchThread(options: {
  clock: Clock;
  counts: Int32Array;
  calls: ReadonlyMap<number, Pick<SphinxCall, 'waits' | 'check'>>;
  onStuck: () => void;
  processorMs?: () => number | undefined;
}) {
  const { clock, counts, calls, onStuck } = options;
  const processorMs = options.processorMs ?? (() => processorMsOf(Atomics.load(counts, THREAD)));
  const work = new ThreadWork(clock, processorMs);
  let timer: Timer | undefined;
  let handled = 0;
  let isClosed = false;

  const isAwaited = () => [...calls.values()].some((call) => call.waits);

  /** Checks the thread. Calls may begin and end in `call.check`, and the watch may be closed there. */
  function check(): void {
    const nowHandled = Atomics.load(counts, HANDLED);
    if (nowHandled !== handled) work.progressed();
    handled = nowHandled;
    for (const call of [...calls.values()]) call.check();
    timer?.cancel();
    timer = undefined;
    if (isClosed || !isAwaited()) return;
    if (work.isStuck(handled === 0 ? LOADING_MS_MAX : STUCK_MS)) {
      work.progressed();
      onStuck();
    }
    timer = clock.after(CHECK_MS, check);
  }

  return {
    /** A call awaits words. */
    start(): void {
      if (timer !== undefined || isClosed) return;
      work.progressed();
      timer = clock.after(CHECK_MS, check);
    },
    /** A call awaits no words any more. */
    settle(): void {
      if (isAwaited()) return;
      timer?.cancel();
      timer = undefined;
    },
    restart(): void {
      handled = 0;
      work.progressed();
    },
    close(): void {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}
