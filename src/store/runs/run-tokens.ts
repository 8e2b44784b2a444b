// Public tokens of runs: with one, a run's files can be read without a key, for a limited time from its first issue.
// Reading does not extend it; an expired one is never issued again. Source: specification §2.5.

import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { toRun } from './runs.ts';

const DAY_MS = 86_400_000;
/** Default lifetime in days: long enough for a link in a webhook or report. */
const LIFE_DAYS_DEFAULT = 30;

type TokenContext = Pick<StoreContext, 'db' | 'clock' | 'random' | 'publicLinkDays'>;

/** The run's public token; creates one if it has no valid one. Throws RUN_NOT_FOUND. */
export async function publicToken(context: TokenContext, id: string): Promise<string> {
  const token = (await publicTokens(context, [id])).get(id);
  if (token === undefined) throw new GatewayError('RUN_NOT_FOUND');
  return token;
}

/** Tokens of many runs, by run. Unknown ids are omitted. Runs that get a new token are locked in the order of their
 *  ids, so that two reports with the same runs do not deadlock. */
export async function publicTokens(
  { db, clock, random, publicLinkDays = LIFE_DAYS_DEFAULT }: TokenContext,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = runIds.filter(isRowId);
  if (ids.length === 0) return new Map();
  const now = clock.now();
  const { rows } = await sql<{ id: string; token: string | null }>`
    with issued as (
      update runs set
        public_access_token = held.token,
        public_access_until = ${new Date(now + publicLinkDays * DAY_MS)}
      from (
        select runs.id, fresh.token
        from unnest(${ids}::bigint[], ${ids.map(() => random.uuid())}::text[]) as fresh (id, token)
        join runs on runs.id = fresh.id
        where public_access_until is null or public_access_until <= ${new Date(now)}
        order by runs.id for update of runs
      ) as held
      where runs.id = held.id
      returning runs.id, public_access_token as token
    )
    select runs.id, coalesce(
      issued.token,
      case when public_access_until > ${new Date(now)} then public_access_token end
    ) as token
    from runs left join issued on issued.id = runs.id
    where runs.id = any(${ids}::bigint[])`.execute(db);
  const tokens = new Map<string, string>(
    rows.flatMap(({ id, token }) => (token === null ? [] : [[id, token]])),
  );
  const others = rows.filter(({ token }) => token === null).map(({ id }) => id);
  if (others.length === 0) return tokens;
  // Another statement has issued these meanwhile, which this one did not see yet.
  const issued = await db
    .selectFrom('runs')
    .select(['id', 'public_access_token as token'])
    .where('id', '=', (of) => of.fn.any(of.val(others)))
    .execute();
  for (const { id, token } of issued) if (token !== null) tokens.set(id, token);
  return tokens;
}

export async function findByToken(
  { db, clock }: StoreContext,
  token: string,
): Promise<Run | undefined> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('public_access_token', '=', token)
    .where('public_access_until', '>', new Date(clock.now()))
    .executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}
