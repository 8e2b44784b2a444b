// Work that concurrent callers share: one piece in flight for each key. A caller that comes while it runs gets its
// result, which is then older than the request; `SharedReads` in batches.ts begins anew for such a caller.

interface Running<T> {
  result: Promise<T>;
  /** Callers that wait for the result. */
  waiting: number;
  abort: AbortController;
}

export class SharedWork<T> {
  /** The work in flight, by key: at most one for each caller that waits. */
  readonly #running = new Map<string, Running<T>>();

  /** Whether work of the key is in flight. */
  has(key: string): boolean {
    return this.#running.has(key);
  }

  /** Settles as the work in flight does, or as `work`, which begins if there is none: equal keys mean equal work. With
   *  a `signal` it rejects with the signal's reason once that is aborted. The work's own signal is aborted when no
   *  caller waits any more; a later caller begins anew. */
  run(key: string, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const running = this.#running.get(key) ?? this.#begin(key, work);
    running.waiting += 1;
    if (signal === undefined) return running.result;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        running.waiting -= 1;
        if (running.waiting === 0) this.#end(key, running, signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      running.result
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const abort = new AbortController();
    const running: Running<T> = { result: work(abort.signal), waiting: 0, abort };
    this.#running.set(key, running);
    const over = (): void => this.#forget(key, running);
    running.result.then(over, over);
    return running;
  }

  #end(key: string, running: Running<T>, reason: unknown): void {
    this.#forget(key, running);
    running.abort.abort(reason);
  }

  #forget(key: string, running: Running<T>): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }
}
