// A serial queue: work that must not overlap runs one piece after the other, in the order of the calls.

import { GatewayError } from '../errors/gateway-error.ts';

export class SerialQueue {
  readonly #name: string;
  readonly #waitingMax: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `name` is for the error's text; at most `waitingMax` pieces wait. */
  constructor(name: string, waitingMax: number) {
    this.#name = name;
    this.#waitingMax = waitingMax;
  }

  /** Settles as `work` does, which starts when all earlier work has settled. Throws QUEUE_FULL. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting > this.#waitingMax)
      throw new GatewayError('QUEUE_FULL', { queue: this.#name });
    this.#waiting += 1;
    const mine = this.#last.then(work).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = mine.catch(() => undefined); // The caller gets the error.
    return mine;
  }
}
