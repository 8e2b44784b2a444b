import { expect, it } from 'vitest';
import { RestartBackoff } from '../../src/std/restart-backoff.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

it('a process that ends is started again at once, then ever more slowly, then twice a minute', () => {
  const pause = new RestartBackoff(new FakeClock());
  const pauses = Array.from({ length: 10 }, () => pause.nextDelayMs());
  expect(pauses).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('a process that has served for more than a minute is forgiven, one that has not is not', () => {
  const clock = new FakeClock();
  const pause = new RestartBackoff(clock);
  pause.nextDelayMs();
  pause.noteHealthy();
  clock.advance(60_000);
  expect(pause.nextDelayMs()).toBe(500);
  pause.noteHealthy();
  clock.advance(60_001);
  expect(pause.nextDelayMs()).toBe(0);
});
