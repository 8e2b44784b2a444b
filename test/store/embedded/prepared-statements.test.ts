// Statements that clients repeat: which of them the engine parses, and that nobody notices.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareCluster } from '../../../src/store/embedded/cluster-template.ts';
import {
  initialiseCluster,
  openPgliteEngine,
  type PgliteEngine,
} from '../../../src/store/embedded/pglite-engine.ts';
import { APPLICATION_NAMES, queryMessage } from '../../../src/store/embedded/wire-protocol.ts';
import { PostgresWireServer } from '../../../src/store/embedded/wire-server.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { TEST_CACHE } from '../databases.ts';

const OURS = APPLICATION_NAMES.calls;

describe('a statement of our clients', () => {
  const clock = new FakeClock();
  const clients: Client[] = [];
  let root = '';
  let engine: PgliteEngine;
  let server: PostgresWireServer;
  /** What the engine got: the types of its messages, and the SQL of queries. */
  let got: string[] = [];
  const faults: unknown[] = [];

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'patchbay-prepared-'));
    mkdirSync(TEST_CACHE, { recursive: true });
    const folder = join(root, 'cluster');
    await prepareCluster({ folder, cacheFolder: TEST_CACHE, initialise: initialiseCluster });
    engine = await openPgliteEngine(folder);
    const spy: PgliteEngine = {
      ...engine,
      execute: (message) => {
        const [type = 0] = message;
        const isQuery = type === 0x51;
        const text = Buffer.from(message).toString('latin1', 5, message.length - 1);
        got.push(isQuery ? text : String.fromCharCode(type));
        return engine.execute(message);
      },
    };
    server = new PostgresWireServer({
      engine: spy,
      clock,
      broken: (error) => faults.push(error),
    });
    await server.listen(join(root, '.s.PGSQL.5432'));
  }, 60_000);

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await server.close();
    await engine.close();
    rmSync(root, { recursive: true, force: true });
    expect(faults).toEqual([]);
  });

  beforeEach(() => {
    engine.execute(queryMessage('drop table if exists t; create table t (n integer, a text)'));
    engine.execute(queryMessage("insert into t select n, 'a' || n from generate_series(1, 9) n"));
    got = [];
  });

  async function client(application = OURS): Promise<Client> {
    const settings = { host: root, user: 'postgres', database: 'postgres' };
    const made = new Client({ ...settings, application_name: application });
    await made.connect();
    clients.push(made);
    return made;
  }

  const parsed = (): number => got.filter((each) => each === 'P').length;

  it('is parsed when it comes first, kept when it comes again, and given to every client from then on', async () => {
    const [one, other] = [await client(), await client()];
    for (let n = 1; n <= 9; n++) {
      const { rows } = await (n % 2 === 0 ? one : other).query('select a from t where n = $1', [n]);
      expect(rows).toEqual([{ a: `a${n}` }]);
    }
    expect(parsed()).toBe(2);
    expect(got.filter((each) => each === 'B').length).toBe(9);
  });

  it('is the same only with the same text', async () => {
    const one = await client();
    for (let n = 0; n < 4; n++) {
      const { rows } = await one.query('select $1::text || 1 as x', [n]);
      expect(rows).toEqual([{ x: `${n}1` }]);
      const second = await one.query('select $1::text || 2 as x', [n]);
      expect(second.rows).toEqual([{ x: `${n}2` }]);
    }
    expect(parsed()).toBe(4);
  });

  it('fails as it would, for its text or its parameters, and works afterwards', async () => {
    const one = await client();
    for (let n = 0; n < 4; n++) {
      await expect(one.query('select $1::integer / 0', [n])).rejects.toMatchObject({
        code: '22012',
      });
      await expect(one.query('select nothing from t where n = $1', [n])).rejects.toMatchObject({
        code: '42703',
      });
      await expect(one.query('select 1 + $1::integer', ['x'])).rejects.toMatchObject({
        code: '22P02',
      });
      expect((await one.query('select $1::integer as n', [n])).rows).toEqual([{ n }]);
    }
  });

  it('is in its transaction, also one that failed or is rolled back', async () => {
    const one = await client();
    const add = 'insert into t values ($1, $2)';
    for (let n = 0; n < 4; n++) {
      await one.query('begin');
      await one.query(add, [100 + n, 'kept']);
      await one.query(n % 2 === 0 ? 'commit' : 'rollback');
    }
    await one.query('begin');
    await expect(one.query('select 1 / $1::integer', [0])).rejects.toMatchObject({ code: '22012' });
    await expect(one.query(add, [200, 'lost'])).rejects.toMatchObject({ code: '25P02' });
    await one.query('rollback');
    const { rows } = await one.query('select n from t where n > 99 order by n');
    expect(rows).toEqual([{ n: 100 }, { n: 102 }]);
  });

  it('gives what the tables have now, after a change of them that was kept or taken back', async () => {
    const one = await client();
    const all = 'select * from t where n = $1';
    for (let n = 0; n < 6; n++) await one.query(all, [1]);
    await one.query('alter table t add column b integer default 7');
    for (let n = 0; n < 6; n++) {
      expect((await one.query(all, [1])).rows).toEqual([{ n: 1, a: 'a1', b: 7 }]);
    }
    await one.query('begin');
    await one.query('alter table t drop column b');
    for (let n = 0; n < 6; n++) {
      expect((await one.query(all, [1])).rows).toEqual([{ n: 1, a: 'a1' }]);
    }
    await one.query('rollback');
    for (let n = 0; n < 6; n++) {
      expect((await one.query(all, [1])).rows).toEqual([{ n: 1, a: 'a1', b: 7 }]);
    }
  });

  it('is made anew after a client that is not ours, which leaves nothing behind', async () => {
    const [one, foreign] = [await client(), await client('psql')];
    const sum = 'select sum(n)::integer as sum from t where n <= $1';
    for (let n = 0; n < 4; n++) {
      expect((await one.query(sum, [2])).rows).toEqual([{ sum: 3 }]);
      expect((await foreign.query(sum, [3])).rows).toEqual([{ sum: 6 }]);
      await foreign.query('alter table t alter column n type bigint');
      expect((await one.query(sum, [2])).rows).toEqual([{ sum: 3 }]);
      await foreign.query('alter table t alter column n type integer');
    }
  });

  it('is planned anew after a minute: tables grow, and so do the parts that its parameters choose', async () => {
    const one = await client();
    const text = 'select count(*)::integer as rows from t where n > $1';
    const ask = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++)
        expect((await one.query(text, [0])).rows).toEqual([{ rows: 9 }]);
    };
    const plans = async () =>
      (
        await one.query(
          'select generic_plans::integer as generic, custom_plans::integer as custom from pg_prepared_statements where statement = $1',
          [text],
        )
      ).rows;
    await ask(9);
    expect(await plans()).toEqual([{ generic: 3, custom: 5 }]);
    clock.advance(60_000);
    await ask(2);
    expect(await plans()).toEqual([{ generic: 0, custom: 2 }]);
    expect(got.filter((each) => each === 'deallocate all').length).toBe(1);
  });

  it('is no less kept for a comment before it, nor for one whose text is changed by nobody', async () => {
    const one = await client();
    const text = ' /* repeatable */ with x as (select $1::integer as n) select n from x';
    const others = ['begin', 'set local work_mem = 4096', 'select 1', 'rollback;', 'analyze t'];
    await one.query(text, [1]);
    for (const other of others) await one.query(other);
    await one.query(text, [1]);
    got = [];
    for (const other of others) {
      await one.query(other);
      expect((await one.query(text, [7])).rows).toEqual([{ n: 7 }]);
    }
    expect([parsed(), got.includes('deallocate all')]).toEqual([0, false]);
  });

  it('gives what the tables have, also when a change of them came as a statement to prepare, and again', async () => {
    const one = await client();
    const change = async (text: string): Promise<void> => {
      await one.query({ text, queryMode: 'extended' } as { text: string });
    };
    const all = 'select * from t where n = $1';
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 3; n++) {
        expect((await one.query(all, [1])).rows).toEqual([{ n: 1, a: 'a1' }]);
      }
      await change('alter table t add column b integer default 7');
      for (let n = 0; n < 3; n++) {
        expect((await one.query(all, [1])).rows).toEqual([{ n: 1, a: 'a1', b: 7 }]);
      }
      await change('alter table t drop column b');
    }
  });

  it('is dropped when a hundred others came since, and if it is long, never kept', async () => {
    const one = await client();
    const twice = async (text: string): Promise<void> => {
      for (let n = 0; n < 2; n++) await one.query(text, [1]);
    };
    await twice('select $1::integer as first');
    for (let n = 0; n < 120; n++) await twice(`select $1::integer as nth_${n}`);
    const { rows } = await one.query(
      'select count(*)::integer as kept from pg_prepared_statements',
    );
    expect(rows).toEqual([{ kept: 100 }]);
    got = [];
    await one.query('select $1::integer as nth_119', [1]);
    expect(parsed()).toBe(0);
    await one.query('select $1::integer as first', [1]);
    expect(parsed()).toBe(1);
    const long = `select $1::integer as long ${' '.repeat(20_000)}`;
    for (let n = 0; n < 3; n++) await one.query(long, [1]);
    expect(parsed()).toBe(4);
  });
});
