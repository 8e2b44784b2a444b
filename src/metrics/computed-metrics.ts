// Metrics whose values are computed when they are read.

import { Counter, Gauge, type Registry } from 'prom-client';

/** A counter for every frame of every call: it adds up in a field, and increments the Prometheus counter, which allocates,
 *  only when it is read. */
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

/** Gauge that counts entries under a label, so that an entry may expire without a timer. */
export class GaugeOfEntries<Entry extends object, Label extends string> {
  readonly gauge: Gauge<Label>;
  /** The value of the label, and whether the entry still counts. */
  readonly #entries = new Map<Entry, { value: string; counts(): boolean }>();

  constructor(named: { name: string; help: string; label: Label; registers: Registry[] }) {
    const { label, ...rest } = named;
    const countIn = (gauge: Gauge<Label>): void => {
      gauge.reset();
      this.#drop();
      for (const { value } of this.#entries.values()) {
        gauge.inc({ [label]: value } as Record<Label, string>);
      }
    };
    this.gauge = new Gauge({
      ...rest,
      labelNames: [label],
      collect() {
        countIn(this);
      },
    });
  }

  /** Replaces the entry, if it is there. It counts as long as `counts` returns true. */
  add(entry: Entry, value: string, counts: () => boolean): void {
    this.#drop();
    this.#entries.set(entry, { value, counts });
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry);
  }

  #drop(): void {
    for (const [entry, { counts }] of this.#entries) if (!counts()) this.#entries.delete(entry);
  }
}
