// Migrations on both engines.

import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { type Migration, migrate, ownMigrations } from '../../../src/store/db/migrate.ts';
import { EmbeddedDatabase } from '../../../src/store/embedded/process-supervisor.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines, startDatabase, TEST_CACHE, type TestDatabase } from '../databases.ts';

const ONE: Migration = { name: '001-one.sql', text: 'create table one (n integer);' };
const TWO: Migration = {
  name: '002-two.sql',
  text: 'create table two (n integer);\ninsert into one values (1);',
};

describe.each(engines())('migrations on %s', (engine) => {
  const { log } = quietLog();
  let database: TestDatabase;
  let embedded: EmbeddedDatabase | undefined;
  let client: Client;

  beforeAll(async () => {
    database = await startDatabase(engine);
    if (engine === 'embedded') {
      const { dataFolder } = database;
      embedded = new EmbeddedDatabase({
        dataFolder,
        cacheFolder: TEST_CACHE,
        clock: systemClock,
        log,
      });
      await embedded.start();
    }
    client = await database.connect();
  }, 30_000);
  beforeEach(async () => {
    await client.query('rollback'); // A test that failed may have left its transaction open.
    await client.query('drop table if exists migrations, one, two');
  });
  afterAll(async () => {
    await client?.end();
    await embedded?.close();
    await database?.stop();
  }, 30_000);

  const run = (migrations: Migration[]): Promise<void> =>
    migrate(database.target, migrations, { clock: systemClock, log });
  const applied = async (): Promise<string[]> =>
    (await client.query('select name from migrations order by name')).rows.map(({ name }) => name);

  it('are applied once, in order, and later ones after', async () => {
    await run([ONE]);
    await run([ONE]);
    await run([ONE, TWO]);
    expect(await applied()).toEqual(['001-one.sql', '002-two.sql']);
    expect((await client.query('select n from one')).rows).toEqual([{ n: 1 }]);
  });

  // A node of the version before had a table that the migration needed, and wanted one that the migration had: the new node
  // did not start.
  it.runIf(engine === 'server')(
    'are begun again where calls of another node hold them up',
    async () => {
      await run([ONE, TWO]);
      await client.query('begin');
      await client.query('select from two');
      const text = 'alter table one add column m integer; alter table two add column m integer;';
      const migrating = run([ONE, TWO, { name: '003-both.sql', text }]);
      const other = await database.connect();
      await vi.waitFor(async () => {
        const { rows } = await other.query('select from pg_locks where not granted');
        expect(rows).toHaveLength(1);
      });
      await client.query('select from one');
      await client.query('commit');
      await migrating;
      await other.end();
      expect(await applied()).toEqual(['001-one.sql', '002-two.sql', '003-both.sql']);
    },
  );

  it('are applied once when several nodes start at the same moment', async () => {
    await Promise.all([1, 2, 3, 4].map(() => run([ONE, TWO])));
    expect((await client.query('select n from one')).rows).toEqual([{ n: 1 }]);
  });

  it('are refused when the text of an applied one changed', async () => {
    await run([ONE]);
    const changed = { ...ONE, text: 'create table one (n bigint);' };
    await expect(run([changed, TWO])).rejects.toMatchObject({
      code: 'MIGRATION_CHANGED',
      facts: { name: '001-one.sql' },
    });
    expect(await applied()).toEqual(['001-one.sql']);
    // Line ends are a checkout's business.
    await run([ONE, { ...TWO, text: TWO.text.replaceAll('\n', '\r\n') }]);
    await run([ONE, TWO]);
  });

  it('are refused when a newer version wrote the database', async () => {
    await run([ONE, TWO]);
    await expect(run([ONE])).rejects.toMatchObject({ code: 'MIGRATION_UNKNOWN' });
  });

  it('leave nothing behind when one fails', async () => {
    const broken = { name: '002-broken.sql', text: 'create table two (n integer); select 1 / 0;' };
    await expect(run([ONE, broken])).rejects.toThrow('division by zero');
    expect(await applied()).toEqual([]);
    await run([ONE, TWO]);
  });
});

describe('the migrations of this version', () => {
  it('are numbered from 001 without a gap, no number twice', () => {
    const numbers = ownMigrations().map(({ name }) => Number(name.slice(0, 3)));
    expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(0);
  });
});
