// The clock of the real process.

import { expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';

// Timers of a millisecond would take half a second for all turns; the machine may be busy for a while.
it('comes back at once, again and again, and not when it was cancelled', { retry: 2 }, async () => {
  const startMs = systemClock.monotonicMs();
  let turns = 0;
  systemClock.after(0, () => expect.unreachable()).cancel();
  await new Promise<void>((resolve) => {
    const again = () => {
      turns += 1;
      if (turns < 500) systemClock.after(0, again);
      else resolve();
    };
    systemClock.after(0, again);
  });
  expect(systemClock.monotonicMs() - startMs).toBeLessThan(400);
});
