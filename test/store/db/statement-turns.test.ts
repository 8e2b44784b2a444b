// Whose statement is sent to the database next.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { StatementTurns, type TurnLimits } from '../../../src/store/db/statement-turns.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const limits = {
  max: 3,
  waitingMax: 400,
  waitingOfNameMax: 200,
  waitMsMax: 10_000,
  isSerial: true,
};

/** A database that works on one turn at a time, in the order in which they began. */
function serving(of: Partial<TurnLimits> = {}) {
  const clock = new FakeClock();
  const turns = new StatementTurns(clock, { ...limits, ...of });
  const begun: { name: string | undefined; ms: number; end: () => void }[] = [];
  const served: (string | undefined)[] = [];
  const refused: unknown[] = [];
  const ask = (name: string | undefined, ms = 1): void => {
    turns.take(name).then(
      (end) => begun.push({ name, ms, end }),
      (error: unknown) => refused.push(codeOf(error)),
    );
  };
  const work = async (count: number): Promise<void> => {
    await settled();
    for (let turn = 0; turn < count; turn++) {
      const next = begun.shift();
      if (next === undefined) return;
      clock.advance(next.ms);
      served.push(next.name);
      next.end();
      await settled();
    }
  };
  return {
    clock,
    turns,
    ask,
    work,
    served,
    refused,
    underWay: () => begun.map(({ name }) => name),
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

describe('turns at the database', () => {
  it('begin at once while there are places, one of which a name leaves for the next', async () => {
    const { ask, work, underWay } = serving();
    for (const name of ['a', 'a', 'a', 'b']) ask(name);
    await work(0);
    expect(underWay()).toEqual(['a', 'a', 'b']);
  });

  it("leave no place of the gateway's own work empty", async () => {
    const { ask, work, underWay } = serving();
    for (let each = 0; each < 4; each++) ask(undefined);
    await work(0);
    expect(underWay()).toHaveLength(3);
  });

  it('do not let a name wait for the hundred statements of another', async () => {
    const { ask, work, served } = serving();
    for (let each = 0; each < 100; each++) ask('tenant', 20);
    await work(10);
    ask('neighbour');
    // Two of the tenant are under way.
    await work(3);
    expect(served.slice(10)).toEqual(['tenant', 'tenant', 'neighbour']);
  });

  it('are shared by time, not by number', async () => {
    const { ask, work, served } = serving();
    for (let each = 0; each < 200; each++) {
      if (each < 20) ask('slow', 50);
      ask('quick', 5);
    }
    await work(110);
    const slow = served.filter((name) => name === 'slow').length;
    expect(slow).toBeGreaterThan(7);
    expect(slow).toBeLessThan(13);
  });

  it("give the gateway's own work four times the time of a name", async () => {
    const { ask, work, served } = serving();
    for (let each = 0; each < 100; each++) {
      ask('a', 10);
      ask(undefined, 10);
    }
    await work(50);
    const own = served.filter((name) => name === undefined).length;
    expect(own).toBeGreaterThan(36);
    expect(own).toBeLessThan(44);
  });

  it('give no credit to a name that was idle', async () => {
    const { ask, work, served } = serving();
    for (let each = 0; each < 60; each++) ask('a', 10);
    await work(30);
    for (let each = 0; each < 30; each++) ask('b', 10);
    await work(20);
    const later = served.slice(30);
    expect(later.filter((name) => name === 'b').length).toBeLessThanOrEqual(11);
  });

  it('forget what was used once nothing is under way', async () => {
    const { ask, work, served } = serving({ max: 1 });
    for (let each = 0; each < 5; each++) ask('a', 1_000);
    await work(5);
    for (const name of ['b', 'a', 'b', 'a']) ask(name, 10);
    await work(4);
    expect(served.slice(5)).toEqual(['b', 'a', 'b', 'a']);
  });

  it('are refused after the deadline, and when too many wait', async () => {
    const { clock, turns, ask, work, refused, served } = serving({ max: 1, waitingMax: 4 });
    for (let each = 0; each < 4; each++) ask('a');
    await work(0);
    expect(refused).toEqual(['STORE_UNAVAILABLE']);
    clock.advance(10_000);
    await work(5);
    expect(refused).toHaveLength(3);
    expect([served.length, turns.waiting, clock.timers]).toEqual([1, 0, 0]);
  });

  it('of one name leave places for others, and those of all for the gateway', async () => {
    const { ask, work, refused, served } = serving({ max: 1, waitingMax: 6, waitingOfNameMax: 2 });
    for (let each = 0; each < 4; each++) ask('a'); // One is under way.
    await work(0);
    expect(refused).toHaveLength(1);
    ask('b');
    ask('c');
    await work(0);
    expect(refused).toHaveLength(2);
    for (let each = 0; each < 4; each++) ask(undefined);
    await work(20);
    expect(refused).toHaveLength(3);
    expect(served.map(String).sort()).toEqual(['a', 'a', 'a', 'b', ...Array(3).fill('undefined')]);
  });

  it('come to every name, and each once', async () => {
    const names = fc.constantFrom('a', 'b', 'c', undefined);
    const asked = fc.array(fc.tuple(names, fc.integer({ min: 0, max: 40 })), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(asked, fc.integer({ min: 1, max: 4 }), async (all, max) => {
        const { ask, work, served, turns } = serving({ max, isSerial: max % 2 === 0 });
        for (const [name, ms] of all) {
          ask(name, ms);
          if (ms % 3 === 0) await work(1);
        }
        await work(all.length);
        const inOrder = (list: unknown[]): string[] => list.map(String).sort();
        expect(inOrder(served)).toEqual(inOrder(all.map(([name]) => name)));
        expect(turns.waiting).toBe(0);
      }),
    );
  });
});
