// Stores to test with. Each test finds its store empty but for one organization.

import { sql } from 'kysely';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Log } from '../../src/log.ts';
import { type Clock, systemClock } from '../../src/std/clock.ts';
import type { DatabaseTarget } from '../../src/store/db/connections.ts';
import type { DatabaseTime } from '../../src/store/db/database-time.ts';
import { type OpenStoreOptions, openStore, type StoreHandle } from '../../src/store/open.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { type EngineName, startDatabase, type TestDatabase } from './databases.ts';
import { keptDatabase } from './kept-database.ts';

export interface TestStore {
  store: StoreHandle;
  /** The clock of the repositories. Timers of the process supervision run on the real one. */
  clock: FakeClock;
  log: Log;
  lines: () => Record<string, unknown>[];
  dataFolder: string;
  /** For what works below the repositories. */
  target: () => DatabaseTarget;
  /** A connection to the database itself. */
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  owner: { organizationId: string; userId: string };
  apiKey: string;
}

/** Opens a store for all tests of the enclosing `describe` (or file), empties it before each. */
export function withStore(engine: EngineName = 'embedded'): TestStore {
  const test = {} as TestStore; // Filled before the first test.
  let database: TestDatabase | undefined;
  let client: Client | undefined;

  beforeAll(async () => {
    const started = (await keptDatabase(engine)) ?? (await startDatabase(engine));
    database = started;
    const { log, lines } = quietLog();
    const { dataFolder } = started;
    const target = (): DatabaseTarget => started.target;
    Object.assign(test, { dataFolder, target, log, lines, clock: new FakeClock() });
    test.store = await openStore({
      ...started.options(log),
      clock: steeredClock(() => test.clock),
      time: steeredTime(() => test.clock),
    });
    client = await database.connect();
    const open = client;
    test.sql = async (text, values = []) => (await open.query(text, values)).rows;
  }, 120_000); // A busy machine takes half a minute to start an engine.

  beforeEach(async () => {
    test.clock = new FakeClock();
    await test.sql('delete from organizations');
    await test.sql('delete from log_in_attempts');
    const first = await test.store.accounts.ensureFirst();
    const principal = await test.store.accounts.authenticate(first?.apiKey ?? '');
    if (first === undefined || principal === undefined) throw new Error('the store is not empty');
    test.apiKey = first.apiKey;
    test.owner = { organizationId: principal.organizationId, userId: principal.userId };
  });

  afterAll(async () => {
    await client?.end();
    await test.store?.close();
    await database?.stop();
  }, 120_000); // A busy machine takes half a minute to start an engine.
  return test;
}

/** The test's clock in the place of the database's. */
export function steeredTime(clock: () => Pick<Clock, 'now'>): DatabaseTime {
  return () => sql<Date>`${new Date(clock().now())}::timestamptz`;
}

/** Wall clock from the test, timers from the machine: a child process does not wait for a fake. */
function steeredClock(fake: () => FakeClock): OpenStoreOptions['clock'] {
  return {
    now: () => fake().now(),
    monotonicMs: () => systemClock.monotonicMs(),
    lastStall: () => undefined,
    after: (delayMs, run) => systemClock.after(delayMs, run),
  };
}
