// Limits the requests that a service processes at a time. A few more wait: with a long queue the answers would come too
// late.

export class RequestSlots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Takes a slot. Undefined if too many wait. Resolves when a slot is free; rejects with the signal's reason. The
   *  caller returns the slot with `free`, once and only if this resolved. */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#waitingMax) return undefined;
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(turn);
    });
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
