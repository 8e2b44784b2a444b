// News for a listener, told once the teller is done with its own work: a listener may call back at any
// time and never meets a half-done state, nor itself. A listener's bug does not reach the teller, be it
// a worker's message or another call's clock.

/** News of one call that wait for each other; more means a listener that feeds itself. */
const WAITING_MAX = 1_000;

export class DeferredEvents {
  /** A bug was met: said once, as what it breaks is over then. */
  readonly broken: (error: unknown) => void;
  readonly #waiting: (() => void)[] = [];
  #telling = false;

  /** `onBroken` must not throw. */
  constructor(onBroken: (error: unknown) => void) {
    let isBroken = false;
    this.broken = (error) => {
      if (isBroken) return;
      isBroken = true;
      onBroken(error);
    };
  }

  /** Does `work`, whose bug stays in this call, and tells what came of it. */
  run(work: () => void): void {
    this.#attempt(work);
    this.flush();
  }

  defer(news: () => void): void {
    if (this.#waiting.length >= WAITING_MAX) throw new Error('a listener answers itself for ever');
    this.#waiting.push(news);
  }

  /** Tells what waits, in order, and what comes of it. Does nothing within itself. */
  flush(): void {
    if (this.#telling || this.#waiting.length === 0) return;
    this.#telling = true;
    for (let news = this.#waiting.shift(); news !== undefined; news = this.#waiting.shift())
      this.#attempt(news);
    this.#telling = false;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }
}
