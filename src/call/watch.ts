// A call that was dialled or answered but whose media has not come: after a while the provider is asked
// what became of it, and the run is closed. Callbacks can be lost; a run must not stay open for ever.

import type { EndReason } from '../model/end-reason.ts';
import { isTerminal } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { TelephonyConfiguration } from '../model/telephony.ts';
import { deadlineSignal } from '../std/deadline.ts';
import type { CallSnapshot, TelephonyProvider } from '../telephony/provider.ts';
import type { CallDeps } from './deps.ts';
import type { Roster } from './roster.ts';
import { closeUnconnected, unconnectedReason } from './unconnected.ts';
import { RING_S } from './urls.ts';

/** After ringing has ended for certain. */
const LOOK_MS = (RING_S + 30) * 1_000;
const AGAIN_MS = 30_000;
/** Looks before the call is taken for lost. */
const LOOKS_MAX = 3;
const ASK_MS = 10_000;

interface Watched {
  run: Run;
  configuration: TelephonyConfiguration;
  provider: TelephonyProvider;
}

export function watchForMedia(deps: CallDeps, roster: Roster, call: Watched): void {
  let looks = 0;
  const look = async (): Promise<void> => {
    if (roster.session(call.run.id) !== undefined) return;
    const run = await deps.store.runs.find(call.run.id);
    if (run === undefined || run.state !== 'initialized') return;
    looks += 1;
    const snapshot = await ask(deps, call.provider, { ...call, run });
    const reason = verdict(snapshot);
    if (reason === undefined && looks < LOOKS_MAX) {
      schedule(AGAIN_MS);
      return;
    }
    roster.take(run.id);
    await closeUnconnected(deps, { ...call, run }, reason ?? 'system_connect_error');
  };
  const schedule = (ms: number): void => {
    deps.clock.after(ms, () => {
      look().catch((error: unknown) => {
        deps.log.error({ err: error, runId: call.run.id }, 'call not looked up');
        if (looks < LOOKS_MAX) schedule(AGAIN_MS);
      });
    });
  };
  schedule(LOOK_MS);
}

/** How an unconnected call ended at the provider; undefined while it may still come. */
function verdict(snapshot: CallSnapshot | undefined): EndReason | undefined {
  if (snapshot === undefined || !isTerminal(snapshot.status)) return undefined;
  return unconnectedReason(snapshot.status);
}

async function ask(
  deps: CallDeps,
  provider: TelephonyProvider,
  { run, configuration }: Watched,
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
