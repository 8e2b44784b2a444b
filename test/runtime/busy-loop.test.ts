import { expect, it } from 'vitest';
import { busyLoopMeter } from '../../src/runtime/busy-loop.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

it('is busy by what the loop did in the last half second, however often it is asked', async () => {
  const clock = new FakeClock();
  let share = 1;
  let asked = 0;
  const isBusy = busyLoopMeter(clock, () => {
    asked += 1;
    return share;
  });
  expect(isBusy()).toBe(false);
  await clock.advance(500);
  expect([isBusy(), isBusy()]).toEqual([true, true]);
  share = 0.69;
  await clock.advance(499);
  expect(isBusy()).toBe(true);
  await clock.advance(1);
  expect(isBusy()).toBe(false);
  expect(asked).toBe(2);
});

it('reads the use of its own loop', async () => {
  const clock = new FakeClock();
  const isBusy = busyLoopMeter(clock);
  await clock.advance(500);
  expect(typeof isBusy()).toBe('boolean');
});
