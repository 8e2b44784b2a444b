import { describe, expect, it } from 'vitest';
import { FairQueue, HeavyRests } from '../../../src/api/admission/fair-queue.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

/** How long `name` rests after work of `workMs`. */
async function restMs(rests: HeavyRests, clock: FakeClock, workMs: number): Promise<number> {
  rests.noteWork('a', workMs);
  const startMs = clock.monotonicMs();
  while (rests.isResting('a')) await clock.advance(1);
  return clock.monotonicMs() - startMs;
}

describe('a name that has ended heavy work', () => {
  it('rests three times as long while the loop is busy and another name is there', async () => {
    const clock = new FakeClock();
    const rests = new HeavyRests(clock, () => true);
    rests.note('a');
    rests.note('b');
    expect(await restMs(rests, clock, 100)).toBe(300);
    rests.note('b');
    expect(await restMs(rests, clock, 60_000)).toBe(2_000);
    expect(clock.timers).toBe(0);
  });

  it('does not rest alone, nor when the others have left, nor while the loop has time', async () => {
    const clock = new FakeClock();
    let isBusy = true;
    const rests = new HeavyRests(clock, () => isBusy);
    rests.note('a');
    expect(await restMs(rests, clock, 100)).toBe(0);
    rests.note('b');
    await clock.advance(2_001);
    rests.note('a');
    expect(await restMs(rests, clock, 100)).toBe(0);
    rests.note('b');
    isBusy = false;
    expect(await restMs(rests, clock, 100)).toBe(0);
  });

  it('rests in all queues of heavy work, and is served again in each', async () => {
    const clock = new FakeClock();
    const rests = new HeavyRests(clock, () => true);
    const limits = { max: 4, ofNameMax: 3, waitingMax: 6, waitingOfNameMax: 4, waitMsMax: 1_000 };
    const [first, second] = [
      new FairQueue(clock, limits, rests),
      new FairQueue(clock, limits, rests),
    ];
    const { signal } = new AbortController();
    rests.note('a');
    rests.note('b');
    const end = await first.enter('a', signal);
    await clock.advance(100);
    end();
    const served: string[] = [];
    const waiting = [first, second].map(async (queue, at) => {
      (await queue.enter('a', signal))();
      served.push(`queue ${at}`);
    });
    (await second.enter('b', signal))();
    await clock.advance(299);
    expect(served).toEqual([]);
    await clock.advance(1);
    await Promise.all(waiting);
    expect(served).toEqual(['queue 0', 'queue 1']);
  });

  it('is compared with at most sixteen names', async () => {
    const clock = new FakeClock();
    const rests = new HeavyRests(clock, () => true);
    for (let name = 0; name < 1_000; name++) rests.note(`name ${name}`);
    for (let turn = 0; turn < 20; turn++) rests.note('a');
    expect(await restMs(rests, clock, 1)).toBe(3);
  });

  it('is forgiven if a thousand others rest', () => {
    const clock = new FakeClock();
    const rests = new HeavyRests(clock, () => true);
    rests.note('x');
    rests.note('y');
    for (let name = 0; name <= 1_000; name++) rests.noteWork(`name ${name}`, 100);
    expect([rests.isResting('name 0'), rests.isResting('name 1')]).toEqual([false, true]);
    expect(clock.timers).toBe(1_000);
  });
});
