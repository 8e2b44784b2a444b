// Ends calls that never reached our media: busy, not answered, refused, failed, lost. Decides how such a call ended and
// stops its ringing; run-closing closes the run.

import {
  codeOf,
  type ErrorCode,
  GatewayError,
  isErrorCode,
} from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { EndReason } from '../../../model/end-reason.ts';
import type { TerminalStatus } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { Clock } from '../../../std/clock.ts';
import { isObject } from '../../../std/json.ts';
import type { Store } from '../../../store/store.ts';
import { stamp } from '../../events/transcript.ts';
import type { CallRoute, ProviderHangUp } from './provider-hang-up.ts';
import type { RunClosing, RunEnding } from './run-closing.ts';

/** A call without media so far. */
export interface UnconnectedCall extends CallRoute {
  run: Run;
}

/** The registry of calls without media in this process. */
export interface UnconnectedCallList {
  /** Removes a call whose media will not come any more. */
  removeUnconnected(runId: string): void;
}

export interface UnconnectedCallsDeps {
  store: Pick<Store, 'runs'>;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  list: UnconnectedCallList;
  clock: Clock;
  log: Log;
}

interface Ending extends Pick<RunEnding, 'fault'> {
  reason: EndReason;
  /** `provider` if the provider reports that the call is over; else the call is hung up. */
  by: 'provider' | 'gateway';
}

/** Fault of a call that was ringing when its gateway stopped: it may be placed again. */
export const GATEWAY_STOPPED = {
  code: 'GATEWAY_STOPPED',
  message: 'The gateway stopped before the call was answered',
};

/** Calls whose media failed a moment ago; a PBX ends each within a second or so. */
const FAULTS_MAX = 1_000;

export class UnconnectedCalls {
  readonly #deps: UnconnectedCallsDeps;
  /** Why a call's media could not be opened, by run, until the end of the call is reported. */
  readonly #mediaFaults = new Map<string, { code: string; message: string }>();

  constructor(deps: UnconnectedCallsDeps) {
    this.#deps = deps;
  }

  /** Notes why a call's media failed. The PBX may report the end of the call next: the run then gives this reason. */
  noteMediaFault(runId: string, error: unknown): void {
    this.#mediaFaults.set(runId, faultOf(error));
    const [oldest] = this.#mediaFaults.keys();
    if (this.#mediaFaults.size > FAULTS_MAX && oldest !== undefined)
      this.#mediaFaults.delete(oldest);
  }

  /** Ends a call. May be called several times for one run: the first reason counts, and the call is hung up once.
   *  Throws if the store is unavailable. */
  end(call: UnconnectedCall, { by, ...ending }: Ending): Promise<void> {
    const { closing, hangUps, list } = this.#deps;
    const { run, provider } = call;
    const { providerCallId } = run;
    list.removeUnconnected(run.id);
    const mediaFault = this.#mediaFaults.get(run.id);
    this.#mediaFaults.delete(run.id);
    const isOurs = ending.reason === 'system_connect_error' || ending.reason === 'failed';
    const isMediaFault = isOurs && mediaFault !== undefined;
    return closing.end(run, {
      ...(isMediaFault && { fault: mediaFault }),
      ...ending,
      by,
      provider: provider.name,
      onClaimed: async () => {
        if (by === 'gateway' && providerCallId !== null) {
          await hangUps.attempt(call, providerCallId, run.id);
        }
      },
    });
  }

  /** Ends a call that could not be connected: its run is completed with the error (contract §7.6). Never rejects:
   *  while the store is unavailable the call is hung up at once, and its run is closed when the store is back. */
  async fail(call: UnconnectedCall, error: unknown): Promise<void> {
    const { list, log } = this.#deps;
    const { id } = call.run;
    list.removeUnconnected(id);
    const fault = faultOf(error);
    try {
      await noteStartFailure(this.#deps, id, fault);
      await this.end(call, { reason: 'error', by: 'gateway', fault });
    } catch (failure) {
      log.error({ err: failure, runId: id }, 'failed call not closed yet');
      await this.#failLater(call, fault);
    }
  }

  async #failLater(call: UnconnectedCall, fault: { code: string; message: string }): Promise<void> {
    const { closing, hangUps } = this.#deps;
    const { run, provider } = call;
    if (run.providerCallId !== null) await hangUps.attempt(call, run.providerCallId, run.id);
    const ending = { reason: 'error', by: 'gateway', fault, provider: provider.name } as const;
    await closing.endSurely(run, {
      ...ending,
      onCompleting: () => noteStartFailure(this.#deps, run.id, fault),
    });
  }

  /** As `fail`, unless another process has adopted the call meanwhile. Never rejects. */
  async failOwn(call: UnconnectedCall, error: unknown): Promise<void> {
    const { store, list } = this.#deps;
    const { id } = call.run;
    // While the store is away, no other process can adopt it either.
    const owner = await store.runs.owner(id).catch(() => undefined);
    if (owner?.isOwn === false) list.removeUnconnected(id);
    else await this.fail(call, error);
  }

  /** Ends a call that this process will not answer any more, and that no other has adopted. Throws if the store is
   *  unavailable. */
  async abandon(call: UnconnectedCall, fault?: RunEnding['fault']): Promise<void> {
    const { store, list } = this.#deps;
    const { id } = call.run;
    list.removeUnconnected(id);
    const [run, owner] = await Promise.all([store.runs.find(id), store.runs.owner(id)]);
    if (run?.state !== 'initialized' || owner?.isOwn === false) return;
    const ending = { reason: 'system_cancelled', by: 'gateway' } as const;
    await this.end({ ...call, run }, fault === undefined ? ending : { ...ending, fault });
  }
}

function faultOf(error: unknown): { code: string; message: string } {
  const message = error instanceof GatewayError ? error.message : 'unexpected error';
  return { code: codeOf(error) ?? 'UNEXPECTED', message };
}

/** A call that was answered and ended without media has failed to connect. */
export function unconnectedReason(status: TerminalStatus): EndReason {
  return status === 'completed' ? 'system_connect_error' : status;
}

/** Stores why a call could not be started, for `startFailure` and for clients that read the run. At most once for
 *  each run. */
export async function noteStartFailure(
  { store, clock }: Pick<UnconnectedCallsDeps, 'store' | 'clock'>,
  runId: string,
  { code, message: error }: { code: string; message: string },
): Promise<void> {
  await store.runs.appendCallback(runId, 'start-failed', {
    status: 'failed',
    timestamp: stamp(clock.now()),
    data: { error, code },
  });
}

/** Why the run's call could not be started: a text for clients and the error's code, null if it is not stored.
 *  Undefined if the call was started. */
export function startFailure({
  logs,
}: Run): { reason: string; code: ErrorCode | null } | undefined {
  const entries = logs['telephony_status_callbacks'];
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    // Entries of a provider's callbacks have the id of their call.
    if (!isObject(entry) || 'call_id' in entry || !isObject(entry['data'])) continue;
    const { error: reason, code } = entry['data'];
    if (typeof reason !== 'string') continue;
    return { reason, code: typeof code === 'string' && isErrorCode(code) ? code : null };
  }
  return undefined;
}
