// Stores what came of a dial: entries in the run's log, and the provider's id of the call in its row.

import type { Log } from '../../log.ts';
import type { Run } from '../../model/run.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import type { Store } from '../../store/store.ts';
import type { DialResult } from '../../telephony/provider/provider.ts';
import type { ProviderHangUp } from '../closing/provider-hang-up.ts';
import type { EventLog } from '../log/event-log.ts';
import type { OutboundRoute } from './outbound-route.ts';

export interface DialRequestOfRun {
  run: Run;
  route: OutboundRoute;
  /** The number as the client gave it. */
  to: string;
  /** Its agent; undefined: what the dial needs of it is read. */
  version?: WorkflowVersion;
  /** The run was created just now: nothing is in its log. */
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

  /** The log of a new run, before its call can come; `forget` if nothing is placed. */
  async expect({ run }: DialRequestOfRun): Promise<void> {
    await this.#deps.events.open(run.id, { isNew: true });
  }

  /** The run is to be removed. */
  forget({ run }: DialRequestOfRun): void {
    this.#deps.events.release(run.id);
  }

  /** The first event of an outbound call. */
  async created({ run, route, to, isNew = false }: DialRequestOfRun): Promise<void> {
    const runLog = await this.#deps.events.open(run.id, { isNew });
    const { from } = route;
    const { name } = route.provider;
    runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
  }

  /** The phone rings: a store that fails just now does not make the start a failure. A call that was hung up
   *  before the provider returned its id is hung up there. */
  async dialled(run: Run, { callId, metadata }: DialResult): Promise<void> {
    const { store, hangUps, log } = this.#deps;
    try {
      const gatheredContext = { call_id: callId, ...metadata };
      const current = await store.runs.dialled({ runId: run.id, callId, gatheredContext });
      if (current?.state === 'completed') await hangUps.hangUpRun(current);
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'call id not stored, or the line not hung up');
    }
  }

  /** It is not known whether the call was placed. Stores nothing if the call has come meanwhile. Never rejects. */
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
      log.error({ err: error, runId }, 'doubt about a call not in its log');
    }
  }
}
