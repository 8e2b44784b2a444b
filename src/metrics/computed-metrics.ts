// A counter for every frame of every call: it adds up in a field, and increments the Prometheus counter, which
// allocates, only when it is read.

import { Counter, type Registry } from 'prom-client';

export class FrameCounter {
  #count = 0;

  constructor(named: { name: string; help: string; registers: Registry[] }) {
    const takeCount = (): number => {
      const count = this.#count;
      this.#count = 0;
      return count;
    };
    new Counter({
      ...named,
      collect() {
        this.inc(takeCount());
      },
    });
  }

  inc(): void {
    this.#count += 1;
  }
}
