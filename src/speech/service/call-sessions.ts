// Sessions of voices' keys that one call holds: one for each key, from its first use to the end of the call, so that
// the call keeps its voice. A call that is silent for long, as after a transfer, releases its sessions.

import type { Clock } from '../../std/clock.ts';
import { SlidingDeadline } from '../../std/sliding-deadline.ts';
import type { SessionLimit } from './session-limit.ts';

/** Silence after which sessions are released: longer than any pause in a conversation. It also covers calls that end
 *  without `release`. */
const SILENT_MS_MAX = 60_000;

export class CallSessions {
  readonly #clock: Clock;
  readonly #held = new Map<SessionLimit, SlidingDeadline>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the key has a free session for this call, or the call holds one already. */
  hasRoom(limit: SessionLimit | undefined): boolean {
    return limit === undefined || this.#held.has(limit) || !limit.isFull;
  }

  /** Takes or renews the call's session of the key. */
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

  /** Releases all sessions at the end of the call. */
  release(): void {
    for (const limit of [...this.#held.keys()]) this.leave(limit);
  }
}
