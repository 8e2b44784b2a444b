// Batching of concurrent work: an item begins at once if nothing of its key is in progress; those that come meanwhile
// wait, and go together in the next batch. The busier it is, the larger the batches.

/** Of one item; a rejected batch rejects all of its items. */
export type BatchResult<Result> = { value: Result } | { error: unknown };

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Gives one result for each item, in their order. */
export type CarryOut<Item, Result> = (
  items: readonly [Item, ...Item[]],
) => Promise<readonly BatchResult<Result>[]>;

/** Does not bound the items that wait: each is a request of a caller that is bounded. */
export class Batches<Item, Result> {
  readonly #carryOut: CarryOut<Item, Result>;
  readonly #itemsMax: number;
  /** By key, while a batch of the key is in progress. */
  readonly #waiting = new Map<string, Waiting<Item, Result>[]>();

  /** `itemsMax`: of one batch. */
  constructor(carryOut: CarryOut<Item, Result>, { itemsMax }: { itemsMax: number }) {
    this.#carryOut = carryOut;
    this.#itemsMax = itemsMax;
  }

  add(key: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) {
        waiting.push({ item, resolve, reject });
        return;
      }
      const first = [{ item, resolve, reject }];
      this.#waiting.set(key, first);
      void this.#work(key, first);
    });
  }

  /** Never rejects. */
  async #work(key: string, waiting: Waiting<Item, Result>[]): Promise<void> {
    for (;;) {
      const [first, ...rest] = waiting.splice(0, this.#itemsMax);
      if (first === undefined) break;
      await this.#settle([first, ...rest]);
    }
    this.#waiting.delete(key);
  }

  async #settle(
    batch: readonly [Waiting<Item, Result>, ...Waiting<Item, Result>[]],
  ): Promise<void> {
    const [first, ...rest] = batch;
    try {
      const results = await this.#carryOut([first.item, ...rest.map(({ item }) => item)]);
      for (const [nth, { resolve, reject }] of batch.entries()) {
        const result = results[nth];
        if (result === undefined) reject(new TypeError('a batch without a result for each item'));
        else if ('value' in result) resolve(result.value);
        else reject(result.error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Concurrent reads of the same thing share one, which begins after each of them was asked for: nobody gets what was
 *  read before. What it gives is shared, and must not be changed. */
export class SharedReads<T> {
  readonly #batches = new Batches<() => Promise<T>, T>(
    async (reads) => {
      const value = await reads[0]();
      return reads.map(() => ({ value }));
    },
    { itemsMax: Number.POSITIVE_INFINITY },
  );

  /** `read` of whoever comes first is carried out: equal keys mean equal reads. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    return this.#batches.add(key, read);
  }
}
