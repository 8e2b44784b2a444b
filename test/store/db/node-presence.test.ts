// Who has a node's name: the processes at one database, each under a name that is its alone while it lives.

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayError } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import type { EpochWitness } from '../../../src/store/db/node-entry.ts';
import { NodeHeartbeat, type Surroundings } from '../../../src/store/db/node-presence.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { steeredTime, withStore } from '../engines.ts';

/** For a machine that is busy with other things. */
const POLL = { timeout: 10_000, interval: 5 };
const BEAT_MS = 2_000;
const knowsNothing: EpochWitness = {
  isAlive: () => Promise.resolve(undefined),
  forget: () => undefined,
};
const onServer: Surroundings = { kind: 'server', witness: knowsNothing };

/** A witness that gives one answer for one process. */
function witness(epoch: string, isAlive: boolean): { around: Surroundings; forgotten: string[] } {
  const forgotten: string[] = [];
  const knows: EpochWitness = {
    isAlive: (asked) => Promise.resolve(asked === epoch ? isAlive : undefined),
    forget: (dead) => void forgotten.push(dead),
  };
  return { around: { kind: 'server', witness: knows }, forgotten };
}

describe.each(engines())('nodes on %s', (engine) => {
  const at = withStore(engine);
  let clock: FakeClock;
  let opened: ReturnType<typeof openDatabase> | undefined;
  const db = () => {
    opened ??= openDatabase(at.target(), {
      ready: () => Promise.resolve(),
      clock: systemClock,
      log: at.log,
    });
    return opened;
  };

  beforeEach(async () => {
    clock = new FakeClock();
    await at.sql('delete from nodes');
  });
  afterAll(async () => {
    await opened?.destroy();
  });

  function process(node: string, epoch: string, around: Surroundings = onServer, own = clock) {
    const context = { db: db(), clock: own, time: steeredTime(() => clock), node, epoch };
    const replaced: GatewayError[] = [];
    const { log, lines } = quietLog();
    const to = {
      log,
      newEpoch: () => `${node.length}77`,
      onReplaced: (error: GatewayError): void => void replaced.push(error),
      onReentered: (): void => void reentries.push(context.epoch),
    };
    const reentries: string[] = [];
    return { presence: new NodeHeartbeat(context, around, to), replaced, reentries, lines };
  }

  // Those of these tests: the store itself reports, too.
  const rows = () =>
    at.sql("select name, epoch, seen_at from nodes where name not like '%/%' order by name");
  const epochs = async () =>
    Object.fromEntries((await rows()).map(({ name, epoch }) => [name, epoch]));
  const beats = (node: string) =>
    at.sql('update nodes set seen_at = $1 where name = $2', [...[new Date(clock.now()), node]]);

  /** Lets time pass while `entering` waits, and tells how much of it. `meanwhile` runs at each step. */
  async function settled(
    entering: Promise<void>,
    meanwhile: (passedMs: number) => unknown = () => undefined,
  ): Promise<{ ms: number; code: string | undefined }> {
    const from = clock.monotonicMs();
    let end: { ms: number; code: string | undefined } | undefined;
    const done = (code: string | undefined): void => {
      end = { ms: clock.monotonicMs() - from, code };
    };
    entering.then(
      () => done(undefined),
      (error: GatewayError) => done(error.code),
    );
    while (end === undefined) {
      await expect.poll(() => end !== undefined || clock.timers > 0, POLL).toBe(true);
      if (end !== undefined) break;
      clock.advance(250);
      await meanwhile(clock.monotonicMs() - from);
    }
    return end;
  }

  it('report every two seconds, and say goodbye', async () => {
    const { presence } = process('n', '1');
    await presence.start();
    expect(await rows()).toEqual([{ name: 'n', epoch: '1', seen_at: new Date(clock.now()) }]);
    clock.advance(BEAT_MS);
    const seenAt = async () => (await rows())[0]?.['seen_at'];
    await expect.poll(seenAt, POLL).toEqual(new Date(clock.now()));
    await expect.poll(() => clock.timers, POLL).toBe(1);
    await presence.stop();
    expect(await rows()).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('are all dead but one where no other process can be', async () => {
    await at.sql("insert into nodes values ('ghost', now(), now(), null), ('n', now(), now(), 7)");
    const { presence } = process('n', '1', { kind: 'alone' });
    await presence.start();
    expect(await epochs()).toEqual({ n: '1' });
    await presence.stop();
  });

  it('are refused under the name of one that beats on, within five seconds', async () => {
    await process('n', '1', onServer, new FakeClock()).presence.start();
    const second = process('n', '2');
    const late = await settled(second.presence.start(), async (passedMs) => {
      if (passedMs === 2 * BEAT_MS) await beats('n');
    });
    expect(late.code).toBe('NODE_NAME_TAKEN');
    expect(late.ms).toBeLessThanOrEqual(5_000);
    expect(await epochs()).toEqual({ n: '1' });
  });

  it('take the name of one that was silent for two beats, and its workers end with it', async () => {
    const seen = new Date(clock.now());
    await at.sql(
      "insert into nodes values ('n', $1, $1, 1), ('n#1', $1, $1, 2), ('n#2', $1, $1, 3), ('n2', $1, $1, 4)",
      [seen],
    );
    const { presence } = process('n', '9');
    const { ms, code } = await settled(presence.start());
    expect(code).toBeUndefined();
    expect(ms).toBeGreaterThanOrEqual(2 * BEAT_MS);
    expect(ms).toBeLessThanOrEqual(5_000);
    expect(await epochs()).toEqual({ n: '9', n2: '4' });
    await presence.stop();
  });

  it('are refused while a worker of that name sends heartbeats, though its gateway is suspended', async () => {
    const seen = new Date(clock.now());
    await at.sql("insert into nodes values ('n', $1, $1, 1), ('n#2', $1, $1, 3)", [seen]);
    const late = await settled(process('n', '9').presence.start(), async (passedMs) => {
      if (passedMs === BEAT_MS) await beats('n#2');
    });
    expect(late).toEqual({ code: 'NODE_NAME_TAKEN', ms: expect.any(Number) });
    expect(await epochs()).toEqual({ n: '1', 'n#2': '3' });
  });

  it('do not wait once the other node has left', async () => {
    const first = process('n', '1', onServer, new FakeClock());
    await first.presence.start();
    const second = process('n', '2');
    const { ms } = await settled(second.presence.start(), async (passedMs) => {
      if (passedMs === 500) await first.presence.stop();
    });
    expect(ms).toBeLessThan(1_500);
    expect(await epochs()).toEqual({ n: '2' });
    await second.presence.stop();
  });

  it('of several that want one dead name, one gets it', async () => {
    await at.sql("insert into nodes values ('n', $1, $1, 1)", [new Date(clock.now())]);
    const all = ['2', '3', '4'].map((epoch) => process('n', epoch));
    const codes = await Promise.all(
      all.map(async ({ presence }) => (await settled(presence.start())).code),
    );
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'NODE_NAME_TAKEN')).toHaveLength(2);
    for (const { presence } of all) await presence.stop();
    expect(await epochs()).toEqual({});
  });

  it('do not wait for a node that is proven dead, nor for one that is proven alive', async () => {
    await at.sql("insert into nodes values ('n', $1, $1, 1), ('n#1', $1, $1, 2)", [
      new Date(clock.now()),
    ]);
    const living = await settled(process('n', '9', witness('1', true).around).presence.start());
    expect(living.code).toBe('NODE_NAME_TAKEN');
    expect(living.ms).toBeLessThanOrEqual(500);
    const { around, forgotten } = witness('1', false);
    const { presence } = process('n', '9', around);
    expect(await settled(presence.start())).toEqual({ ms: 0, code: undefined });
    expect(forgotten).toEqual(['1', '2']);
    expect(await epochs()).toEqual({ n: '9' });
    await presence.stop();
  });

  it('wait for the slower beat of a process of the version that knew no epochs', async () => {
    await at.sql("insert into nodes values ('n', $1, $1)", [new Date(clock.now() - 10_000)]);
    const refused = await settled(process('n', '9').presence.start(), async (passedMs) => {
      if (passedMs === 15_000) await beats('n');
    });
    expect(refused.code).toBe('NODE_NAME_TAKEN');
    await at.sql("update nodes set seen_at = $1 where name = 'n'", [
      new Date(clock.now() - 60_000),
    ]);
    const { presence } = process('n', '9');
    const entered = await settled(presence.start());
    expect(entered.code).toBeUndefined();
    expect(entered.ms).toBeLessThanOrEqual(5_000);
    expect(await epochs()).toEqual({ n: '9' });
    await presence.stop();
  });

  it('take the names of their workers with them when they leave', async () => {
    const { presence } = process('n', '1');
    await presence.start();
    await at.sql("insert into nodes values ('n#2', $1, $1, 3), ('n2', $1, $1, 4)", [
      new Date(clock.now()),
    ]);
    await presence.stop();
    expect(await epochs()).toEqual({ n2: '4' });
  });

  it('that were replaced are notified once, and leave the row to the other', async () => {
    const { presence, replaced } = process('n', '1');
    await presence.start();
    await at.sql('update nodes set epoch = 2');
    clock.advance(BEAT_MS);
    await expect.poll(() => replaced.map(({ code }) => code), POLL).toEqual(['NODE_REPLACED']);
    expect(clock.timers).toBe(0);
    await presence.stop();
    expect(await epochs()).toEqual({ n: '2' });
  });

  it('that were declared dead enter again under a new epoch', async () => {
    const { presence, replaced, reentries, lines } = process('n', '1');
    await presence.start();
    await at.sql('delete from nodes');
    clock.advance(BEAT_MS);
    await expect.poll(epochs, POLL).toEqual({ n: '177' });
    await expect.poll(() => reentries, POLL).toEqual(['177']);
    await expect.poll(() => lines(), POLL).toMatchObject([{ level: 'warn', node: 'n' }]);
    expect(replaced).toEqual([]);
    await presence.stop();
    expect(await epochs()).toEqual({});
  });

  it('that are workers enter again after their gateway, which they identify by its first epoch', async () => {
    const gateway = { node: 'n', epoch: '1' };
    const own = process('n', '1');
    await own.presence.start();
    const around: Surroundings = { kind: 'worker', gateway, isEmbedded: false };
    const workerClock = new FakeClock();
    const worker = process('n#2', '6', around, workerClock);
    await worker.presence.start();
    await at.sql('delete from nodes');
    workerClock.advance(BEAT_MS);
    await expect.poll(() => workerClock.timers, POLL).toBe(1);
    expect(await epochs()).toEqual({});
    clock.advance(BEAT_MS);
    await expect.poll(epochs, POLL).toEqual({ n: '177' });
    workerClock.advance(BEAT_MS);
    await expect.poll(epochs, POLL).toEqual({ n: '177', 'n#2': '377' });
    expect(worker.replaced).toEqual([]);
    // One that is started now as well.
    const late = process('n#3', '8', around, new FakeClock());
    await late.presence.start();
    expect(await epochs()).toEqual({ n: '177', 'n#2': '377', 'n#3': '8' });
    for (const { presence } of [late, worker, own]) await presence.stop();
  });

  it('that are workers have their names of the gateway that started them', async () => {
    const gateway = { node: 'n', epoch: '1' };
    const around: Surroundings = { kind: 'worker', gateway, isEmbedded: false };
    await at.sql("insert into nodes values ('n', $1, $1, 1), ('n#2', $1, $1, 5)", [
      new Date(clock.now()),
    ]);
    const worker = process('n#2', '6', around);
    expect(await settled(worker.presence.start())).toEqual({ ms: 0, code: undefined });
    expect(await epochs()).toEqual({ n: '1', 'n#2': '6' });

    // Another gateway takes the name, and the names of all workers with it.
    await at.sql("delete from nodes where name = 'n#2'");
    await at.sql("update nodes set epoch = 2 where name = 'n'");
    clock.advance(BEAT_MS);
    await expect.poll(() => worker.replaced.length, POLL).toBe(1);
    await expect(process('n#3', '7', around).presence.start()).rejects.toMatchObject({
      code: 'NODE_REPLACED',
    });
    expect(await epochs()).toEqual({ n: '2' });
  });
});
