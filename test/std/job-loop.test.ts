// A background job: its interval, wake-ups, backoff and stop.

import { beforeEach, describe, expect, it } from 'vitest';
import { JobLoop, type JobLoopOptions } from '../../src/std/job-loop.ts';
import { systemRandom } from '../../src/std/random.ts';
import { type Deferred, deferred } from '../fakes/deferred.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';

let clock: FakeClock;
let runs: Deferred[];
let errors: unknown[];

/** A loop whose runs are over at once, or when the test says so. */
function loopOf(options: Partial<JobLoopOptions> = {}, how: 'quick' | 'held' = 'quick'): JobLoop {
  return new JobLoop({
    clock,
    everyMs: 1_000,
    run: () => {
      const run = deferred();
      runs.push(run);
      if (how === 'quick') run.resolve();
      return run.promise;
    },
    onError: (error) => errors.push(error),
    ...options,
  });
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}

beforeEach(() => {
  clock = new FakeClock();
  runs = [];
  errors = [];
});

describe('a job loop', () => {
  it('runs at once, then a whole interval after the end of each run', async () => {
    const loop = loopOf({}, 'held');
    void loop.start();
    await pass(5_000);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await pass(0);
    await pass(999);
    expect(runs).toHaveLength(1);
    await pass(1);
    expect(runs).toHaveLength(2);
  });

  it('may begin later, and is not begun twice', async () => {
    const loop = loopOf();
    loop.startAfter(300);
    loop.startAfter(10);
    await loop.start();
    await pass(299);
    expect(runs).toHaveLength(0);
    await pass(1);
    expect(runs).toHaveLength(1);
    expect(clock.timers).toBe(1);
  });

  it('asks for its interval after each run', async () => {
    let everyMs = 100;
    const loop = loopOf({ everyMs: () => everyMs });
    await loop.start();
    everyMs = 700;
    await pass(100);
    await pass(699);
    expect(runs).toHaveLength(2);
    await pass(1);
    expect(runs).toHaveLength(3);
  });

  it('runs at once when it is woken, and once more after a run in progress', async () => {
    const loop = loopOf({}, 'held');
    void loop.start();
    const woken = [loop.wake(), loop.wake()];
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await settle();
    expect(runs).toHaveLength(2);
    runs[1]?.resolve();
    await Promise.all(woken);
    await pass(999);
    expect(runs).toHaveLength(2);
    void loop.wake();
    expect(runs).toHaveLength(3);
  });

  it('keeps woken runs apart, and does not put off one that is near', async () => {
    const loop = loopOf({ wokenMs: 50 });
    await loop.start();
    await loop.wake();
    await pass(40);
    await loop.wake();
    await pass(9);
    expect(runs).toHaveLength(1);
    await pass(1);
    expect(runs).toHaveLength(2);
    await pass(999);
    expect(runs).toHaveLength(2);
  });

  it('comes back woken runs apart if it is woken during a run', async () => {
    const loop = loopOf({ wokenMs: 50 }, 'held');
    void loop.start();
    void loop.wake();
    runs[0]?.resolve();
    await settle();
    await pass(49);
    expect(runs).toHaveLength(1);
    await pass(1);
    expect(runs).toHaveLength(2);
  });

  it('reports a failed run and tries again after the wait for that', async () => {
    const loop = loopOf({ retryMs: 3_000 }, 'held');
    void loop.start();
    runs[0]?.reject(new Error('away'));
    await settle();
    expect(errors).toEqual([new Error('away')]);
    await pass(2_999);
    expect(runs).toHaveLength(1);
    await pass(1);
    runs[1]?.resolve();
    await settle();
    await pass(1_000);
    expect(runs).toHaveLength(3);
  });

  it('waits twice as long after each failure in a row up to its limit, and the interval after a success', async () => {
    const random = { ...systemRandom, integer: () => 0 };
    const loop = loopOf({ backoff: { msMax: 5_000, random } }, 'held');
    void loop.start();
    for (const [index, ms] of [1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      runs[index]?.reject(new Error('away'));
      await settle();
      await pass(ms - 1);
      expect(runs).toHaveLength(index + 1);
      await pass(1);
      expect(runs).toHaveLength(index + 2);
    }
    runs[5]?.resolve();
    await settle();
    await pass(1_000);
    expect(runs).toHaveLength(7);
  });

  it('adds up to a quarter of the wait at random after a failure', async () => {
    const random = { ...systemRandom, integer: (max: number) => max - 1 };
    const loop = loopOf({ backoff: { msMax: 5_000, random } }, 'held');
    void loop.start();
    runs[0]?.reject(new Error('away'));
    await settle();
    await pass(1_248);
    expect(runs).toHaveLength(1);
    await pass(1);
    expect(runs).toHaveLength(2);
  });

  it('ignores wake-ups before its start and after its stop', async () => {
    const loop = loopOf();
    await loop.wake();
    expect(runs).toHaveLength(0);
    await loop.start();
    await loop.stop();
    await loop.wake();
    await loop.start();
    await pass(10_000);
    expect(runs).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it('at a stop aborts the signal and waits for the run in progress', async () => {
    let aborted = false;
    const held = deferred();
    const loop = loopOf({
      run: (signal) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        return held.promise;
      },
    });
    void loop.start();
    void loop.wake();
    let isOver = false;
    const stopped = loop.stop().then(() => {
      isOver = true;
    });
    await settle();
    expect(aborted).toBe(true);
    expect(isOver).toBe(false);
    held.resolve();
    await stopped;
    expect(clock.timers).toBe(0);
  });

  it('waits no longer than its limit for a run that does not end', async () => {
    const loop = loopOf({}, 'held');
    void loop.start();
    const stopped = loop.stop(3_000);
    await pass(3_000);
    await stopped;
    expect(runs).toHaveLength(1);
  });
});
