// Dial rate of a configuration for calls that clients start. A campaign's claims use the same turns
// (campaigns/dial-queue.ts), so that dials of all processes keep the rate.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Takes a turn of the configuration. Returns the milliseconds until the call may be placed; undefined, without a turn,
 *  if that is longer than `waitMsMax`, or if there is no such configuration. */
export async function takeDialTurn(
  { db, time }: StoreContext,
  configurationId: string,
  { callsPerSecond, waitMsMax }: { callsPerSecond: number; waitMsMax: number },
): Promise<number | undefined> {
  if (!isRowId(configurationId)) return undefined;
  const gap = sql`(${1_000 / callsPerSecond}::double precision * interval '1 millisecond')`;
  const { rows } = await sql<{ wait_ms: number }>`
    with clock as (select ${time()} as now)
    update telephony_configurations as of
      set dial_next_at = greatest(of.dial_next_at, clock.now) + ${gap}
    from clock
    where of.id = ${configurationId}
      and coalesce(of.dial_next_at <= ${shifted(sql`clock.now`, waitMsMax)}, true)
    returning extract(epoch from of.dial_next_at - ${gap} - clock.now)::float8 * 1000 as wait_ms`.execute(
    db,
  );
  const [row] = rows;
  return row && Math.max(0, row.wait_ms);
}
