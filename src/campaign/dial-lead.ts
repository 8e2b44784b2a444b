// Lead of a claim: how long before its turn it is begun. As long as beginnings take at the moment, and as long again
// for what the call worker reads before its request. Zero if the store answers at once.

import { LEAD_MS_MAX } from '../call/start/outbound/dial-pace.ts';

/** Weight of the newest measurement in a falling lead; a longer one counts at once. */
const NEWEST = 0.05;

export class DialLead {
  #ms = 0;

  /** The lead in milliseconds, 0 to 500. */
  get ms(): number {
    return this.#ms;
  }

  /** Notes that a beginning took `ms`. */
  took(ms: number): void {
    const wanted = Math.min(LEAD_MS_MAX, 2 * ms);
    this.#ms = Math.max(wanted, this.#ms + (wanted - this.#ms) * NEWEST);
  }
}
