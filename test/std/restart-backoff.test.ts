import { expect, it } from 'vitest';
import { RestartPause } from '../../src/std/restart-backoff.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

it('a process that dies is started again at once, then ever more slowly, then twice a minute', () => {
  const pause = new RestartPause(new FakeClock());
  const pauses = Array.from({ length: 10 }, () => pause.died());
  expect(pauses).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('a process that has served for more than a minute is forgiven, one that has not is not', () => {
  const clock = new FakeClock();
  const pause = new RestartPause(clock);
  pause.died();
  pause.served();
  clock.advance(60_000);
  expect(pause.died()).toBe(500);
  pause.served();
  clock.advance(60_001);
  expect(pause.died()).toBe(0);
});
