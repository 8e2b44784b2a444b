// Something that happens once and is waited for with a limit.

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

  /** The first value counts. */
  settle(value: T): void {
    this.#value ??= value;
    this.#resolve(value);
  }

  /** Its value; undefined if `ms` pass first, or `end` settles. Never rejects. */
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
