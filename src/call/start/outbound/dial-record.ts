// Stores the results of dials: entries in the run's log, and the provider's id of the call in the run's row.

import type { Log } from '../../../log.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Store } from '../../../store/store.ts';
import type { DialResult } from '../../../telephony/provider/provider.ts';
import type { ProviderHangUp } from '../../end/closing/provider-hang-up.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { OutboundRoute } from './outbound-route.ts';

export interface DialRequestOfRun {
  run: Run;
  route: OutboundRoute;
  /** The number as the client gave it. */
  to: string;
  /** Version of the run's agent. Default: the dial reads what it needs. */
  version?: WorkflowVersion;
  /** Whether the run was created just now, so that its log is empty. */
  isNew?: boolean;
}

export interface DialRecordDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  hangUps: ProviderHangUp;
  log: Log;
}

export class DialRecord {
  readonly #deps: DialRecordDeps;

  constructor(deps: DialRecordDeps) {
    this.#deps = deps;
  }

  /** Opens the log of a new run before its call can come; `forget` it if nothing is placed. */
  async expect({ run }: DialRequestOfRun): Promise<void> {
    await this.#deps.events.open(run.id, { isNew: true });
  }

  /** Releases the log of a run that is to be removed. */
  forget({ run }: DialRequestOfRun): void {
    this.#deps.events.release(run.id);
  }

  /** Logs the first event of an outbound call. */
  async created({ run, route, to, isNew = false }: DialRequestOfRun): Promise<void> {
    const runLog = await this.#deps.events.open(run.id, { isNew });
    const { from } = route;
    const { name } = route.provider;
    runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
  }

  /** Stores the id of a call that rings. If the store fails at this moment, the start is no failure. A call that was
   *  hung up before the provider returned its id is hung up at the provider. */
  async dialled(run: Run, { callId, metadata }: DialResult): Promise<void> {
    const { store, hangUps, log } = this.#deps;
    try {
      const gatheredContext = { call_id: callId, ...metadata };
      const current = await store.runs.dialled({ runId: run.id, callId, gatheredContext });
      if (current?.state === 'completed') await hangUps.hangUpRun(current);
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'call id not stored, or call not hung up');
    }
  }

  /** Stores that it is unknown whether the call was placed, unless the call has come meanwhile. Never rejects. */
  async doubt(
    placement: DialRequestOfRun,
    fault: { code: string; message: string },
  ): Promise<void> {
    const { store, events, log } = this.#deps;
    const { id: runId } = placement.run;
    try {
      const run = await store.runs.find(runId);
      if (run?.state !== 'initialized') return;
      await this.created(placement);
      const runLog = await events.open(runId);
      runLog.append({ type: 'fault', ...fault, fatal: false }, 0);
    } catch (error) {
      log.error({ err: error, runId }, 'unclear dial not logged');
    }
  }
}
