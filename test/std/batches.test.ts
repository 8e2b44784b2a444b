import { describe, expect, it } from 'vitest';
import { Batches, SharedReads } from '../../src/std/batches.ts';
import { type Deferred, deferred } from '../fakes/deferred.ts';

describe('batches', () => {
  /** Batches that are carried out when the test says so. */
  function held(itemsMax = 100, bytes?: { max: number; of: (item: number) => number }) {
    const begun: { items: readonly number[]; end: Deferred }[] = [];
    const batches = new Batches<number, number>(
      async (items) => {
        const end = deferred();
        begun.push({ items, end });
        await end.promise;
        return items.map((item) => (item < 0 ? { error: new Error('below') } : { value: -item }));
      },
      { itemsMax, ...(bytes && { bytes }) },
    );
    return { begun, batches };
  }

  it('carry the first item out at once, and those that come meanwhile together', async () => {
    const { begun, batches } = held();
    const results = [1, 2, 3].map((item) => batches.add('a', item));
    expect(begun.map(({ items }) => items)).toEqual([[1]]);
    begun[0]?.end.resolve();
    await results[0];
    await Promise.resolve();
    expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
    begun[1]?.end.resolve();
    expect(await Promise.all(results)).toEqual([-1, -2, -3]);
    void batches.add('a', 4);
    expect(begun.at(-1)?.items).toEqual([4]);
  });

  it('have at most so many items, and do not wait for those of other keys', async () => {
    const { begun, batches } = held(2);
    const results = [1, 2, 3, 4].map((item) => batches.add('a', item));
    void batches.add('b', 9);
    for (let nth = 0; nth < 4; nth++) {
      begun[nth]?.end.resolve();
      await Promise.race([...results.slice(nth), Promise.resolve()]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(results);
    expect(begun.map(({ items }) => items)).toEqual([[1], [9], [2, 3], [4]]);
  });

  it('have at most so many bytes, in the order of their items; one that has more goes alone', async () => {
    const { begun, batches } = held(3, { max: 10, of: (item) => item });
    const results = [1, 4, 6, 1, 30, 10, 2, 2, 2, 2].map((item) => batches.add('a', item));
    for (let nth = 0; nth < results.length; nth++) {
      begun[nth]?.end.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(results);
    expect(begun.map(({ items }) => items)).toEqual([[1], [4, 6], [1], [30], [10], [2, 2, 2], [2]]);
  });

  it('reject the items that fail, and go on', async () => {
    const { begun, batches } = held();
    const results = Promise.allSettled([1, -2, 3].map((item) => batches.add('a', item)));
    begun[0]?.end.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    begun[1]?.end.resolve();
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('reject all items of a batch that fails as a whole, and carry out the next', async () => {
    const { begun, batches } = held();
    const results = Promise.allSettled([1, 2].map((item) => batches.add('a', item)));
    begun[0]?.end.reject(new Error('gone'));
    await new Promise((resolve) => setImmediate(resolve));
    begun[1]?.end.resolve();
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});

describe('shared reads', () => {
  it('give nobody what was read before it was asked for', async () => {
    let stored = 'old';
    let reads = 0;
    const shared = new SharedReads<string>();
    const ask = () =>
      shared.get('row', async () => {
        reads += 1;
        const found = stored;
        await new Promise((resolve) => setImmediate(resolve));
        return found;
      });
    const before = ask();
    stored = 'new';
    const after = [ask(), ask(), ask()];
    expect(await before).toBe('old');
    expect(await Promise.all(after)).toEqual(['new', 'new', 'new']);
    expect(reads).toBe(2);
  });

  it('share a failure, and read again after it', async () => {
    const shared = new SharedReads<string>();
    const failing = shared.get('row', () => Promise.reject(new Error('away')));
    await expect(failing).rejects.toThrow('away');
    expect(await shared.get('row', () => Promise.resolve('there'))).toBe('there');
  });
});
