// Hanging a call up on a client's word, whether it rings or talks, here or on another node. A call that
// is over already stays as it is.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import { withDeadline } from '../../std/deadline.ts';
import type { CallRegistry } from '../connect/call-registry.ts';
import { abandonCall } from '../connect/end-unconnected.ts';
import type { CallDeps } from '../setup/call-deps.ts';

/** A call is closed in less; who asked does not wait longer, the closing goes on. */
const END_MS_MAX = 5_000;
/** A call that is just being let in becomes a session, or is turned away. */
const LOOK_MS = 50;
const LOOKS_MAX = 40;

/** The run as it is afterwards; another node's is completed a moment later. Throws RUN_NOT_FOUND,
 *  RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
export async function hangUpRun(
  deps: CallDeps,
  roster: CallRegistry,
  { organizationId, runId }: { organizationId: string; runId: string },
): Promise<Run> {
  const { runs, starts } = deps.store;
  const run = await runs.get(organizationId, runId);
  if (run === undefined) throw new GatewayError('RUN_NOT_FOUND');
  if (run.state === 'completed') return run;
  const isIdle = await starts.isIdle(runId);
  if (isIdle && run.state !== 'initialized') throw new GatewayError('RUN_WITHOUT_CALL'); // A text chat.
  // Another node's call ends for a reason of its own: this says who wanted it.
  await runs.patch(runId, { gatheredContext: { hang_up_requested_by: 'api' } });
  await (isIdle ? closeIdle(deps, roster, run) : end(deps, roster, run));
  return (await runs.get(organizationId, runId)) ?? run;
}

/** Closes a run that was never dialled, with the call that is started meanwhile. */
async function closeIdle(deps: CallDeps, roster: CallRegistry, run: Run): Promise<void> {
  await deps.closing.end(run, { reason: 'system_cancelled', by: 'gateway' });
  roster.removeUnconnected(run.id);
  await hangUpRest(deps, run);
}

async function end(deps: CallDeps, roster: CallRegistry, run: Run): Promise<void> {
  const waiting = roster.unconnected().find((call) => call.run.id === run.id);
  if (waiting !== undefined) await abandonCall(deps, roster, waiting);
  for (let looks = 0; roster.connected(run.id) && looks < LOOKS_MAX; looks++) {
    const session = roster.session(run.id);
    if (session !== undefined) {
      const ending = session.end('system_cancelled', 'gateway');
      await withDeadline(deps.clock, END_MS_MAX, 'end the call', ending).catch(() => undefined); // It goes on.
      return;
    }
    await new Promise<void>((resolve) => deps.clock.after(LOOK_MS, resolve));
  }
  await hangUpRest(deps, run);
}

/** What we placed may be talking on another node, and a call may have been named by the provider while
 *  its run was being closed: whoever names it later sees that it is, and hangs it up. */
async function hangUpRest(deps: CallDeps, known: Run): Promise<void> {
  const current = await deps.store.runs.find(known.id);
  if (current === undefined) return;
  const isNamedSince = known.providerCallId === null && current.providerCallId !== null;
  if (current.state !== 'completed' || isNamedSince) await deps.hangUps.hangUpRun(current);
}
