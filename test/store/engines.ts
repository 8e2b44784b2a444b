// Stores to test with: the embedded engine always, a PostgreSQL server where there is one
// (TEST_DATABASE_URL, or the binaries of a distribution, started in a temporary folder on a unix
// socket). One database per test file; each test finds it empty but for one organization.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Log } from '../../src/log.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { Target } from '../../src/store/connections.ts';
import { type OpenStore, type OpenStoreOptions, openStore } from '../../src/store/open.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

export type EngineName = 'embedded' | 'server';

/** The template of embedded databases is made once per machine, not once per test file. */
export const TEST_CACHE = join(tmpdir(), 'patchbay-test-cache');
const SERVER_START_MS_MAX = 15_000;
/** Nobody: PostgreSQL refuses to run as root. */
const UNPRIVILEGED_ID = 65_534;
/** Runs a server until the tests let go of its standard input, be it that they were killed. */
const UNTIL_STDIN_ENDS = '"$@" & server=$!; read -r _; kill -QUIT $server; wait $server';

export interface TestStore {
  store: OpenStore;
  /** The clock of the repositories. Timers of the process supervision run on the real one. */
  clock: FakeClock;
  log: Log;
  lines: () => Record<string, unknown>[];
  dataFolder: string;
  /** For what works below the repositories. */
  target: () => Target;
  /** A connection to the database itself. */
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  owner: { organizationId: string; userId: string };
  apiKey: string;
}

/** The engines that this machine has. Says why if one is missing. */
export function engines(): EngineName[] {
  if (process.env['TEST_DATABASE_URL'] !== undefined || serverBinaries() !== undefined) {
    return ['embedded', 'server'];
  }
  process.stderr.write('No PostgreSQL server: set TEST_DATABASE_URL or install postgresql.\n');
  return ['embedded'];
}

/** Opens a store for all tests of the enclosing `describe` (or file), empties it before each. */
export function withStore(engine: EngineName = 'embedded'): TestStore {
  const test = {} as TestStore; // Filled before the first test.
  let database: TestDatabase | undefined;
  let client: Client | undefined;

  beforeAll(async () => {
    const started = await startDatabase(engine);
    database = started;
    const { log, lines } = quietLog();
    const { dataFolder } = started;
    const target = (): Target => started.target;
    Object.assign(test, { dataFolder, target, log, lines, clock: new FakeClock() });
    test.store = await openStore({
      ...started.options(log),
      clock: steeredClock(() => test.clock),
    });
    client = await database.connect();
    const open = client;
    test.sql = async (text, values = []) => (await open.query(text, values)).rows;
  }, 30_000);

  beforeEach(async () => {
    test.clock = new FakeClock();
    await test.sql('delete from organizations');
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
  }, 30_000);
  return test;
}

export interface TestDatabase {
  dataFolder: string;
  target: Target;
  options: (log: Log) => Omit<OpenStoreOptions, 'clock'>;
  connect: () => Promise<Client>;
  stop: () => Promise<void>;
}

export async function startDatabase(engine: EngineName): Promise<TestDatabase> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'patchbay-store-'));
  const server = engine === 'server' ? await startServer() : undefined;
  const connection =
    server === undefined
      ? { host: dataFolder, user: 'postgres', database: 'postgres' }
      : { connectionString: server.url };
  return {
    dataFolder,
    target:
      server === undefined
        ? { kind: 'embedded', socketFolder: dataFolder }
        : { kind: 'server', url: server.url },
    options: (log) => ({
      dataFolder,
      databaseUrl: server?.url,
      secrets: { keys: undefined },
      callLimit: 10,
      random: systemRandom,
      log,
      cacheFolder: TEST_CACHE,
    }),
    connect: async () => {
      const client = new Client({ ...connection, application_name: 'patchbay' });
      client.on('error', () => undefined); // Tests end servers on purpose.
      await client.connect();
      return client;
    },
    stop: async () => {
      await server?.stop();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** Wall clock from the test, timers from the machine: a child process does not wait for a fake. */
function steeredClock(fake: () => FakeClock): OpenStoreOptions['clock'] {
  return {
    now: () => fake().now(),
    monotonicMs: () => systemClock.monotonicMs(),
    after: (delayMs, run) => systemClock.after(delayMs, run),
  };
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined) return schemaOf(given);
  const binaries = serverBinaries();
  if (binaries === undefined) throw new Error('no PostgreSQL server here');
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-pg-'));
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  if (process.getuid?.() === 0) chownSync(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const cluster = join(folder, 'data');
  const made = spawnSync(
    join(binaries, 'initdb'),
    ['-D', cluster, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...identity, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const arguments_ = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=', '-F'];
  const server = spawn(
    '/bin/sh',
    ['-c', UNTIL_STDIN_ENDS, 'sh', join(binaries, 'postgres'), ...arguments_],
    { ...identity, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const url = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  await listening(url, server);
  return {
    url,
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.stdin.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A schema of its own on a server that others use too. */
async function schemaOf(url: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const schema = `patchbay_${systemRandom.bytes(6).toString('hex')}`;
  const run = async (text: string): Promise<void> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  await run(`create schema ${schema}`);
  const own = new URL(url);
  own.searchParams.set('options', `-c search_path=${schema}`);
  return { url: own.href, stop: () => run(`drop schema ${schema} cascade`) };
}

function serverBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return undefined;
  return readdirSync(root)
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(root, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** Resolves when the server takes a connection; before, it says that it is starting. */
async function listening(url: string, server: ChildProcess): Promise<void> {
  const until = systemClock.monotonicMs() + SERVER_START_MS_MAX;
  while (systemClock.monotonicMs() < until && server.exitCode === null) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined); // It may not be there yet.
    const answered = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the PostgreSQL server did not start');
}
