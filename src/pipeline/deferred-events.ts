// Deferred events, delivered to a handler after the sender has finished its own work: the handler may call back at any
// time, and is not re-entered. Its faults do not reach the sender, such as a worker's message or another call's clock.

/** Queued events of one call. More means that a handler produces events without end. */
const WAITING_MAX = 1_000;

export class DeferredEvents<Event> {
  /** Reports a fault of our own code, once: the call is broken then. */
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

  /** Runs `work`, whose faults stay in this call, and delivers its events. */
  run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
    this.flush();
  }

  defer(event: Event): void {
    if (this.#waiting.length >= WAITING_MAX)
      throw new Error('an event handler produces events without end');
    this.#waiting.push(event);
  }

  /** Delivers the queued events in order, and those that they cause. Does nothing when it is called from within
   *  itself. */
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
