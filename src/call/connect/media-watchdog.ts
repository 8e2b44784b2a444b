// A call that was dialled or answered but whose media has not come: after a while the provider is asked
// what became of it, and the run is closed. Callbacks can be lost; a run must not stay open for ever.

import type { EndReason } from '../../model/end-reason.ts';
import { isTerminal } from '../../model/provider.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { CallSnapshot, TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { RING_S } from '../setup/callback-urls.ts';
import type { CallRegistry, UnconnectedCall } from './call-registry.ts';
import { endUnconnected, unconnectedReason } from './end-unconnected.ts';

/** After ringing has ended for certain. */
const LOOK_MS = (RING_S + 30) * 1_000;
const AGAIN_MS = 30_000;
/** Looks before the call is taken for lost. */
const LOOKS_MAX = 3;
/** Looks that the store may fail: half an hour. What is open then is closed at the next start. */
const FAILURES_MAX = 60;
const ASK_MS = 10_000;

export function startMediaWatchdog(
  deps: CallDeps,
  roster: CallRegistry,
  call: UnconnectedCall,
): void {
  const { id } = call.run;
  let looks = 0;
  let failures = 0;
  /** False once there is nothing more to watch. */
  const look = async (): Promise<boolean> => {
    const run = await deps.store.runs.find(id);
    if (run === undefined || run.state !== 'initialized') {
      letGo(deps, roster, id); // Another process may have seen to it.
      return false;
    }
    const owner = await deps.store.runs.owner(id);
    if (owner?.isOwn === false) {
      letGo(deps, roster, id); // It watches, or is dead and has its calls closed.
      return false;
    }
    const reason = verdict(await ask(deps, call.provider, { ...call, run }));
    if (roster.connected(id)) return true; // It came while we asked.
    looks += 1;
    if (reason === undefined && looks < LOOKS_MAX) return true;
    roster.removeUnconnected(id);
    await endUnconnected(
      deps,
      { ...call, run },
      reason === undefined
        ? { reason: 'system_connect_error', by: 'gateway' }
        : { reason, by: 'provider' },
    );
    return false;
  };
  const schedule = (ms: number): void => {
    deps.clock.after(ms, () => {
      look().then(
        (more) => {
          if (more) schedule(AGAIN_MS);
        },
        (error: unknown) => {
          failures += 1;
          deps.log.error({ err: error, runId: id }, 'call not looked up');
          if (failures < FAILURES_MAX) schedule(AGAIN_MS);
          else roster.removeUnconnected(id);
        },
      );
    });
  };
  schedule(LOOK_MS);
}

/** What this process knows of a call that it does not hold any more. */
function letGo(deps: CallDeps, roster: CallRegistry, runId: string): void {
  roster.removeUnconnected(runId);
  if (!roster.connected(runId)) deps.events.release(runId);
}

/** How an unconnected call ended at the provider; undefined while it may still come. */
function verdict(snapshot: CallSnapshot | undefined): EndReason | undefined {
  if (snapshot === undefined || !isTerminal(snapshot.status)) return undefined;
  return unconnectedReason(snapshot.status);
}

async function ask(
  deps: CallDeps,
  provider: TelephonyProvider,
  { run, configuration }: UnconnectedCall,
): Promise<CallSnapshot | undefined> {
  if (run.providerCallId === null) return undefined;
  const deadline = deadlineSignal(deps.clock, ASK_MS, 'look up the call');
  try {
    return await provider.control.getCall(
      configuration.credentials,
      run.providerCallId,
      deadline.signal,
    );
  } catch (error) {
    deps.log.warn({ err: error, runId: run.id }, 'provider does not say what became of a call');
    return undefined;
  } finally {
    deadline.done();
  }
}
