// The sessions of voices' keys that one call holds: one for each key, from its first words to its end, so that a call keeps
// the voice that it began with. A call that has been silent for long, as after a transfer, gives its sessions back.

import type { Clock } from '../../std/clock.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import type { SessionLimit } from './session-limit.ts';

/** Longer than callers are left without a word. Calls that were ended without `release` are found by it, too. */
const SILENT_MS_MAX = 60_000;

export class CallSessions {
  readonly #clock: Clock;
  readonly #held = new Map<SessionLimit, SlidingDeadline>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the key has a session for this call. */
  hasRoom(limit: SessionLimit | undefined): boolean {
    return limit === undefined || this.#held.has(limit) || !limit.isFull;
  }

  /** The call speaks with the key. */
  hold(limit: SessionLimit | undefined): void {
    if (limit === undefined) return;
    let deadline = this.#held.get(limit);
    if (deadline === undefined) {
      deadline = new SlidingDeadline(this.#clock, () => this.leave(limit));
      this.#held.set(limit, deadline);
      limit.opened();
    }
    deadline.set(SILENT_MS_MAX);
  }

  leave(limit: SessionLimit | undefined): void {
    const deadline = limit && this.#held.get(limit);
    if (limit === undefined || deadline === undefined) return;
    deadline.clear();
    this.#held.delete(limit);
    limit.closed();
  }

  /** The call is over. */
  release(): void {
    for (const limit of [...this.#held.keys()]) this.leave(limit);
  }
}
