// Configure messages of Flux: sends one at a time, with the values that changed since the last one.

import type { Clock, Timer } from '../../../std/clock.ts';

/** The service answers every Configure. After this time the next one is sent without the answer. */
const ANSWER_MS_MAX = 5_000;

export interface FluxThresholds {
  eot_threshold: number;
  eot_timeout_ms: number;
}

type Values = Record<string, unknown>;

export class FluxConfiguration {
  readonly #clock: Clock;
  readonly #send: (configure: Values) => void;
  /** JSON of each value that the service has. */
  readonly #known = new Map<string, string>();
  #wanted: Values = {};
  #answer: Timer | undefined;

  constructor(options: { clock: Clock; known: Values; send: (configure: Values) => void }) {
    this.#clock = options.clock;
    this.#send = options.send;
    this.#keep(options.known);
  }

  want(values: Values): void {
    this.#wanted = { ...this.#wanted, ...values };
    if (this.#answer === undefined) this.#next();
  }

  answered(): void {
    this.close();
    this.#next();
  }

  close(): void {
    this.#answer?.cancel();
    this.#answer = undefined;
  }

  #next(): void {
    const changed = Object.entries(this.#wanted).filter(
      ([name, value]) => this.#known.get(name) !== JSON.stringify(value),
    );
    this.#wanted = {};
    if (changed.length === 0) return;
    const values = Object.fromEntries(changed);
    this.#keep(values);
    this.#answer = this.#clock.after(ANSWER_MS_MAX, () => this.answered());
    this.#send({ type: 'Configure', ...values });
  }

  #keep(values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      this.#known.set(name, JSON.stringify(value));
    }
  }
}
