// A campaign's contacts in spans of row numbers, so that other statements can run in between. With any query plan, a
// span reads no more rows than it has numbers.

import { sql } from 'kysely';
import type { StoreContext } from '../db/store-context.ts';

/** Row numbers after `after`, up to `to`, of one campaign. */
export interface ContactSpan {
  id: string;
  after: number;
  to: number;
}

interface Cursor {
  id: string;
  after: number;
  /** The campaign's last row number. */
  last: number;
}

/** Spans of several campaigns at a time, of `rowsMax` row numbers together, until all present rows of the campaigns
 *  were in one span each. */
export async function* contactSpans(
  { db }: Pick<StoreContext, 'db'>,
  ids: readonly string[],
  rowsMax: number,
): AsyncGenerator<ContactSpan[]> {
  const { rows } = await sql<Cursor>`
    select of.id::text, edges.first - 1 as after, edges.last
    from unnest(${ids}::bigint[]) as of (id), lateral (
      select min(row_number) as first, max(row_number) as last
      from campaign_contacts where campaign_id = of.id
    ) as edges
    where edges.last is not null`.execute(db);
  let cursors = rows;
  while (cursors.length > 0) {
    const width = Math.max(1, Math.floor(rowsMax / cursors.length));
    yield cursors.map(({ id, after }) => ({ id, after, to: after + width }));
    cursors = cursors
      .map((cursor) => ({ ...cursor, after: cursor.after + width }))
      .filter(({ after, last }) => after < last);
  }
}
