import { expect, it } from 'vitest';
import { DialPace } from '../../../../src/call/start/outbound/dial-pace.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';

interface Asked {
  ratePerSecond?: number;
  /** Limit of the account. */
  callsPerSecond?: number | null;
  waitMs?: number;
}

function paced() {
  const clock = new FakeClock();
  const pace = new DialPace(clock);
  const dialledAt: Record<string, number[]> = {};
  const startMs = clock.monotonicMs();
  const dial = async (
    campaignId: string,
    { ratePerSecond = 5, callsPerSecond = null, waitMs = 0 }: Asked = {},
  ): Promise<boolean> => {
    const account = { id: '1', callsPerSecond };
    const may = await pace.turn({ campaignId, ratePerSecond, account, waitMs });
    if (may) {
      const atMs = Math.round(clock.monotonicMs() - startMs);
      dialledAt[campaignId] = [...(dialledAt[campaignId] ?? []), atMs];
    }
    return may;
  };
  return { clock, dial, dialledAt };
}

it('spaces dials that come together, each campaign by its own rate', async () => {
  const { clock, dial, dialledAt } = paced();
  for (let n = 0; n < 4; n++) void dial('a');
  for (let n = 0; n < 3; n++) void dial('b', { ratePerSecond: 2 });
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

it('begins a dial that is announced at its turn, and keeps the pace from there', async () => {
  const { clock, dial, dialledAt } = paced();
  void dial('a', { waitMs: 500 });
  void dial('a', { waitMs: 500 });
  await settle();
  await clock.advanceAsync(300);
  // Announced later than its place in the pace, and so is in time.
  void dial('a', { waitMs: 600 });
  await settle();
  await clock.advanceAsync(2_000);
  expect(dialledAt).toEqual({ a: [500, 700, 900] });
});

/** Turns come every 200 ms, those of the stall together at its end. */
async function afterStall(stallMs: number) {
  const { clock, dial, dialledAt } = paced();
  for (let ms = 0; ms < 10_000; ms += 200) {
    const isIn = ms >= 2_000 && ms < 2_000 + stallMs;
    if (isIn) void clock.after(2_000 + stallMs - ms, () => void dial('a'));
    else void dial('a');
    await settle();
    await clock.advanceAsync(200);
  }
  await clock.advanceAsync(5_000);
  return dialledAt['a'] ?? [];
}

it('lets dials that a stall held up follow at twice the pace until the campaign is in its time', async () => {
  const dials = await afterStall(800);
  expect(dials.slice(9, 20)).toEqual([
    1_800, 2_800, 2_900, 3_000, 3_100, 3_200, 3_300, 3_400, 3_500, 3_600, 3_800,
  ]);
  expect(dials).toHaveLength(50);
  expect(dials.at(-1)).toBe(9_800);
});

it('makes up for a second at most: no second has more than twice the rate', async () => {
  const dials = await afterStall(1_800);
  const most = Math.max(
    ...dials.map((from) => dials.filter((ms) => ms >= from && ms < from + 1_000).length),
  );
  expect(most).toBe(10);
  expect(dials.at(-1)).toBeGreaterThan(10_500);
});

it('never exceeds the calls a second of an account, whatever was held up, for all campaigns together', async () => {
  const { clock, dial, dialledAt } = paced();
  const asked = { ratePerSecond: 5, callsPerSecond: 5 };
  for (let round = 0; round < 3; round++) {
    for (const campaign of ['a', 'b', 'a', 'b']) void dial(campaign, asked);
    await settle();
    await clock.advanceAsync(900);
  }
  await clock.advanceAsync(3_000);
  const dials = Object.values(dialledAt)
    .flat()
    .sort((one, other) => one - other);
  expect(dials.length).toBeGreaterThan(8);
  const gaps = dials.slice(1).map((ms, nth) => ms - (dials[nth] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200);
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
