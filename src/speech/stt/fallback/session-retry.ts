// Decides whether a faulty recogniser gets another session at once: once, until one of its sessions has lasted.

import type { ServiceFault } from '../../service/service-fault.ts';

/** A service is retried at once unless its previous session was shorter than this. */
const LASTING_MS = 30_000;

export class SessionRetry {
  #isUsed = false;

  /** Resets the count, since another service is used. */
  reset(): void {
    this.#isUsed = false;
  }

  /** `livedMs`: duration of the session that failed. `isLastResort`: no later service understands free speech. */
  take(
    fault: ServiceFault,
    { livedMs, isLastResort }: { livedMs: number; isLastResort: boolean },
  ): boolean {
    if (livedMs >= LASTING_MS) this.#isUsed = false;
    const isTransient = fault.kind === 'timeout' || fault.kind === 'protocol';
    if (this.#isUsed || !(fault.isRepeatable || (isLastResort && isTransient))) return false;
    this.#isUsed = true;
    return true;
  }
}
