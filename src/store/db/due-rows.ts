// Due rows of a work table: at most one row of each organization, so that no organization waits behind another's
// backlog. Reads one index entry per organization with work.

import { type RawBuilder, sql } from 'kysely';

import { isRowId } from './column-values.ts';

/** A query for the ids of the rows to claim, locked until the transaction ends. `table` has an index on
 *  (organization_id, due_at); its rows with a null `due_at` are over. `now` by the database's clock. */
export function dueIds(
  of: { table: string; id: string },
  { limit, except }: DueClaim,
  now: RawBuilder<Date>,
): RawBuilder<unknown> {
  const table = sql.table(of.table);
  const id = sql.ref(of.id);
  const full = except.filter(isRowId);
  return sql`
    with recursive owners as (
      (select organization_id as owner from ${table}
        where due_at is not null order by organization_id limit 1)
      union all
      select (select next.organization_id from ${table} next
        where next.due_at is not null and next.organization_id > owners.owner
        order by next.organization_id limit 1)
      from owners where owners.owner is not null
    )
    select head.head_id from owners cross join lateral (
      select ${id} as head_id, due_at from ${table}
      where organization_id = owners.owner and due_at <= ${now}
      order by due_at limit 1 for update skip locked
    ) head
    where owners.owner is not null and owners.owner <> all(${full}::bigint[])
    order by head.due_at limit ${limit}`;
}

/** Column for `returning`: whether another row of the claimed row's organization is due. */
export function isFollowed(
  of: { table: string; id: string },
  now: RawBuilder<Date>,
): RawBuilder<boolean> {
  const id = sql.ref(of.id);
  return sql<boolean>`exists (
    select from ${sql.table(of.table)} as next
    where next.organization_id = ${sql.ref(`${of.table}.organization_id`)} and next.due_at <= ${now}
      and next.${id} <> ${sql.ref(`${of.table}.${of.id}`)}
  )`;
}

/** The claimed rows: at most one of each organization, the longest waiting first. */
export interface DueClaim {
  limit: number;
  /** Organizations at their limit of work in progress. */
  except: readonly string[];
  /** Milliseconds after which a claimed row without a report is due again. */
  leaseMs: number;
}
