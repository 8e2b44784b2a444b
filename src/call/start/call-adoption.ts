// Adoption of calls that wait for their media, by the process that a webhook or the media reach, from the process that had
// them. The new owner takes the run in one statement; the former owner learns of it by a message or from the store, and
// drops the call without ending it.

import type { Log } from '../../log.ts';
import type { Run } from '../../model/run.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import type { Store } from '../../store/store.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { EventLog } from '../events/event-log.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { MediaWatchdog } from './media-watchdog.ts';

/** Interval of the checks for calls that others have adopted. Until one, they count in this process's load and delay its
 *  stop. */
const CHECK_MS = 2_000;

/** An adopted call. */
export interface AdoptedCall {
  runId: string;
  /** Name of the former owner in `nodes`. */
  from: string;
}

export interface CallAdoptionsDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  log: Log;
}

/** Takes calls from other processes. */
export class CallAdoptions {
  /** Called for each call that this process has adopted, to inform the former owner. Must not throw. */
  onAdopted: ((call: AdoptedCall) => void) | undefined;
  readonly #deps: CallAdoptionsDeps;

  constructor(deps: CallAdoptionsDeps) {
    this.#deps = deps;
  }

  /** Makes this process the owner of a call that waits for its media. Returns false, without a change, if it is the owner
   *  already, or the run is not `initialized`. */
  async adopt(run: Run, provider: TelephonyProvider): Promise<boolean> {
    const { store, events, log } = this.#deps;
    const taken = await store.runs.takeOver(run.id);
    if (taken === undefined) return false;
    const { from } = taken;
    log.info({ runId: run.id, provider: provider.name, from }, 'waiting call adopted');
    // What this process may have read before is not complete: the former owner could still write.
    events.release(run.id);
    const runLog = await events.open(run.id);
    if (runLog.events.length === 0) runLog.append(firstEvent(run, provider), 0);
    this.onAdopted?.({ runId: run.id, from });
    return true;
  }
}

/** The first event of a run, which its former owner may have had no time to store. */
function firstEvent({ callType, initialContext }: Run, { name: provider }: TelephonyProvider) {
  const { caller_number: from, called_number: to } = initialContext;
  const numbers = { from: typeof from === 'string' ? from : null, to: String(to ?? '') };
  return { type: 'call.created', direction: callType, provider, ...numbers } as const;
}

export interface FormerCallsDeps {
  store: Pick<Store, 'runs'>;
  registry: Pick<CallRegistry, 'unconnected' | 'connected'>;
  watchdog: Pick<MediaWatchdog, 'release'>;
  tokens: Pick<MediaTokenStore, 'revoke'>;
  clock: Clock;
  log: Log;
}

/** Gives up calls that other processes have adopted. */
export class FormerCalls {
  readonly #deps: FormerCallsDeps;
  readonly #loop: JobLoop;

  constructor(deps: FormerCallsDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: CHECK_MS,
      run: () => this.#check(),
      onError: (error) => deps.log.warn({ err: error }, 'adopted calls not looked up'),
    });
  }

  /** Starts the checks, which only several gateways on one database need. */
  start(): void {
    this.#loop.startAfter(CHECK_MS);
  }

  stop(): void {
    this.#loop.cancel();
  }

  /** Drops a call that another process has adopted, without ending it. Has no effect on a call with media here. */
  noteAdopted(runId: string): void {
    const { registry, watchdog, tokens } = this.#deps;
    if (registry.connected(runId)) return;
    tokens.revoke(runId);
    watchdog.release(runId);
  }

  async #check(): Promise<void> {
    const { registry, store } = this.#deps;
    const ids = registry.unconnected().map(({ run }) => run.id);
    if (ids.length === 0) return;
    for (const id of await store.runs.notHeld(ids)) this.noteAdopted(id);
  }
}
