// The databases that test files share, one after another: a worker of the test run starts an engine
// once, each file finds it empty. Starting one takes seconds, emptying it some milliseconds.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { EmbeddedDatabase } from '../../src/store/embedded/process-supervisor.ts';
import { readKeyFile } from '../../src/store/secrets/secret-keys.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import {
  databaseOf,
  type EngineName,
  startServer,
  TEST_CACHE,
  type TestDatabase,
} from './databases.ts';
import { KEPT_FOLDER } from './kept-folders.ts';

/** An engine, and what gives an empty database of it. */
interface Kept {
  isTaken: boolean;
  empty: () => Promise<TestDatabase>;
}

const EVERY_TABLE = `
  select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables
  from pg_tables where schemaname = 'public' and tablename <> 'migrations'`;

const kept = new Map<EngineName, Promise<Kept>>();

/** An empty database for one test file at a time; undefined while another one has it. */
export async function keptDatabase(engine: EngineName): Promise<TestDatabase | undefined> {
  if (engine === 'server' && process.env['TEST_DATABASE_URL'] !== undefined) return undefined;
  const starting = kept.get(engine) ?? (engine === 'embedded' ? keepEmbedded() : keepServer());
  kept.set(engine, starting);
  const it = await starting;
  if (it.isTaken) return undefined;
  it.isTaken = true;
  const database = await it.empty();
  return {
    ...database,
    stop: async () => {
      it.isTaken = false;
      await database.stop();
    },
  };
}

/** It ends with this process. */
async function keepEmbedded(): Promise<Kept> {
  const dataFolder = mkdtempSync(join(process.env[KEPT_FOLDER] ?? tmpdir(), 'store-'));
  const { log } = quietLog();
  const embedded = new EmbeddedDatabase({
    dataFolder,
    cacheFolder: TEST_CACHE,
    clock: systemClock,
    log,
  });
  await embedded.start();
  readKeyFile(join(dataFolder, 'secret.key'), systemRandom); // A database without it is refused.
  return {
    isTaken: false,
    empty: async () => {
      rmSync(join(dataFolder, 'files'), { recursive: true, force: true });
      const database = databaseOf(dataFolder, undefined);
      await emptied(await database.connect());
      const options: TestDatabase['options'] = (log) => ({
        ...database.options(log),
        isShared: true,
      });
      return { ...database, options, stop: () => Promise.resolve() };
    },
  };
}

async function emptied(client: Client): Promise<void> {
  const { rows } = await client.query(EVERY_TABLE);
  const tables: unknown = rows[0]?.tables;
  if (typeof tables === 'string') await client.query(`truncate ${tables} restart identity cascade`);
  await client.end();
}

/** Each file gets a database of its own on it. */
async function keepServer(): Promise<Kept> {
  const server = await startServer();
  const postgres = databaseOf('', server.url);
  const administer = async (text: string): Promise<void> => {
    const client = await postgres.connect();
    await client.query(text);
    await client.end();
  };
  let files = 0;
  return {
    isTaken: false,
    empty: async () => {
      const name = `file_${++files}`;
      await administer(`create database ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const database = databaseOf(mkdtempSync(join(tmpdir(), 'patchbay-store-')), url.href);
      return {
        ...database,
        stop: async () => {
          await database.stop();
          await administer(`drop database ${name} with (force)`);
        },
      };
    },
  };
}
