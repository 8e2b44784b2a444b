// Ends calls that this process must not or cannot hold any longer: all remaining calls when it stops, and those that
// another process has taken over because this one seemed dead.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import type { EventLog } from '../events/event-log.ts';
import type { ConnectServices } from '../media/connect-services.ts';
import { GATEWAY_STOPPED, type UnconnectedCall } from './closing/unconnected-calls.ts';

/** Checks of which calls others have taken, and the pause before the next one: the store may be away again. After them a
 *  call is found taken when its next event is stored. */
const CHECKS_MAX = 30;
const CHECK_AGAIN_MS = 2_000;

export interface RemainingCallsDeps {
  connect: Pick<ConnectServices, 'registry' | 'unconnected'>;
  events: EventLog;
  clock: Clock;
  log: Log;
}

export class RemainingCalls {
  readonly #deps: RemainingCallsDeps;

  constructor(deps: RemainingCallsDeps) {
    this.#deps = deps;
    deps.events.onTaken = (runIds) => this.#endTaken(runIds);
  }

  /** Ends every call of this process, including those that still ring. Never rejects. */
  async endAll(): Promise<void> {
    const { registry } = this.#deps.connect;
    await Promise.all([
      ...registry.sessions().map((session) => session.end('system_cancelled', 'gateway')),
      ...registry.unconnected().map((call) => this.#giveUp(call)),
    ]);
  }

  /** Stores the events of all calls. */
  flush(): Promise<void> {
    return this.#deps.events.flush();
  }

  /** Ends calls that another process has taken over, as soon as the store says which. Never rejects. */
  async endTakenCalls(store: Pick<Store, 'runs'>): Promise<void> {
    const { connect, clock, log } = this.#deps;
    const { registry } = connect;
    for (let tries = 0; tries < CHECKS_MAX; tries += 1) {
      const ids = [
        ...registry.sessions().map(({ plan }) => plan.run.id),
        ...registry.unconnected().map(({ run }) => run.id),
      ];
      try {
        this.#endTaken(await store.runs.taken(ids));
        return;
      } catch (error) {
        log.error({ err: error }, 'calls that other processes have taken over not checked');
      }
      await new Promise<void>((resolve) => clock.after(CHECK_AGAIN_MS, resolve));
    }
  }

  /** Ends the calls here; the process that has taken the runs goes on with them or closes them. */
  #endTaken(runIds: readonly string[]): void {
    const { connect, log } = this.#deps;
    for (const runId of runIds) {
      const session = connect.registry.session(runId);
      connect.registry.removeUnconnected(runId);
      if (session === undefined) continue;
      log.warn({ runId }, 'call ended: another process has taken it over');
      void session.endTaken();
    }
  }

  /** Ends a call without media. Never rejects. */
  async #giveUp(call: UnconnectedCall): Promise<void> {
    const { connect, log } = this.#deps;
    try {
      await connect.unconnected.abandon(call, GATEWAY_STOPPED);
    } catch (error) {
      log.error({ err: error, runId: call.run.id }, 'unconnected call not closed');
    }
  }
}
