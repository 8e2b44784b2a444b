// Changes of several requests in one statement or transaction. A batch that the database refuses for what one of its
// items has does not fail the others.

import { codeOf } from '../../errors/gateway-error.ts';
import type { BatchResult } from '../../std/batches.ts';

/** Of one batch: some ten milliseconds of the embedded engine, for which all others wait. */
export const TOGETHER_MAX = 50;

/** `work` for all items at once; if the database refuses them, for each alone. Throws STORE_UNAVAILABLE and the like. */
export async function together<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<BatchResult<Result>[]>,
): Promise<BatchResult<Result>[]> {
  try {
    return await work(items);
  } catch (error) {
    if (items.length === 1 || codeOf(error)?.startsWith('STORE_') === true) throw error;
  }
  const results: BatchResult<Result>[] = [];
  for (const item of items) {
    results.push(...(await work([item]).catch((error: unknown) => [{ error }])));
  }
  return results;
}
