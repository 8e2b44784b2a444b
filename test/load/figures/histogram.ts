// Many durations in little memory: tenths of a millisecond counted up to a limit, and the greatest.

const STEPS_PER_MS = 10;
const MS_MAX = 2_000;
/** For waits of callers. */
export const WAIT_MS_MAX = 20_000;
/** For replies of an API under attack: longer than its clients wait. */
export const ATTACKED_MS_MAX = 30_000;

export class Histogram {
  readonly #counts: Uint32Array;
  #count = 0;
  #greatest = 0;

  /** Durations above `msMax` keep their value as `max` alone. Default: 2 s. */
  constructor(msMax = MS_MAX) {
    this.#counts = new Uint32Array(msMax * STEPS_PER_MS + 1);
  }

  /** Durations below 0 count as 0. */
  add(ms: number): void {
    const step = Math.min(this.#counts.length - 1, Math.max(0, Math.round(ms * STEPS_PER_MS)));
    this.#counts[step] = (this.#counts[step] as number) + 1;
    this.#count += 1;
    if (ms > this.#greatest) this.#greatest = ms;
  }

  get count(): number {
    return this.#count;
  }

  /** Null if nothing was counted. */
  get max(): number | null {
    return this.#count === 0 ? null : this.#greatest;
  }

  /** The duration that `share` (0..1) of all do not exceed; null if nothing was counted. */
  at(share: number): number | null {
    if (this.#count === 0) return null;
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let step = 0; step < this.#counts.length; step++) {
      seen += this.#counts[step] as number;
      if (seen >= wanted) return Math.min(step / STEPS_PER_MS, this.#greatest);
    }
    return this.#greatest;
  }
}
