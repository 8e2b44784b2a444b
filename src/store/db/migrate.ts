// Migrates a database to the schema of this version: migrations/*.sql in the order of their names, each once, all
// in one transaction under a table lock, so that of several starting nodes one migrates and the others find it
// done. (Advisory locks do not work: the embedded engine has one session.)

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Client, DatabaseError } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { connectionConfig, type DatabaseTarget } from './connections.ts';
import { asStoreError } from './database-errors.ts';

/** Deadline of a migration, which may have to rewrite a table of millions of rows. */
const MIGRATION_MS_MAX = 600_000;
/** Tries to create the table of migrations: `create table if not exists` fails if two run it at the same moment. */
const CREATE_TRIES_MAX = 5;
/** Repetitions after a deadlock: nodes of the version before may lock tables in another order than a migration. */
const DEADLOCKS_MAX = 5;

export interface Migration {
  name: string;
  text: string;
}

/** The migrations of this version, in order. */
export function ownMigrations(): Migration[] {
  const folder = new URL('../migrations/', import.meta.url);
  return readdirSync(folder)
    .filter((name) => /^\d{3}-[a-z0-9-]+\.sql$/.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
}

/** Applies the missing migrations. Throws MIGRATION_CHANGED, MIGRATION_UNKNOWN, STORE_UNAVAILABLE. */
export async function migrate(
  target: DatabaseTarget,
  migrations: readonly Migration[],
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const client = new Client({
    ...connectionConfig(target, 'api'),
    connectionTimeoutMillis: 5_000,
    query_timeout: MIGRATION_MS_MAX,
  });
  client.on('error', (error) => log.warn({ err: error }, 'the migration connection was lost'));
  try {
    await client.connect();
    await createTable(client);
    for (let tries = 1; !(await apply(client, migrations, { clock, log })); tries++) {
      if (tries === DEADLOCKS_MAX) throw new GatewayError('STORE_UNAVAILABLE');
    }
  } catch (error) {
    throw asStoreError(error);
  } finally {
    // The connection's end rolls back a failed transaction.
    await client.end().catch(() => undefined);
  }
}

/** Applies the migrations. False, without a change, if the database ended the transaction because of a deadlock. */
async function apply(
  client: Client,
  migrations: readonly Migration[],
  { clock, log }: { clock: Clock; log: Log },
): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query(`set local statement_timeout = ${MIGRATION_MS_MAX}`);
    await client.query('lock table migrations in access exclusive mode');
    const applied = await appliedMigrations(client);
    check(migrations, applied);
    const made = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of made) {
      await client.query(migration.text);
      await client.query(
        'insert into migrations (name, checksum, applied_at) values ($1, $2, $3)',
        [migration.name, checksum(migration.text), new Date(clock.now())],
      );
    }
    await client.query('commit');
    for (const { name } of made) log.info({ migration: name }, 'migration applied');
    return true;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '40P01') throw error;
    log.warn({ reason: error.message }, 'migration begun again');
    await client.query('rollback');
    return false;
  }
}

async function createTable(client: Client): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(
        'create table if not exists migrations (name text primary key, checksum text not null, applied_at timestamptz not null)',
      );
      return;
    } catch (error) {
      if (tries === CREATE_TRIES_MAX) throw error;
    }
  }
}

/** Checksums by name. */
async function appliedMigrations(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from migrations',
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

function check(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const own = new Map(migrations.map(({ name, text }) => [name, checksum(text)]));
  for (const [name, stored] of applied) {
    const expected = own.get(name);
    if (expected === undefined) throw new GatewayError('MIGRATION_UNKNOWN', { name });
    if (expected !== stored) throw new GatewayError('MIGRATION_CHANGED', { name });
  }
}

/** Checksum of the text with normalised line ends, which a checkout may change. */
function checksum(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
