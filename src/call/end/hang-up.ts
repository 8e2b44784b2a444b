// Hang-up of a call at a client's request, whether it rings or is connected, on this or another node. Has no effect on
// a call that is over.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import type { Clock } from '../../std/clock.ts';
import { withDeadline } from '../../std/deadline.ts';
import type { Store } from '../../store/store.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { ProviderHangUp } from './closing/provider-hang-up.ts';
import type { RunClosing } from './closing/run-closing.ts';
import type { UnconnectedCalls } from './closing/unconnected-calls.ts';

/** Longest wait of the client. Closing usually takes less, and goes on after it. */
const END_MS_MAX = 5_000;
/** Interval of the checks whether a call in admission has become a session or was refused. */
const CHECK_MS = 50;
const CHECKS_MAX = 40;

export interface HangUpRequestsDeps {
  store: Pick<Store, 'runs' | 'starts'>;
  registry: CallRegistry;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  unconnected: UnconnectedCalls;
  clock: Clock;
}

export class HangUpRequests {
  readonly #deps: HangUpRequestsDeps;

  constructor(deps: HangUpRequestsDeps) {
    this.#deps = deps;
  }

  /** The resulting run; on another node it is completed a moment later. Throws RUN_NOT_FOUND, RUN_WITHOUT_CALL,
   *  CALL_OUT_OF_REACH, PROVIDER_* codes. */
  async hangUp({ organizationId, runId }: { organizationId: string; runId: string }): Promise<Run> {
    const { runs, starts } = this.#deps.store;
    const run = await runs.get(organizationId, runId);
    if (run === undefined) throw new GatewayError('RUN_NOT_FOUND');
    if (run.state === 'completed') return run;
    const isIdle = await starts.isIdle(runId);
    if (isIdle && run.state !== 'initialized') throw new GatewayError('RUN_WITHOUT_CALL'); // A text chat.
    // Another node records its own reason; this event records the client's request.
    await runs.patch(runId, { gatheredContext: { hang_up_requested_by: 'api' } });
    await (isIdle ? this.#closeIdle(run) : this.#end(run));
    return (await runs.get(organizationId, runId)) ?? run;
  }

  /** Closes a run that has no place. Its call may be started at the same time. */
  async #closeIdle(run: Run): Promise<void> {
    await this.#deps.closing.end(run, { reason: 'system_cancelled', by: 'gateway' });
    // A caller who waited for a place.
    if (run.providerCallId !== null) await this.#deps.hangUps.hangUpRun(run);
    this.#deps.registry.removeUnconnected(run.id);
    await this.#hangUpRest(run);
  }

  async #end(run: Run): Promise<void> {
    const { registry, unconnected, clock } = this.#deps;
    const waiting = registry.unconnected().find((call) => call.run.id === run.id);
    if (waiting !== undefined) await unconnected.abandon(waiting);
    for (let checks = 0; registry.connected(run.id) && checks < CHECKS_MAX; checks++) {
      const session = registry.session(run.id);
      if (session !== undefined) {
        const ending = session.end('system_cancelled', 'gateway');
        await withDeadline(clock, END_MS_MAX, 'end the call', ending).catch(() => undefined); // The closing goes on.
        return;
      }
      await new Promise<void>((resolve) => clock.after(CHECK_MS, resolve));
    }
    await this.#hangUpRest(run);
  }

  /** Hangs up what may be left: the call may be connected on another node, or the provider may have returned its id
   *  while its run was being closed. A process that stores the id later finds a completed run, and hangs up. */
  async #hangUpRest(known: Run): Promise<void> {
    const current = await this.#deps.store.runs.find(known.id);
    if (current === undefined) return;
    const isNamedSince = known.providerCallId === null && current.providerCallId !== null;
    if (current.state !== 'completed' || isNamedSince) await this.#deps.hangUps.hangUpRun(current);
  }
}
