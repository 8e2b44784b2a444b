// The faults of one call's services that go on until somebody changes a key, an account or a setting. What a service meets
// before the session listens, as with a greeting that is made while the phone rings, is kept for it.

import type { ServiceFault } from './service/service-fault.ts';

/** Each service reports one or two. */
const EARLY_MAX = 20;

type Listener = (fault: ServiceFault) => void;

export class PermanentFaults {
  readonly #early: ServiceFault[] = [];
  #listener: Listener | undefined;

  get listener(): Listener | undefined {
    return this.#listener;
  }

  set listener(listener: Listener | undefined) {
    this.#listener = listener;
    if (listener === undefined) return;
    for (const fault of this.#early.splice(0)) listener(fault);
  }

  readonly report = (fault: ServiceFault): void => {
    if (this.#listener !== undefined) this.#listener(fault);
    else if (this.#early.length < EARLY_MAX) this.#early.push(fault);
  };
}
