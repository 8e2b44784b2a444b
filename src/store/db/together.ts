// Changes of several requests in one statement or transaction. A batch that the database refuses for what one of its
// items has does not fail the others.

import { DatabaseError } from 'pg';
import { codeOf } from '../../errors/gateway-error.ts';
import { RUN_CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { BatchLimits, BatchResult } from '../../std/batches.ts';

/** Of one batch: some ten milliseconds of the embedded engine, for which all others wait. */
export const TOGETHER_MAX = 50;

/** Of one batch: as many as the largest context of one run, so that a batch takes the engine hardly longer than one such
 *  run does. A usual context has less than a kilobyte. */
const TOGETHER_BYTES_MAX = RUN_CONTEXT_LIMITS.bytesMax;

/** `jsonOf`: what of an item has no fixed size. */
export function togetherLimits<Item>(jsonOf: (item: Item) => unknown): BatchLimits<Item> {
  const of = (item: Item): number => Buffer.byteLength(JSON.stringify(jsonOf(item)));
  return { itemsMax: TOGETHER_MAX, bytes: { max: TOGETHER_BYTES_MAX, of } };
}

/** Items that end at the deadline of a statement when they are alone, each after 9 s. The rest fails with the last. */
const TIMED_OUT_MAX = 2;

/** `work` for all items at once; if the database refuses them, for each alone. Throws STORE_UNAVAILABLE and the like,
 *  unless a row of one item may be the cause. */
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

/** Query canceled: the deadline of the statement. */
const TIMED_OUT = '57014';

/** The server has rolled back. A locked row, a deadlock and the statement's deadline may be of one item alone. */
function isOfOneItem(error: unknown): boolean {
  if (codeOf(error)?.startsWith('STORE_') !== true) return true;
  return /^(40|55P03|57014)/.test(sqlStateOf(error) ?? '');
}

function sqlStateOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}
