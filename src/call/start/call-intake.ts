// Whether this process accepts new calls, and how many it has. It accepts none while it drains or its load is too high
// (overload-control.ts).

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { LoadLimits, LoadMeter } from '../../runtime/process-load.ts';
import type { Clock } from '../../std/clock.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import { OverloadControl } from './overload-control.ts';

/** Interval at which a draining process checks whether its calls are over. */
const DRAIN_CHECK_MS = 100;

export interface CallIntakeDeps {
  registry: CallRegistry;
  /** Called each second with the share of time in which the event loop had work. */
  onLoop: (busy: number) => void;
  /** Load meter and limits; undefined: calls are accepted at any load. */
  load: { meter: LoadMeter; limits: LoadLimits } | undefined;
  clock: Clock;
  log: Log;
}

export class CallIntake {
  /** Calls that PBXs have announced and that are neither connected nor refused yet. */
  pbxCalls: () => number = () => 0;
  readonly #deps: CallIntakeDeps;
  readonly #overload: OverloadControl | undefined;
  #draining = false;
  /** Calls that are being placed, or whose webhook is being answered. */
  #starting = 0;

  constructor(deps: CallIntakeDeps) {
    this.#deps = deps;
    const { registry, load } = deps;
    if (load === undefined) return;
    const counts = () => ({ talking: registry.activeCalls, all: this.#all });
    this.#overload = new OverloadControl({ ...deps, ...load, counts });
  }

  /** Number of calls that ring, wait for their media or are connected. */
  get calls(): number {
    const { activeCalls, pendingCalls } = this.#deps.registry;
    return activeCalls + pendingCalls + this.#starting;
  }

  get #all(): number {
    return this.calls + this.pbxCalls();
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal(): GatewayError | undefined {
    if (this.#draining) return new GatewayError('GATEWAY_DRAINING');
    return this.#overload?.isAccepting === false
      ? new GatewayError('GATEWAY_OVERLOADED')
      : undefined;
  }

  /** Runs `work`, the setup of a call, which counts from its start. */
  async counted<T>(work: () => Promise<T>): Promise<T> {
    this.#starting += 1;
    try {
      return await work();
    } finally {
      this.#starting -= 1;
    }
  }

  /** Accepts no new call from now on; settles when the running ones are over, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    const { clock, log, registry } = this.#deps;
    const deadline = clock.monotonicMs() + limitMs;
    log.info({ calls: registry.activeCalls }, 'draining');
    while (this.#all > 0) {
      if (clock.monotonicMs() >= deadline) break;
      await new Promise<void>((resolve) => clock.after(DRAIN_CHECK_MS, resolve));
    }
  }

  stop(): void {
    this.#overload?.stop();
  }
}
