// Batches of changes from several requests in one statement or transaction. If the database refuses a batch because of
// one item, the others do not fail.

import { DatabaseError } from 'pg';
import { codeOf } from '../../errors/gateway-error.ts';
import { RUN_CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { BatchLimits, BatchResult } from '../../std/batches.ts';

/** Items of one batch: some ten milliseconds of the embedded engine, for which all others wait. */
export const TOGETHER_MAX = 50;

/** Bytes of one batch, as many as the largest context of one run, so that a batch takes the engine hardly longer than
 *  one such run. A usual context has less than a kilobyte. */
const TOGETHER_BYTES_MAX = RUN_CONTEXT_LIMITS.bytesMax;

/** Limits of a batch. `jsonOf`: the part of an item whose size varies. */
export function togetherLimits<Item>(jsonOf: (item: Item) => unknown): BatchLimits<Item> {
  const of = (item: Item): number => Buffer.byteLength(JSON.stringify(jsonOf(item)));
  return { itemsMax: TOGETHER_MAX, bytes: { max: TOGETHER_BYTES_MAX, of } };
}

/** Items that may reach the deadline of a statement when they run alone, after 9 s each. The rest fails with the last
 *  one. */
const TIMED_OUT_MAX = 2;

/** Runs `work` for all items at once, and if the database refuses that, for each item alone. Throws STORE_UNAVAILABLE
 *  and the like, unless a row of one item may be the cause. */
export async function together<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<BatchResult<Result>[]>,
): Promise<BatchResult<Result>[]> {
  try {
    return await work(items);
  } catch (error) {
    if (items.length === 1 || !isOfOneItem(error)) throw error;
  }
  const results: BatchResult<Result>[] = [];
  let timedOut = 0;
  let last: unknown;
  for (const item of items) {
    if (timedOut >= TIMED_OUT_MAX) {
      results.push({ error: last });
      continue;
    }
    try {
      results.push(...(await work([item])));
    } catch (error) {
      results.push({ error });
      if (sqlStateOf(error) === TIMED_OUT) timedOut += 1;
      last = error;
    }
  }
  return results;
}

/** SQLSTATE query_canceled: the deadline of the statement. */
const TIMED_OUT = '57014';

/** Whether one item may be the cause of a rolled back batch: a locked row, a deadlock or the statement's deadline. */
function isOfOneItem(error: unknown): boolean {
  if (codeOf(error)?.startsWith('STORE_') !== true) return true;
  return /^(40|55P03|57014)/.test(sqlStateOf(error) ?? '');
}

function sqlStateOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}
