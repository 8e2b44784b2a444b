// Telephony configurations and phone numbers as one repository, with the id of this installation and the turns of dials.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import {
  deactivateConfiguration,
  deleteConfiguration,
  getConfiguration,
  insertConfiguration,
  listConfigurations,
  listOfAccount,
  reactivateConfiguration,
  setDefaultOutbound,
  updateConfiguration,
} from './configurations.ts';
import {
  createNumber,
  deleteNumber,
  findInbound,
  getNumber,
  listNumbers,
  setDefaultCaller,
  updateNumber,
} from './phone-numbers.ts';

export type TelephonyStore = ReturnType<typeof telephonyStore>;

export function telephonyStore(context: StoreContext) {
  return withContext(context, {
    listConfigurations,
    getConfiguration,
    listOfAccount,
    createConfiguration: insertConfiguration,
    updateConfiguration,
    deactivate: deactivateConfiguration,
    reactivate: reactivateConfiguration,
    setDefaultOutbound,
    deleteConfiguration,
    findInbound,
    installationId,
    takeDialTurn,
    listNumbers,
    getNumber,
    createNumber,
    updateNumber,
    setDefaultCaller,
    deleteNumber,
  });
}

/** Id by which this installation recognises its applications at providers: twelve hexadecimal digits, which stays the
 *  same for the life of the database. */
async function installationId({ db, random }: StoreContext): Promise<string> {
  const first = () => db.selectFrom('installations').select('id').orderBy('id').executeTakeFirst();
  const known = await first();
  if (known !== undefined) return known.id;
  // A copy of the data has no row of the migration. Two processes use the first row.
  const id = random.bytes(6).toString('hex');
  await db.insertInto('installations').values({ id }).execute();
  return (await first())?.id ?? id;
}

/** Takes a turn of the configuration, for a call that a client starts; a campaign's claims use the same turns
 *  (campaigns/dial-queue.ts), so that dials of all processes keep the rate. Returns the milliseconds until the call may
 *  be placed; undefined, without a turn, if that is longer than `waitMsMax`, or if there is no such configuration. */
async function takeDialTurn(
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
