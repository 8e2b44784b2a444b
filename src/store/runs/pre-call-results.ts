// Result of the request before a call, stored with the run: a process that adopts the call does not send it again.

import { sql } from 'kysely';
import type { RunState } from '../../model/run.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Key of the result in the run's logs. */
export const PRE_CALL_KEY = 'pre_call_fetch';

/** `code` and `message`: why there are no variables. */
export type PreCallResult = { status: 'ok' } | { status: 'failed'; code: string; message: string };

/** Stores the result and the fetched variables. The process that sent the request does so even if another one has
 *  adopted the call meanwhile. Undefined if there is no such run. */
export async function noteFetched(
  { db, node }: StoreContext,
  id: string,
  { result, variables }: { result: PreCallResult; variables: Record<string, unknown> },
): Promise<{ state: RunState; isOwn: boolean } | undefined> {
  if (!isRowId(id)) return undefined;
  const { rows } = await sql<{ state: RunState; isOwn: boolean }>`
    update runs set
      initial_context = initial_context || ${jsonText(variables)}::jsonb,
      logs = logs || jsonb_build_object(${PRE_CALL_KEY}::text, ${jsonText(result)}::jsonb)
    where id = ${id}
    returning state, owner_node = ${node} as "isOwn"`.execute(db);
  return rows[0];
}
