// Deadlocks at a PostgreSQL server. The embedded engine works on one statement at a time and has none.

import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { queueOf } from '../campaigns/dial-queue-fixture.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

describe.runIf(engines().includes('server'))('a deadlock at a server', () => {
  const at = withStore('server');
  let db: Kysely<Tables>;

  beforeAll(() => {
    const ready = () => Promise.resolve();
    db = openDatabase(at.target(), { ready, clock: systemClock, log: at.log });
  });
  afterAll(() => db.destroy());
  beforeEach(async () => {
    // Who waits for this connection is the one that the server ends.
    await at.sql("set deadlock_timeout = '60s'");
  });

  async function waiting(): Promise<void> {
    for (;;) {
      if ((await at.sql('select 1 from pg_locks where not granted')).length > 0) return;
    }
  }

  it('ends a statement, which is sent once more', async () => {
    await at.sql('create table pairs (id integer primary key, changes text)');
    await at.sql("insert into pairs values (1, ''), (2, '')");
    await at.sql('begin');
    await at.sql("update pairs set changes = changes || 'a' where id = 1");
    const changed = sql`
      with second as (update pairs set changes = changes || 'b' where id = 2 returning id)
      update pairs set changes = changes || 'b'
      where id = 1 and (select count(*) from second) = 1`.execute(db);
    await waiting();
    await at.sql("update pairs set changes = changes || 'a' where id = 2");
    await at.sql('commit');
    await changed;
    expect(await at.sql('select * from pairs order by id')).toEqual([
      { id: 1, changes: 'ab' },
      { id: 2, changes: 'ab' },
    ]);
    await at.sql('drop table pairs');
  }, 30_000);

  it('ends it twice, and it is sent a third time', async () => {
    await at.sql('create table pairs (id integer primary key, changes text)');
    await at.sql("insert into pairs values (1, ''), (2, '')");
    await at.sql('begin');
    await at.sql("update pairs set changes = changes || 'a' where id = 1");
    const changed = sql`
      with second as (update pairs set changes = changes || 'b' where id = 2 returning id)
      update pairs set changes = changes || 'b'
      where id = 1 and (select count(*) from second) = 1`.execute(db);
    for (const _deadlock of [1, 2]) {
      await waiting();
      await at.sql('savepoint before');
      await at.sql("update pairs set changes = changes || 'a' where id = 2");
      await at.sql('rollback to savepoint before');
    }
    await at.sql('commit');
    await changed;
    expect(await at.sql('select * from pairs order by id')).toEqual([
      { id: 1, changes: 'ab' },
      { id: 2, changes: 'b' },
    ]);
    await at.sql('drop table pairs');
  }, 30_000);

  it('is none where a dial is given back while another begins: both lock the counts in one order', async () => {
    const queue = await queueOf(at, 1);
    const [claim] = await queue.claim();
    if (claim === undefined) throw new Error('nobody is due');
    await queue.begin(claim);
    // In the table the day's count comes before that of all days.
    await at.sql("update run_counts set runs = runs where day = '-infinity'");
    await at.sql('analyze run_counts');
    await at.sql('begin');
    await at.sql("update run_counts set runs = runs + 1 where day = '-infinity'");
    const released = at.store.contacts.releaseAttempt(claim.attemptId, 0);
    await waiting();
    await at.sql("update run_counts set runs = runs + 1 where day <> '-infinity'");
    await at.sql('commit');
    await released;
    expect(await at.sql('select distinct runs from run_counts')).toEqual([{ runs: '1' }]);
  }, 30_000);
});
