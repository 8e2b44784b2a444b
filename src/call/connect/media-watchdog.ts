// Watchdog for a call that was dialled or answered but has no media: after a while it asks the provider for the
// call's state and closes the run. Callbacks can be lost; a run must not stay open for ever.

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
/** Checks before the call counts as lost. */
const LOOKS_MAX = 3;
/** Checks that may fail in the store: half an hour. Runs still open then are closed at the next start. */
const FAILURES_MAX = 60;
const ASK_MS = 10_000;

export function startMediaWatchdog(
  deps: CallDeps,
  registry: CallRegistry,
  call: UnconnectedCall,
): void {
  const { id } = call.run;
  let looks = 0;
  let failures = 0;
  /** False once there is nothing more to watch. */
  const look = async (): Promise<boolean> => {
    const run = await deps.store.runs.find(id);
    if (run === undefined || run.state !== 'initialized') {
      release(deps, registry, id); // Another process may have closed it.
      return false;
    }
    const owner = await deps.store.runs.owner(id);
    if (owner?.isOwn === false) {
      release(deps, registry, id); // The owner watches it; the calls of a dead owner are recovered.
      return false;
    }
    const reason = verdict(await ask(deps, call.provider, { ...call, run }));
    if (registry.connected(id)) return true; // It came while we asked.
    looks += 1;
    if (reason === undefined && looks < LOOKS_MAX) return true;
    registry.removeUnconnected(id);
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
          else registry.removeUnconnected(id);
        },
      );
    });
  };
  schedule(LOOK_MS);
}

/** Forgets a call that this process does not hold any more. */
function release(deps: CallDeps, registry: CallRegistry, runId: string): void {
  registry.removeUnconnected(runId);
  if (!registry.connected(runId)) deps.events.release(runId);
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
    deps.log.warn({ err: error, runId: run.id }, 'call not looked up at the provider');
    return undefined;
  } finally {
    deadline.done();
  }
}
