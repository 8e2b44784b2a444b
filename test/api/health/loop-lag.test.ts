import { afterEach, describe, expect, it } from 'vitest';
import { EventLoopLagMeter } from '../../../src/api/health/load-routes.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const BUSY_MS = 120;
/** The histogram's own timer has had its turn by then. */
const TURNS_MAX = 10_000;

function block(ms: number): void {
  const until = systemClock.monotonicMs() + ms;
  while (systemClock.monotonicMs() < until);
}

/** Gives the loop turns until `isSeen` or for ever too long. */
async function turnsUntil(isSeen: () => boolean): Promise<void> {
  for (let i = 0; i < TURNS_MAX && !isSeen(); i++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the lag of the event loop', () => {
  let lag: EventLoopLagMeter | undefined;
  afterEach(() => lag?.close());

  it('shows how long the loop was blocked, until it was asked for a minute later, twice', async () => {
    const clock = new FakeClock();
    const measured = new EventLoopLagMeter(clock);
    lag = measured;
    const isSeen = () => measured.read().maxMs > BUSY_MS / 2;
    for (let i = 0; i < 20 && !isSeen(); i++) {
      block(BUSY_MS);
      await turnsUntil(isSeen);
    }
    expect(isSeen()).toBe(true);
    const { p95Ms, maxMs } = measured.read();
    expect(p95Ms).toBeLessThanOrEqual(maxMs);
    for (let i = 0; i < 2; i++) {
      clock.advance(60_000);
      expect(measured.read().maxMs).toBeGreaterThanOrEqual(maxMs);
    }
    expect(measured.read().maxMs).toBeLessThan(maxMs);
  });
});
