// Statements of one organization at either engine, beside those of another.

import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { inShare, organizationShare } from '../../../src/std/work-share.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

/** More than any pool has connections. */
const QUEUED = 100;
/** In order of arrival it would be all of them. Those under way are fewer than ten; the rest is for a server that goes on
 *  with them while a busy machine reads the neighbour's answer. */
const AHEAD_MAX = QUEUED / 2;

describe.each(engines())('a tenant with a hundred statements in the queue (%s)', (engine) => {
  const test = withStore(engine);
  let db: Kysely<Tables>;

  beforeAll(async () => {
    const ready = () => Promise.resolve();
    db = openDatabase(test.target(), { ready, clock: systemClock, log: quietLog().log });
    // Opens all connections.
    await Promise.all(Array.from({ length: QUEUED }, () => slow()));
  });

  afterAll(() => db.destroy());

  let statements = 0;
  /** A statement that takes the engine some milliseconds, and that no other is the same as. */
  const slow = () => {
    statements += 1;
    return sql`select count(*) + ${statements} from generate_series(1, 30000)`.execute(db);
  };

  it('delays the statement of another by those under way alone', async () => {
    let done = 0;
    const queued = inShare(organizationShare('1'), () =>
      Array.from({ length: QUEUED }, async () => {
        await slow();
        done += 1;
      }),
    );
    await queued[0];
    const before = done;
    await inShare(organizationShare('2'), () => sql`select 1`.execute(db));
    expect(done - before).toBeLessThan(AHEAD_MAX);
    await Promise.all(queued);
    expect(done).toBe(QUEUED);
  });

  // A server works on the others' between the statements of a transaction.
  it.runIf(engine === 'embedded')('delays a transaction of another by as much', async () => {
    let done = 0;
    const queued = inShare(organizationShare('1'), () =>
      Array.from({ length: QUEUED }, async () => {
        await slow();
        done += 1;
      }),
    );
    await queued[0];
    const before = done;
    await inShare(organizationShare('2'), () =>
      db.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx);
        await sql`select 2`.execute(tx);
      }),
    );
    expect(done - before).toBeLessThan(AHEAD_MAX);
    await Promise.all(queued);
  });
});
