// A one-time event that callers can wait for with a limit.

import type { Clock } from '../../std/clock.ts';

export class Moment<T> {
  readonly promise: Promise<T>;
  #value: T | undefined;
  #resolve: (value: T) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isPast(): boolean {
    return this.#value !== undefined;
  }

  get value(): T | undefined {
    return this.#value;
  }

  /** Settles the moment; the first value counts. */
  settle(value: T): void {
    this.#value ??= value;
    this.#resolve(value);
  }

  /** The moment's value; undefined if `ms` pass or `end` settles first. Never rejects. */
  within(clock: Clock, ms: number, end: Promise<unknown>): Promise<T | undefined> {
    if (this.#value !== undefined) return Promise.resolve(this.#value);
    return new Promise((resolve) => {
      const timer = clock.after(ms, () => resolve(undefined));
      const finish = (): void => {
        timer.cancel();
        resolve(this.#value);
      };
      void this.promise.then(finish);
      void end.then(finish, finish);
    });
  }
}
