// Lets a fake clock run while real sockets carry what is said: 20 ms of its time for every turn of the event
// loop, so that minutes of ringing pass in a moment and everything still happens in the order of its time.

import type { FakeClock } from '../../fake-clock.ts';

const STEP_MS = 20;
/** Turns in which what is on its way over loopback arrives before time moves on. */
const TURNS = 4;

/** Returns what stops it. */
export function pump(clock: FakeClock): () => void {
  let isRunning = true;
  const turn = async (): Promise<void> => {
    while (isRunning) {
      for (let nth = 0; nth < TURNS; nth++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(STEP_MS);
    }
  };
  void turn();
  return () => {
    isRunning = false;
  };
}
