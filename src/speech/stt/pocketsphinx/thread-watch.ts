// Watchdog of the recogniser's thread: distinguishes a busy thread from a hanging one while results are due.

import type { Clock, Timer } from '../../../std/clock.ts';
import type { SphinxCall } from './pocketsphinx-call.ts';
import { HANDLED } from './pocketsphinx-messages.ts';

/** A thread with work that processes no message for this long hangs: the longest decoding takes a second. */
const STUCK_MS = 3_000;
/** Deadline for its first message. Before that, the thread reads the model and the dictionary, which takes a second,
 *  and much longer on a machine that is busy with other starts. */
const LOADING_MS_MAX = 20_000;
/** Interval at which the watchdog examines a thread with work and reports the delay to the thread's calls. */
const CHECK_MS = 250;

/** Watches a thread while words are awaited. A thread that processes messages is busy, otherwise it hangs. */
export function watchThread(options: {
  clock: Clock;
  counts: Int32Array;
  calls: ReadonlyMap<number, Pick<SphinxCall, 'waits' | 'check'>>;
  onStuck: () => void;
}) {
  const { clock, counts, calls, onStuck } = options;
  let timer: Timer | undefined;
  let handled = 0;
  let movedMs = 0;
  let isClosed = false;

  const isAwaited = () => [...calls.values()].some((call) => call.waits);

  /** Checks the thread. Calls may begin and end in `call.check`, and the watch may be closed there. */
  function check(): void {
    const nowHandled = Atomics.load(counts, HANDLED);
    if (nowHandled !== handled) movedMs = clock.monotonicMs();
    handled = nowHandled;
    for (const call of [...calls.values()]) call.check();
    timer?.cancel();
    timer = undefined;
    if (isClosed || !isAwaited()) return;
    if (clock.monotonicMs() - movedMs >= (handled === 0 ? LOADING_MS_MAX : STUCK_MS)) {
      movedMs = clock.monotonicMs();
      onStuck();
    }
    timer = clock.after(CHECK_MS, check);
  }

  return {
    /** A call awaits words. */
    start(): void {
      if (timer !== undefined || isClosed) return;
      movedMs = clock.monotonicMs();
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
      movedMs = clock.monotonicMs();
    },
    close(): void {
      isClosed = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}
