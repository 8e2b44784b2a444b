// Slots of checks of speech services: each check holds sockets for seconds if its services do not answer. Checks beyond
// the limits wait for a slot, and do without after a time, so that none prevents storing.

import type { Clock } from '../../std/clock.ts';

/** Concurrent checks of all organizations. */
const CHECKS_MAX = 10;
/** Concurrent checks of one organization, so that services that do not answer block no other organization's checks. */
const CHECKS_OF_ORGANIZATION_MAX = 3;
/** Longest wait for a slot: two checks whose services do not answer. */
const WAIT_MS_MAX = 8_000;

interface Waiting {
  organizationId: string;
  begin(): void;
}

export class CheckSlots {
  readonly #clock: Clock;
  /** Number of checks in progress, by organization. */
  readonly #running = new Map<string, number>();
  /** In the order of their requests. */
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Settles as `check` does, which starts when the organization has a free slot. Undefined: none was free in time. */
  async run<T>(organizationId: string, check: () => Promise<T>): Promise<T | undefined> {
    if (this.#hasRoom(organizationId)) this.#take(organizationId);
    else if (!(await this.#waited(organizationId))) return undefined;
    try {
      return await check();
    } finally {
      this.#free(organizationId);
    }
  }

  /** Waits until a slot is taken for the organization. False after WAIT_MS_MAX. */
  #waited(organizationId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        organizationId,
        begin: () => {
          timer.cancel();
          resolve(true);
        },
      };
      const timer = this.#clock.after(WAIT_MS_MAX, () => {
        this.#waiting.delete(waiting);
        resolve(false);
      });
      this.#waiting.add(waiting);
    });
  }

  #hasRoom(organizationId: string): boolean {
    let running = 0;
    for (const checks of this.#running.values()) running += checks;
    return running < CHECKS_MAX && this.#runningOf(organizationId) < CHECKS_OF_ORGANIZATION_MAX;
  }

  #runningOf(organizationId: string): number {
    return this.#running.get(organizationId) ?? 0;
  }

  #take(organizationId: string): void {
    this.#running.set(organizationId, this.#runningOf(organizationId) + 1);
  }

  #free(organizationId: string): void {
    const rest = this.#runningOf(organizationId) - 1;
    if (rest > 0) this.#running.set(organizationId, rest);
    else this.#running.delete(organizationId);
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.organizationId)) continue;
      this.#waiting.delete(waiting);
      this.#take(waiting.organizationId);
      waiting.begin();
    }
  }
}
