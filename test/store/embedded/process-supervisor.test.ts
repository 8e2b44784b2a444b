// The process of the embedded database under kill -9: nothing acknowledged is lost, one process per
// folder, and what is killed is started again.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entryPoint } from '../../../src/runtime/entry-point.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { lockByFile } from '../../../src/store/embedded/data-folder.ts';
import { EmbeddedDatabase } from '../../../src/store/embedded/process-supervisor.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { TEST_CACHE } from '../databases.ts';

const ROUNDS = 3;

let folder = '';
const opened: EmbeddedDatabase[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-embedded-'));
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  rmSync(folder, { recursive: true, force: true });
});

function database(dataFolder = folder): EmbeddedDatabase {
  const { log } = quietLog();
  const made = new EmbeddedDatabase({
    dataFolder,
    cacheFolder: TEST_CACHE,
    clock: systemClock,
    log,
  });
  opened.push(made);
  return made;
}

function connections(embedded: EmbeddedDatabase): Kysely<Tables> {
  const target = { kind: 'embedded', socketFolder: embedded.socketFolder } as const;
  const ready = (): Promise<void> => embedded.ready();
  return openDatabase(target, { ready, clock: systemClock, log: quietLog().log });
}

async function numbersIn(db: Kysely<Tables>): Promise<number[]> {
  const { rows } = await sql<{ n: number }>`select n from t order by n`.execute(db);
  return rows.map(({ n }) => n);
}

/** A busy machine may take longer to start it again than anybody waits for a statement. */
async function backAgain(embedded: EmbeddedDatabase): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    const isReady = await embedded.ready().then(
      () => true,
      () => false,
    );
    if (isReady) return;
  }
}

describe('the embedded database', () => {
  it('loses no acknowledged commit when its process is killed, and is started again', async () => {
    const embedded = database();
    await embedded.start();
    const db = connections(embedded);
    await sql`create table t (n integer primary key)`.execute(db);
    const acknowledged: number[] = [];
    let n = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const pid = embedded.pid ?? 0;
      const until = n + 50 + round * 37;
      const writing = (async () => {
        for (;;) {
          n += 1;
          await sql`insert into t values (${n})`.execute(db);
          acknowledged.push(n);
          if (n === until) process.kill(pid, 'SIGKILL');
        }
      })();
      await expect(writing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await expect.poll(() => embedded.pid, { timeout: 10_000 }).not.toBe(pid);
      await backAgain(embedded);
      const stored = await numbersIn(db);
      expect(acknowledged.filter((each) => !stored.includes(each))).toEqual([]);
      // At most the one that was under way is there without having been acknowledged.
      expect(stored.length - acknowledged.length).toBeLessThanOrEqual(1);
      acknowledged.splice(0, acknowledged.length, ...stored);
    }
    expect(acknowledged.length).toBeGreaterThan(150);
    await db.destroy();
    await embedded.close();
    await expect(embedded.ready()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }, 40_000);

  it('carries transactions that wait for it over its restart', async () => {
    const embedded = database();
    await embedded.start();
    const target = { kind: 'shared', socketFolder: embedded.socketFolder } as const;
    const db = openDatabase(target, {
      ready: () => embedded.ready(),
      clock: systemClock,
      log: quietLog().log,
    });
    await sql`create table t (n integer primary key)`.execute(db);
    // Opens three connections: on an open one the engine answers `begin` before it has begun the transaction.
    await Promise.all([1, 2, 3].map(() => db.transaction().execute((tx) => numbersIn(tx))));
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    let isBegun = false;
    const first = db.transaction().execute(async (tx) => {
      await sql`insert into t values (0)`.execute(tx);
      isBegun = true;
      await left;
    });
    const lost = expect(first).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect.poll(() => isBegun, { timeout: 10_000 }).toBe(true);
    const waiting = [1, 2].map((n) =>
      db.transaction().execute((tx) => sql`insert into t values (${n})`.execute(tx)),
    );
    await new Promise((resolve) => setTimeout(resolve, 200)); // Enough for them to be in the engine's queue.
    process.kill(embedded.pid ?? 0, 'SIGKILL');
    await backAgain(embedded);
    leave();
    await lost;
    await Promise.all(waiting);
    expect(await numbersIn(db)).toEqual([1, 2]);
    await db.destroy();
  }, 40_000);

  it('loses no acknowledged commit when its gateway is killed, and frees the folder', async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < 2; round++) {
      const gateway = startGateway(acknowledged.length);
      const killed = new Promise((resolve) => gateway.once('exit', resolve));
      const until = acknowledged.length + 60;
      gateway.on('message', (n: number) => {
        acknowledged.push(n);
        if (acknowledged.length === until) gateway.kill('SIGKILL');
      });
      await killed;
      const embedded = database();
      await embedded.start();
      const db = connections(embedded);
      const stored = await numbersIn(db);
      expect(acknowledged.length).toBeGreaterThanOrEqual(until);
      expect(acknowledged.filter((each) => !stored.includes(each))).toEqual([]);
      acknowledged.splice(0, acknowledged.length, ...stored);
      await db.destroy();
      await embedded.close();
    }
  }, 40_000);

  it('refuses a second process on the same folder, and serves the first on', async () => {
    const first = database();
    await first.start();
    const second = database();
    await expect(second.start()).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining(folder),
    });
    await second.close();
    const db = connections(first);
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await db.destroy();
    await first.close();
  }, 20_000);

  it('works where the path of the folder is too long for a socket', async () => {
    const embedded = database(join(folder, 'x'.repeat(120)));
    expect(embedded.socketFolder.length).toBeLessThan(90);
    rmSync(embedded.socketFolder, { recursive: true, force: true });
  });

  it('keeps its file lock from another living process only', () => {
    const lock = lockByFile(folder, process.pid);
    expect(lock).toBeDefined();
    expect(lockByFile(folder, process.pid)).toBeUndefined();
    lock?.release();
    // No process has that id: the lock of one that died.
    expect(lockByFile(folder, 2 ** 22 + 1)).toBeDefined();
    expect(lockByFile(folder, process.pid)).toBeDefined();
  });
});

/** A process that opens the database and tells each number that it has stored. */
function startGateway(from: number): ChildProcess {
  const { path, execArgv } = entryPoint('./gateway-process.ts', import.meta.url);
  return fork(path, [folder, TEST_CACHE, String(from)], { execArgv });
}
