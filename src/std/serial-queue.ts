// Serial queues: work that must not overlap runs in the order of the calls, in one queue or in one for each key.

import { GatewayError } from '../errors/gateway-error.ts';

export class SerialQueue {
  readonly #name: string;
  readonly #waitingMax: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `name`: for the error's text. At most `waitingMax` pieces wait. */
  constructor(name: string, waitingMax: number) {
    this.#name = name;
    this.#waitingMax = waitingMax;
  }

  /** Whether no work runs or waits. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** Settles as `work` does, which starts when all earlier work has settled. Throws QUEUE_FULL. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting > this.#waitingMax)
      throw new GatewayError('QUEUE_FULL', { queue: this.#name });
    this.#waiting += 1;
    const mine = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = mine.catch(() => undefined); // The caller receives the error.
    return mine;
  }
}

/** One serial queue for each key that has work. */
export class SerialQueues {
  readonly #name: string;
  readonly #waitingMax: number;
  readonly #queues = new Map<string, SerialQueue>();

  /** `name`: for the error's text. At most `waitingMax` pieces of one key wait. The number of keys is not limited. */
  constructor(name: string, waitingMax: number) {
    this.#name = name;
    this.#waitingMax = waitingMax;
  }

  /** Number of keys that have work. */
  get size(): number {
    return this.#queues.size;
  }

  /** Settles as `work` does, which starts when all earlier work of the key has settled. Throws QUEUE_FULL. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? new SerialQueue(this.#name, this.#waitingMax);
    this.#queues.set(key, queue);
    try {
      return await queue.run(work);
    } finally {
      if (queue.isIdle) this.#queues.delete(key);
    }
  }
}
