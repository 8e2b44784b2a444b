// The database's current time, as SQL. Times that one process writes and another compares (heartbeats, leases, due
// times) use this one clock: the processes' own clocks may differ by any amount.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Tables } from './tables.ts';

/** SQL expression of the current time. Tests pass one of their own. */
export type DatabaseTime = () => RawBuilder<Date>;

/** A subquery, which is evaluated once: an index can be searched by it. */
export const databaseTime: DatabaseTime = () => sql<Date>`(select clock_timestamp())`;

export async function readTime(of: { db: Kysely<Tables>; time: DatabaseTime }): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select ${of.time()} as now`.execute(of.db);
  const [row] = rows;
  if (row === undefined) throw new GatewayError('STORE_UNAVAILABLE');
  return row.now;
}

/** The time `ms` after `moment`; before it if negative. */
export function shifted(moment: RawBuilder<Date>, ms: number): RawBuilder<Date> {
  return sql<Date>`(${moment} + ${ms}::double precision * interval '1 millisecond')`;
}
