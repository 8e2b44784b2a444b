// Databases to test with: the embedded engine always, a PostgreSQL server where there is one
// (TEST_DATABASE_URL, or the binaries of a distribution, started in a temporary folder on a unix socket).

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import type { Log } from '../../src/log.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { DatabaseTarget } from '../../src/store/db/connections.ts';
import type { OpenStoreOptions } from '../../src/store/open.ts';
import { LASTING_FOLDER } from '../memory-folder.ts';

export type EngineName = 'embedded' | 'server';

/** The template of embedded databases is made once per machine, not once per test file. */
export const TEST_CACHE = join(process.env[LASTING_FOLDER] ?? tmpdir(), 'patchbay-test-cache');
const SERVER_START_MS_MAX = 15_000;
/** Nobody: PostgreSQL refuses to run as root. */
export const UNPRIVILEGED_ID = 65_534;
/** Runs a server until the tests let go of its standard input, be it that they were killed. */
const UNTIL_STDIN_ENDS = '"$@" & server=$!; read -r _; kill -QUIT $server; wait $server';

/** The engines that this machine has. Says why if one is missing. */
export function engines(): EngineName[] {
  if (process.env['TEST_DATABASE_URL'] !== undefined || serverBinaries() !== undefined) {
    return ['embedded', 'server'];
  }
  process.stderr.write('No PostgreSQL server: set TEST_DATABASE_URL or install postgresql.\n');
  return ['embedded'];
}

export interface TestDatabase {
  dataFolder: string;
  target: DatabaseTarget;
  options: (log: Log) => Omit<OpenStoreOptions, 'clock'>;
  connect: () => Promise<Client>;
  stop: () => Promise<void>;
}

/** `kept`: a folder for a database that outlives its stop, and goes on where it is started with the same folder. */
export async function startDatabase(engine: EngineName, kept?: string): Promise<TestDatabase> {
  const server = engine === 'server' ? await startServer(kept) : undefined;
  const dataFolder = kept ?? mkdtempSync(join(tmpdir(), 'patchbay-store-'));
  const database = databaseOf(dataFolder, server?.url);
  return {
    ...database,
    stop: async () => {
      await server?.stop();
      if (kept === undefined) await database.stop();
    },
  };
}

/** On the server at `url`, or embedded in `dataFolder`, which goes when the database stops. */
export function databaseOf(dataFolder: string, url: string | undefined): TestDatabase {
  const connection =
    url === undefined
      ? { host: dataFolder, user: 'postgres', database: 'postgres' }
      : { connectionString: url };
  return {
    dataFolder,
    target:
      url === undefined ? { kind: 'embedded', socketFolder: dataFolder } : { kind: 'server', url },
    options: (log) => ({
      dataFolder,
      databaseUrl: url,
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
    stop: () => {
      rmSync(dataFolder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

export interface TestServer {
  url: string;
  /** Undefined: it is somebody else's. */
  pid: number | undefined;
  stop: () => Promise<void>;
}

/** `kept`: a folder in which its data stay. `settings`: further arguments of the server. */
export async function startServer(
  kept?: string,
  settings: readonly string[] = [],
): Promise<TestServer> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined) return schemaOf(given);
  const binaries = serverBinaries();
  if (binaries === undefined) throw new Error('no PostgreSQL server here');
  const folder =
    kept === undefined ? mkdtempSync(join(tmpdir(), 'patchbay-pg-')) : join(kept, 'pg');
  mkdirSync(folder, { recursive: true });
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};
  if (process.getuid?.() === 0) chownSync(folder, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
  const cluster = join(folder, 'data');
  if (!existsSync(cluster)) makeCluster(binaries, cluster, identity);
  const arguments_ = ['-D', cluster, '-k', folder, '-c', 'listen_addresses=', '-F', ...settings];
  const server = spawn(
    '/bin/sh',
    [
      '-c',
      kept === undefined ? `${UNTIL_STDIN_ENDS}; rm -rf "$0"` : UNTIL_STDIN_ENDS,
      folder,
      join(binaries, 'postgres'),
      ...arguments_,
    ],
    { ...identity, cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const url = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  await listening(url, server);
  return {
    url,
    pid: server.pid,
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.stdin.end();
      await ended;
    },
  };
}

function makeCluster(binaries: string, cluster: string, identity: { uid?: number; gid?: number }) {
  const made = spawnSync(
    join(binaries, 'initdb'),
    ['-D', cluster, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...identity, cwd: dirname(cluster), encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
}

/** A schema of its own on a server that others use too. */
async function schemaOf(url: string): Promise<TestServer> {
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
  return { url: own.href, pid: undefined, stop: () => run(`drop schema ${schema} cascade`) };
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
