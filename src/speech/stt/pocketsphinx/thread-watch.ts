// Watchdog of the recogniser's thread: distinguishes a busy thread from one that hangs, while results are due.

import type { Clock, Timer } from '../../../std/clock.ts';
import type { SphinxCall } from './pocketsphinx-call.ts';
import { HANDLED } from './pocketsphinx-messages.ts';

/** A thread with work that handles no message for this long hangs: the longest decoding takes a second. */
const STUCK_MS = 3_000;
/** Interval at which the watchdog examines a thread with work and reports the delay to the thread's calls. */
const CHECK_MS = 250;

/** Examines a thread while words are awaited: one that handles no message hangs, one that does is busy. */
export function watchThread(options: {
  clock: Clock;
  counts: Int32Array;
  calls: ReadonlyMap<number, SphinxCall>;
  onStuck: () => void;
}) {
  const { clock, counts, calls, onStuck } = options;
  let timer: Timer | undefined;
  let handled = 0;
  let movedMs = 0;

  const isAwaited = () => [...calls.values()].some((call) => call.waits);

  function check(): void {
    timer = undefined;
    const nowHandled = Atomics.load(counts, HANDLED);
    if (nowHandled !== handled) movedMs = clock.monotonicMs();
    handled = nowHandled;
    for (const call of [...calls.values()]) call.check();
    if (!isAwaited()) return;
    if (clock.monotonicMs() - movedMs >= STUCK_MS) {
      movedMs = clock.monotonicMs();
      onStuck();
    }
    timer = clock.after(CHECK_MS, check);
  }

  return {
    /** Words are awaited from here on. */
    start(): void {
      if (timer !== undefined) return;
      movedMs = clock.monotonicMs();
      timer = clock.after(CHECK_MS, check);
    },
    /** A call awaits nothing any more. */
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
      timer?.cancel();
      timer = undefined;
    },
  };
}
