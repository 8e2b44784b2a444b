// Counts of failed log-ins by a name (an address, a client) within a window that begins with the first, over all
// processes; and names that are remembered, such as clients from which an account has logged in.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Expired rows that each new one deletes: more than are added, and little work. */
const SWEPT_MAX = 20;

export interface AttemptWindow {
  attemptsMax: number;
  windowMs: number;
}

export type LogInAttemptStore = Pick<LogInAttempts, keyof LogInAttempts>;

export class LogInAttempts {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Counts an attempt before its result is known, so that concurrent attempts do not exceed the limit. Throws
   *  TOO_MANY_ATTEMPTS. */
  async count(name: string, { attemptsMax, windowMs }: AttemptWindow): Promise<void> {
    const { db, time } = this.#context;
    const key = digest(name);
    const now = time();
    const { rows } = await sql<{ attempts: number | null; left_s: number | null }>`
      with counted as (
        insert into log_in_attempts as known (name, attempts, ends_at)
        values (${key}, 1, ${shifted(now, windowMs)})
        on conflict (name) do update set
          attempts = case when known.ends_at <= ${now} then 1 else known.attempts + 1 end,
          ends_at = case when known.ends_at <= ${now} then excluded.ends_at else known.ends_at end
        where known.ends_at <= ${now} or known.attempts < ${attemptsMax}
        returning attempts
      )
      select (select attempts from counted) as attempts,
        (select extract(epoch from ends_at - ${now})::double precision
          from log_in_attempts where name = ${key}) as left_s`.execute(db);
    const [{ attempts, left_s: leftS } = { attempts: null, left_s: null }] = rows;
    if (attempts === null) {
      const retryAfterS = Math.max(1, Math.ceil(leftS ?? windowMs / 1_000));
      throw new GatewayError('TOO_MANY_ATTEMPTS', { retryAfterS });
    }
    if (attempts === 1) await this.#sweep();
  }

  /** Removes a counted attempt that did not fail. */
  async uncount(name: string): Promise<void> {
    const { db } = this.#context;
    await sql`update log_in_attempts set attempts = attempts - 1
      where name = ${digest(name)} and attempts > 0`.execute(db);
  }

  /** Resets the count of a name. */
  async reset(name: string): Promise<void> {
    const { db } = this.#context;
    await sql`delete from log_in_attempts where name = ${digest(name)}`.execute(db);
  }

  /** Remembers a name, which is not counted, for this time from now on. */
  async remember(name: string, forMs: number): Promise<void> {
    const { db, time } = this.#context;
    await sql`
      insert into log_in_attempts (name, attempts, ends_at)
      values (${digest(name)}, 0, ${shifted(time(), forMs)})
      on conflict (name) do update set ends_at = excluded.ends_at`.execute(db);
  }

  async isRemembered(name: string): Promise<boolean> {
    const { db, time } = this.#context;
    const { rows } = await sql`
      select 1 from log_in_attempts
      where name = ${digest(name)} and ends_at > ${time()}`.execute(db);
    return rows.length > 0;
  }

  /** A statement of its own: one that also counts could wait for a row in a circle with another. */
  async #sweep(): Promise<void> {
    const { db, time } = this.#context;
    await sql`
      delete from log_in_attempts where ctid = any(array(
        select ctid from log_in_attempts where ends_at <= ${time()}
        order by ends_at limit ${SWEPT_MAX} for update skip locked
      ))`.execute(db);
  }
}

/** The stored form of a name: it has always the same length, and shows no address. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}
