// How long before its turn a claim is begun: as long as beginnings take at the moment, and as long again for what the
// call worker reads before its request. Where the store answers at once, that is nothing.

import { LEAD_MS_MAX } from '../call/outbound/dial-pace.ts';

/** Share of the newest one in a falling lead; a longer one counts at once. */
const NEWEST = 0.05;

export class DialLead {
  #ms = 0;

  /** 0 to 500. */
  get ms(): number {
    return this.#ms;
  }

  /** A beginning took `ms`. */
  took(ms: number): void {
    const wanted = Math.min(LEAD_MS_MAX, 2 * ms);
    this.#ms = Math.max(wanted, this.#ms + (wanted - this.#ms) * NEWEST);
  }
}
