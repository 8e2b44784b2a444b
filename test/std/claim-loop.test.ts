// Work that a process claims: bounded, of each owner fewer, given back at a stop.

import { describe, expect, it } from 'vitest';
import { ClaimLoop } from '../../src/std/claim-loop.ts';
import { systemRandom } from '../../src/std/random.ts';
import { deferred } from '../fakes/deferred.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

interface Job {
  owner: string;
  isFollowed?: boolean;
  finish: () => void;
  done: Promise<void>;
}

class Bench {
  readonly clock = new FakeClock();
  readonly waiting: Job[] = [];
  readonly begun: Job[] = [];
  readonly givenBack: Job[] = [];
  readonly signals: AbortSignal[] = [];
  claims = 0;
  claim = async (limit: number, except: readonly string[]): Promise<Job[]> => {
    this.claims += 1;
    expect(limit).toBeGreaterThan(0);
    // One of each owner, as the store gives them.
    const owners = [...new Set(this.waiting.map(({ owner }) => owner))];
    const taken = owners
      .filter((each) => !except.includes(each))
      .slice(0, limit)
      .flatMap((each) => this.waiting.find(({ owner }) => owner === each) ?? []);
    for (const job of taken) this.waiting.splice(this.waiting.indexOf(job), 1);
    for (const job of taken) {
      job.isFollowed = this.waiting.some(({ owner }) => owner === job.owner);
    }
    return taken;
  };
  readonly loop = new ClaimLoop<Job>({
    name: 'bench',
    clock: this.clock,
    random: { ...systemRandom, integer: () => 0 },
    log: quietLog().log,
    everyMs: 1_000,
    slots: 3,
    slotsPerOwner: 2,
    claim: (...from) => this.claim(...from),
    ownerOf: ({ owner }) => owner,
    isFollowed: ({ isFollowed = false }) => isFollowed,
    perform: (job, signal) => {
      this.begun.push(job);
      this.signals.push(signal);
      return job.done;
    },
    giveBack: async (job) => {
      this.givenBack.push(job);
    },
  });

  add(owner: string): Job {
    const { promise, resolve } = deferred();
    const job = { owner, finish: resolve, done: promise };
    this.waiting.push(job);
    return job;
  }
}

describe('a claim loop', () => {
  it('claims so many at a time, and of one owner fewer', async () => {
    const bench = new Bench();
    for (const owner of ['a', 'a', 'a', 'a', 'b', 'b']) bench.add(owner);
    bench.loop.start();
    await settle();
    expect(bench.begun.map(({ owner }) => owner)).toEqual(['a', 'b', 'a']);
    bench.begun[0]?.finish();
    await settle();
    expect(bench.begun.map(({ owner }) => owner)).toEqual(['a', 'b', 'a', 'a']);
    expect(bench.loop.size).toBe(3);
  });

  it('polls every second, at once on a wake-up, and not while it is full', async () => {
    const bench = new Bench();
    bench.loop.start();
    await settle();
    const before = bench.claims;
    bench.clock.advance(999);
    await settle();
    expect(bench.claims).toBe(before);
    bench.clock.advance(1);
    await settle();
    expect(bench.claims).toBe(before + 1);
    bench.add('a');
    bench.loop.wake();
    await settle();
    expect(bench.begun).toHaveLength(1);
  });

  it('polls at the end of a piece only if another may have waited for its place', async () => {
    const bench = new Bench();
    bench.add('a');
    bench.loop.start();
    await settle();
    const before = bench.claims;
    bench.begun[0]?.finish();
    await settle();
    expect(bench.claims).toBe(before);
    for (const owner of ['a', 'a', 'a']) bench.add(owner);
    bench.loop.wake();
    await settle();
    expect(bench.begun).toHaveLength(3);
    bench.begun[1]?.finish();
    await settle();
    expect(bench.begun).toHaveLength(4);
  });

  it('polls once for a piece behind which none is due, and as often as there is more', async () => {
    const bench = new Bench();
    bench.loop.start();
    await settle();
    bench.claims = 0;
    for (const owner of ['a', 'b']) bench.add(owner);
    bench.loop.wake();
    await settle();
    expect([bench.claims, bench.begun.length]).toEqual([1, 2]);
    for (const { finish } of bench.begun) finish();
    await settle();
    bench.claims = 0;
    for (const owner of ['a', 'a']) bench.add(owner);
    bench.loop.wake();
    await settle();
    expect([bench.claims, bench.begun.length]).toEqual([2, 4]);
    for (const { finish } of bench.begun) finish();
    await settle();
    bench.claims = 0;
    // As many as there are places: others may wait.
    for (const owner of ['a', 'b', 'c', 'd']) bench.add(owner);
    bench.loop.wake();
    await settle();
    expect([bench.claims, bench.begun.length]).toEqual([1, 7]);
    bench.begun[4]?.finish();
    await settle();
    expect(bench.begun).toHaveLength(8);
  });

  it('polls once more on a wake-up during a poll', async () => {
    const bench = new Bench();
    const gate = deferred();
    const claim = bench.claim;
    let isFirst = true;
    bench.claim = async (...from) => {
      if (!isFirst) return claim(...from);
      isFirst = false;
      await gate.promise;
      return [];
    };
    bench.loop.start();
    bench.add('a');
    bench.loop.wake();
    gate.resolve();
    await settle();
    expect(bench.begun).toHaveLength(1);
  });

  it('goes on after a store that fails, and after work that fails', async () => {
    const bench = new Bench();
    const claim = bench.claim;
    bench.claim = () => Promise.reject(new Error('away'));
    bench.loop.start();
    await settle();
    bench.claim = claim;
    const { promise, reject } = deferred();
    bench.waiting.push({ owner: 'a', finish: () => undefined, done: promise });
    bench.clock.advance(1_000);
    await settle();
    reject(new Error('bug'));
    bench.add('a');
    bench.clock.advance(1_000);
    await settle();
    expect(bench.begun).toHaveLength(2);
  });

  it('at a stop waits a few seconds for what is under way, then cuts it short', async () => {
    const bench = new Bench();
    const job = bench.add('a');
    bench.loop.start();
    await settle();
    bench.add('b');
    let isOver = false;
    const stopped = bench.loop.stop().then(() => {
      isOver = true;
    });
    bench.clock.advance(4_999);
    await settle();
    expect(bench.signals[0]?.aborted).toBe(false);
    bench.clock.advance(1);
    expect(bench.signals[0]?.aborted).toBe(true);
    expect(isOver).toBe(false);
    job.finish();
    await stopped;
    expect(bench.begun).toHaveLength(1);
    expect(bench.clock.timers).toBe(0);
  });

  it('gives back what it claimed during its stop', async () => {
    const bench = new Bench();
    const { promise, resolve } = deferred();
    const claim = bench.claim;
    bench.claim = async (...from) => {
      await promise;
      return claim(...from);
    };
    const job = bench.add('a');
    bench.loop.start();
    const stopped = bench.loop.stop();
    resolve();
    await stopped;
    expect(bench.begun).toEqual([]);
    expect(bench.givenBack).toEqual([job]);
  });
});
