// Whether a recogniser at fault gets another session at once: one time, until a session of it has lasted.

import type { ServiceFault } from '../../service/service-fault.ts';

/** A service is tried again at once unless its session before was as short as this. */
const LASTING_MS = 30_000;

export class SessionRetry {
  #isUsed = false;

  /** Another service is used from now on. */
  reset(): void {
    this.#isUsed = false;
  }

  /** `livedMs`: of the session that failed. `isLastResort`: nothing that understands free speech comes after the service. */
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
