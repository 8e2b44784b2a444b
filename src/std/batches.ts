// Batching of concurrent work: an item starts at once if no work of its key is in progress; later ones wait and go
// together in the next batch. The higher the load, the larger the batches.

/** Result of one item. A rejected batch rejects all of its items. */
export type BatchResult<Result> = { value: Result } | { error: unknown };

interface Waiting<Item, Result> {
  item: Item;
  bytes: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Carries out a batch. Returns one result for each item, in order. */
export type CarryOut<Item, Result> = (
  items: readonly [Item, ...Item[]],
) => Promise<readonly BatchResult<Result>[]>;

export interface BatchLimits<Item> {
  /** Items in one batch. */
  itemsMax: number;
  /** Bytes of one batch. An item with more is carried out alone. */
  bytes?: { max: number; of: (item: Item) => number };
}

/** Does not limit the waiting items: each is a request of a caller that is limited. */
export class Batches<Item, Result> {
  readonly #carryOut: CarryOut<Item, Result>;
  readonly #limits: BatchLimits<Item>;
  /** Waiting items by key, while a batch of the key is in progress. */
  readonly #waiting = new Map<string, Waiting<Item, Result>[]>();

  constructor(carryOut: CarryOut<Item, Result>, limits: BatchLimits<Item>) {
    this.#carryOut = carryOut;
    this.#limits = limits;
  }

  add(key: string, item: Item): Promise<Result> {
    const bytes = this.#limits.bytes?.of(item) ?? 0;
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) {
        waiting.push({ item, bytes, resolve, reject });
        return;
      }
      const first = [{ item, bytes, resolve, reject }];
      this.#waiting.set(key, first);
      void this.#work(key, first);
    });
  }

  /** Works through the batches of a key. Never rejects. */
  async #work(key: string, waiting: Waiting<Item, Result>[]): Promise<void> {
    for (;;) {
      const [first, ...rest] = waiting.splice(0, this.#nextOf(waiting));
      if (first === undefined) break;
      await this.#settle([first, ...rest]);
    }
    this.#waiting.delete(key);
  }

  /** Number of items in the next batch: in order, at least one. */
  #nextOf(waiting: readonly Waiting<Item, Result>[]): number {
    const { itemsMax, bytes: { max: bytesMax } = { max: Number.POSITIVE_INFINITY } } = this.#limits;
    let bytes = 0;
    let items = 0;
    for (const next of waiting) {
      bytes += next.bytes;
      if (items >= itemsMax || (items > 0 && bytes > bytesMax)) break;
      items += 1;
    }
    return items;
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

/** Shared reads: concurrent reads of the same key share one that begins after each of them was requested, so that no
 *  result is older than its request. The result is shared and must not be changed. */
export class SharedReads<T> {
  readonly #batches = new Batches<() => Promise<T>, T>(
    async (reads) => {
      const value = await reads[0]();
      return reads.map(() => ({ value }));
    },
    { itemsMax: Number.POSITIVE_INFINITY },
  );

  /** Carries out the `read` of the first caller: equal keys mean equal reads. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    return this.#batches.add(key, read);
  }
}
