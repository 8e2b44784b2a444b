// Changes of several requests in one statement: what one item causes does not fail the others.

import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { asStoreError } from '../../../src/store/db/database-errors.ts';
import { together } from '../../../src/store/db/together.ts';

const refusal = (sqlState: string): unknown => {
  const error = new DatabaseError('refused', 7, 'error');
  error.code = sqlState;
  return asStoreError(error);
};

/** Works unless an item is one of `bad`; gives the batches and each item's result or code. */
async function carriedOut(items: readonly number[], bad: readonly number[], error: unknown) {
  const batches: (readonly number[])[] = [];
  const results = await together(items, (some) => {
    batches.push(some);
    if (some.some((item) => bad.includes(item))) return Promise.reject(error);
    return Promise.resolve(some.map((value) => ({ value })));
  });
  const shown = results.map((each) => ('value' in each ? each.value : codeOf(each.error)));
  return { batches, shown };
}

describe('a batch that the database refuses', () => {
  it.each([
    ['a locked row', '55P03'],
    ['a deadlock', '40P01'],
    ["the statement's deadline", '57014'],
  ])('for %s is repeated one by one', async (_cause, sqlState) => {
    const { batches, shown } = await carriedOut([1, 2, 3], [2], refusal(sqlState));
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(shown).toEqual([1, 'STORE_UNAVAILABLE', 3]);
  });

  it('ends with the second item that times out alone', async () => {
    const all = await carriedOut([1, 2, 3, 4], [1, 2], refusal('57014'));
    expect(all.batches).toEqual([[1, 2, 3, 4], [1], [2]]);
    expect(all.shown).toEqual(Array(4).fill('STORE_UNAVAILABLE'));
  });

  it.each([
    ['is away', '57P01'],
    ['is full', '53100'],
  ])('fails as a whole while the database %s', async (_cause, sqlState) => {
    await expect(carriedOut([1, 2], [2], refusal(sqlState))).rejects.toMatchObject({
      code: expect.stringMatching(/^STORE_/),
    });
  });
});
