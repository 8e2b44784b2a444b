// Legs of a call at a PBX: an agent has transferred the caller into the dialplan, and the dialplan sends the same
// channel to the gateway again. The next leg has a run of its own, which continues the one before.

import type { Run } from '../../../model/run.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';
import type { Store } from '../../../store/store.ts';
import type { PbxInboundCall } from '../../../telephony/provider/pbx.ts';
import { legNumberOf } from '../setup/call-context.ts';

/** Longest wait until the run of the leg before is completed: the closing of a session takes a few seconds at most. */
const CLOSED_MS_MAX = 15_000;
const LOOK_MS = 100;
/** Legs of one call. An agent that transfers at once, into a queue that returns at once, would go on for ever. */
const LEGS_MAX = 20;

export interface CallLegsDeps {
  store: Pick<Store, 'runs'>;
  clock: Clock;
}

/** The last run of the call. If the call has come back, its run is being completed: waits for that. `gone`: aborted when
 *  the caller has hung up. */
export async function lastRunOf(
  { store, clock }: CallLegsDeps,
  { configurationId, call }: { configurationId: string; call: PbxInboundCall },
  gone: AbortSignal,
): Promise<Run | undefined> {
  const look = () => store.runs.findByProviderCall(configurationId, call.callId);
  let run = await look();
  if (!call.isBack) return run;
  const deadline = deadlineSignal(clock, CLOSED_MS_MAX, 'close the leg before', gone);
  while (run !== undefined && run.state !== 'completed' && !deadline.signal.aborted) {
    await pause(clock, LOOK_MS, deadline.signal);
    run = await look();
  }
  deadline.done();
  return run;
}

/** Whether another leg may follow the run: its agent has transferred the caller. */
export function isTransferred(run: Run): boolean {
  return run.state === 'completed' && run.gatheredContext['call_status'] === 'transfer_call';
}

export function isLastLeg({ gatheredContext }: Run): boolean {
  return legNumberOf(gatheredContext) >= LEGS_MAX;
}

/** The party at the far end of the next leg. The PBX shows the gateway's own number for a call that the gateway
 *  dialled. */
export function partyOf(before: Run | undefined, call: PbxInboundCall): string {
  if (before?.callType !== 'outbound') return call.from;
  return String(before.initialContext['called_number'] ?? call.from);
}
