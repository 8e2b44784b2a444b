// Reads of an organization that wait for their turn, at either engine.

import { type Kysely, sql } from 'kysely';
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { nextTick, systemClock } from '../../../src/std/clock.ts';
import { inShare, organizationShare } from '../../../src/std/work-share.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { readKey, WaitingReads } from '../../../src/store/db/waiting-reads.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

/** As many as the engine with the most has. */
const TURNS_MAX = 10;

describe.each(engines())('reads that wait for their turn (%s)', (engine) => {
  const test = withStore(engine);
  let db: Kysely<Tables>;

  beforeAll(async () => {
    const ready = () => Promise.resolve();
    db = openDatabase(test.target(), { ready, clock: systemClock, log: quietLog().log });
    await sql`create sequence reads`.execute(db);
  });

  afterAll(() => db.destroy());

  /** What no two reads have alike. */
  const read = (organization: string, also = 1): Promise<string | undefined> =>
    inShare(organizationShare(organization), async () => {
      const { rows } = await sql<{ nth: string }>`
        select nextval('reads')::text || ${also}::text as nth`.execute(db);
      return rows[0]?.nth;
    });

  /** `work` begins while all turns are taken, which are given back a moment later. */
  async function whileBusy<T>(work: () => Promise<T>[]): Promise<T[]> {
    let free = (): void => undefined;
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const busy = Array.from({ length: TURNS_MAX }, () =>
      db.connection().execute(async (connection) => {
        await sql`select 1`.execute(connection);
        await freed;
      }),
    );
    await nextTick(); // The turns are taken.
    const results = work();
    await nextTick(); // So many as can be are joined.
    free();
    await Promise.all(busy);
    return Promise.all(results);
  }

  it('shares one between the same reads of an organization', async () => {
    const results = await whileBusy(() => [read('1'), read('1'), read('1')]);
    expect(new Set(results).size).toBe(1);
  });

  it('shares none with other values, and none of another organization', async () => {
    const results = await whileBusy(() => [read('1'), read('1', 2), read('2')]);
    expect(new Set(results).size).toBe(3);
  });

  it('shares none that has begun', async () => {
    const first = read('1');
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(await read('1')).not.toBe(await first);
  });

  it('shares none of the gateway itself', async () => {
    const own = async () =>
      (await sql<{ nth: string }>`select nextval('reads')::text as nth`.execute(db)).rows[0]?.nth;
    const results = await whileBusy(() => [own(), own()]);
    expect(new Set(results).size).toBe(2);
  });

  it('shares none of a transaction, and no change', async () => {
    const inTransaction = () =>
      inShare(organizationShare('1'), () =>
        db.transaction().execute(async (tx) => {
          const { rows } = await sql<{ nth: string }>`
            select nextval('reads')::text as nth`.execute(tx);
          return rows[0]?.nth;
        }),
      );
    await sql`create table if not exists counted (nth bigint not null default nextval('reads'))`.execute(
      db,
    );
    const change = () =>
      inShare(organizationShare('1'), async () => {
        const { rows } = await sql<{ nth: string }>`
          insert into counted default values returning nth::text as nth`.execute(db);
        return rows[0]?.nth;
      });
    const results = await whileBusy(() => [inTransaction(), inTransaction(), change(), change()]);
    expect(new Set(results).size).toBe(4);
  });

  it('gives rows that nobody can change for the others', async () => {
    const { rows } = await inShare(organizationShare('1'), () =>
      sql<{ nth: number }>`select * from generate_series(1, 2) as nth`.execute(db),
    );
    expect(() => rows.reverse()).toThrow(TypeError);
    expect(() => Object.assign(rows[0] ?? {}, { nth: 2 })).toThrow(TypeError);
  });

  it('fails all that share one, each with an error of its own', async () => {
    const wrong = () =>
      inShare(organizationShare('1'), () => sql`select * from no_such_table`.execute(db));
    const [one, other] = await whileBusy(() => [
      wrong().catch((error: unknown) => error),
      wrong().catch((error: unknown) => error),
    ]);
    expect(one).toMatchObject({ code: '42P01' });
    expect(other).toBeInstanceOf(DatabaseError);
    expect(other).toMatchObject({ message: 'relation "no_such_table" does not exist' });
    expect(other).not.toBe(one);
  });
});

describe('a read that waits', () => {
  const never = () => new Promise<string>(() => undefined);

  it('is forgotten when it fails before it has begun', async () => {
    const reads = new WaitingReads<string>(systemClock);
    const failing = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    const results = [reads.get('key', failing), reads.get('key', failing)];
    for (const result of results) await expect(result).rejects.toThrow(GatewayError);
    expect(await reads.get('key', () => Promise.resolve('read'))).toBe('read');
  });

  it('is joined by thirty-one others, and for two seconds', () => {
    const clock = new FakeClock();
    const reads = new WaitingReads<string>(clock);
    const read = vi.fn(never);
    for (let reader = 0; reader < 32; reader++) void reads.get('key', read);
    expect(read).toHaveBeenCalledTimes(1);
    void reads.get('key', read);
    expect(read).toHaveBeenCalledTimes(2);
    clock.advance(1_999);
    void reads.get('key', read);
    expect(read).toHaveBeenCalledTimes(2);
    clock.advance(1);
    void reads.get('key', read);
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('gives its result to one after the other, in turns of the event loop', async () => {
    const reads = new WaitingReads<string>(systemClock);
    const order: string[] = [];
    const readers = ['first', 'second', 'third'].map(async (name) => {
      await reads.get('key', () => Promise.resolve('read'));
      order.push(name);
      setImmediate(() => order.push(`after ${name}`));
    });
    await Promise.all(readers);
    expect(order).toEqual(['first', 'after first', 'second', 'after second', 'third']);
  });
});

describe('the key of a read', () => {
  it.each([
    ['select 1', [new Date()]],
    ['select 1', [Buffer.from('key')]],
    ['select 1', [[1, { a: 1 }]]],
    ['select 1', [Number.NaN]],
    ['select 1', [1n]],
    ['with changed as (update runs set name = $1) select 1', ['a']],
    ['update runs set name = $1', ['a']],
    ['begin', []],
  ])('is none for %s with %o', (text, values) => {
    expect(readKey('organization 1', text, values)).toBeUndefined();
  });

  it('tells names, statements and values apart', () => {
    const keys = [
      readKey('organization 1', 'select $1', ['1']),
      readKey('organization 2', 'select $1', ['1']),
      readKey('organization 1', 'select $1 + 0', ['1']),
      readKey('organization 1', 'select $1', [1]),
      readKey('organization 1', 'select $1', [['1']]),
      readKey('organization 1', 'select $1', [null]),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
