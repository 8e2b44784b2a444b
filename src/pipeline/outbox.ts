// News for a listener, told once the teller is done with its own work: a listener may call back at any
// time and never meets a half-done state, nor itself.

/** News of one call that wait for each other; more means a listener that feeds itself. */
const WAITING_MAX = 1_000;

export class Outbox {
  readonly #waiting: (() => void)[] = [];
  #telling = false;

  put(news: () => void): void {
    if (this.#waiting.length >= WAITING_MAX) throw new Error('a listener answers itself for ever');
    this.#waiting.push(news);
  }

  /** Tells what waits, in order, and what comes of it. Does nothing within itself. */
  tell(): void {
    if (this.#telling || this.#waiting.length === 0) return;
    this.#telling = true;
    try {
      for (let news = this.#waiting.shift(); news !== undefined; news = this.#waiting.shift())
        news();
    } finally {
      this.#telling = false;
    }
  }
}
