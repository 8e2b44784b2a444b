// Closes stranded starts: runs that the database created for this process while its answer was lost with the
// connection. The client got an error and nothing was dialled, so no component watches the run; open, it would count
// against the organization's limit of calls until the next start of the process. Campaigns return such attempts.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { providerName } from '../../../model/provider.ts';
import type { Clock } from '../../../std/clock.ts';
import { JobLoop } from '../../../std/job-loop.ts';
import type { Store } from '../../../store/store.ts';
import type { RunClosing } from '../../end/closing/run-closing.ts';
import { noteStartFailure } from '../../end/closing/unconnected-calls.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { ConnectServices } from '../../media/connect-services.ts';

/** Interval of the checks. Longer than the wait for an answer of the database: a start that is answered after one
 *  check is known at the next. */
const LOOK_MS = 15_000;

export interface StrandedStartsDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  closing: RunClosing;
  connect: Pick<ConnectServices, 'registry'>;
  clock: Clock;
  log: Log;
}

export class StrandedStarts {
  readonly #deps: StrandedStartsDeps;
  readonly #loop: JobLoop;
  /** Runs that were unknown at the last check. */
  #suspects: ReadonlySet<string> = new Set();

  constructor(deps: StrandedStartsDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => deps.log.error({ err: error }, 'stranded starts not checked'),
    });
  }

  start(): void {
    this.#loop.startAfter(LOOK_MS);
  }

  stop(): void {
    this.#loop.cancel();
  }

  /** Closes the run if it is stranded, without a second check: the statement that created it is over. Throws
   *  STORE_UNAVAILABLE. */
  async closeIfStranded(runId: string): Promise<void> {
    if ((await this.#deps.store.runs.unplaced()).includes(runId)) await this.#close(runId);
  }

  async #look(): Promise<void> {
    const unplaced = await this.#deps.store.runs.unplaced();
    const unknown = unplaced.filter((id) => !this.#isKnown(id));
    const stranded = unknown.filter((id) => this.#suspects.has(id));
    this.#suspects = new Set(unknown);
    for (const id of stranded) await this.#close(id);
  }

  /** Whether this process dials, watches or closes the run. */
  #isKnown(runId: string): boolean {
    const { connect, events } = this.#deps;
    return connect.registry.has(runId) || events.isOpen(runId);
  }

  /** Closes the run like a start whose call could not be placed: a repeated request with its key gets that answer. */
  async #close(runId: string): Promise<void> {
    const { store, closing, log } = this.#deps;
    const run = await store.runs.find(runId);
    if (run?.state !== 'initialized' || this.#isKnown(runId)) return;
    const { code, message } = new GatewayError('STORE_UNAVAILABLE');
    log.warn({ runId }, 'start closed: the database did not answer it');
    const fault = { code, message };
    await noteStartFailure(this.#deps, runId, fault);
    const provider = providerName.safeParse(run.mode).data;
    const ending = { reason: 'error', by: 'gateway', fault } as const;
    await closing.endSurely(run, provider === undefined ? ending : { ...ending, provider });
  }
}
