import { expect, it } from 'vitest';
import { DialPace } from '../../../src/call/outbound/dial-pace.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

function paced() {
  const clock = new FakeClock();
  const pace = new DialPace(clock);
  const dialledAt: Record<string, number[]> = {};
  const startMs = clock.monotonicMs();
  const dial = async (campaign: string, ratePerSecond = 5): Promise<boolean> => {
    const may = await pace.turn(campaign, ratePerSecond);
    if (may) dialledAt[campaign] = [...(dialledAt[campaign] ?? []), clock.monotonicMs() - startMs];
    return may;
  };
  return { clock, dial, dialledAt };
}

it('spaces dials that a stall has bunched, each campaign by its own rate', async () => {
  const { clock, dial, dialledAt } = paced();
  for (let n = 0; n < 4; n++) void dial('a');
  for (let n = 0; n < 3; n++) void dial('b', 2);
  await settle();
  await clock.advanceAsync(2_000);
  expect(dialledAt).toEqual({ a: [0, 200, 400, 600], b: [0, 500, 1_000] });
});

it('delays no dial that comes in its time', async () => {
  const { clock, dial, dialledAt } = paced();
  for (let n = 0; n < 3; n++) {
    await dial('a');
    await clock.advanceAsync(250);
  }
  expect(dialledAt).toEqual({ a: [0, 250, 500] });
});

it('refuses a dial that would wait longer than 2 s, and takes the next when the queue is shorter', async () => {
  const { clock, dial, dialledAt } = paced();
  const results = Array.from({ length: 13 }, () => dial('a'));
  await clock.advanceAsync(2_000);
  expect(await Promise.all(results)).toEqual([...Array(11).fill(true), false, false]);
  await clock.advanceAsync(400);
  expect(await dial('a')).toBe(true);
  expect(dialledAt['a']).toHaveLength(12);
});
