// Events for a handler, delivered once the sender is done with its own work: a handler may call back at any
// time and never meets a half-done state, nor itself. A bug of the handler does not reach the sender, be it
// a worker's message or another call's clock.

/** Events of one call that wait for each other; more means a handler that feeds itself. */
const WAITING_MAX = 1_000;

export class DeferredEvents<Event> {
  /** Reports a bug: once, as what it breaks is over then. */
  readonly broken: (error: unknown) => void;
  readonly #onEvent: (event: Event) => void;
  readonly #waiting: Event[] = [];
  #delivering = false;

  /** `onBroken` must not throw. */
  constructor(onEvent: (event: Event) => void, onBroken: (error: unknown) => void) {
    this.#onEvent = onEvent;
    let isBroken = false;
    this.broken = (error) => {
      if (isBroken) return;
      isBroken = true;
      onBroken(error);
    };
  }

  /** Does `work`, whose bug stays in this call, and delivers what came of it. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
    this.flush();
  }

  defer(event: Event): void {
    if (this.#waiting.length >= WAITING_MAX) throw new Error('a handler answers itself for ever');
    this.#waiting.push(event);
  }

  /** Delivers what waits, in order, and what comes of it. Does nothing within itself. */
  flush(): void {
    if (this.#delivering || this.#waiting.length === 0) return;
    this.#delivering = true;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      try {
        this.#onEvent(event);
      } catch (error) {
        this.broken(error);
      }
    }
    this.#delivering = false;
  }
}
