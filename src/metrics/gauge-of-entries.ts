// Gauge that counts entries under a label when it is read, so that an entry may expire without a timer.

import { Gauge, type Registry } from 'prom-client';

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
