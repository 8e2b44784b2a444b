// Hanging a call up on a client's word, whether it rings or talks, here or on another node. A call that
// is over already stays as it is.

import { GatewayError } from '../errors.ts';
import type { Run } from '../model/run.ts';
import { within } from '../std/deadline.ts';
import type { CallDeps } from './deps.ts';
import { hangUpLine } from './line.ts';
import type { Roster } from './roster.ts';
import { giveUp } from './unconnected.ts';

/** A call is closed in less; who asked does not wait longer, the closing goes on. */
const END_MS_MAX = 5_000;
/** A call that is just being let in becomes a session, or is turned away. */
const LOOK_MS = 50;
const LOOKS_MAX = 40;

/** The run as it is afterwards; another node's is completed a moment later. Throws RUN_NOT_FOUND,
 *  RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
export async function hangUpRun(
  deps: CallDeps,
  roster: Roster,
  { organizationId, runId }: { organizationId: string; runId: string },
): Promise<Run> {
  const { runs, starts } = deps.store;
  const run = await runs.get(organizationId, runId);
  if (run === undefined) throw new GatewayError('RUN_NOT_FOUND');
  if (run.state === 'completed') return run;
  if (await starts.isIdle(runId)) throw new GatewayError('RUN_WITHOUT_CALL');
  // Another node's call ends for a reason of its own: this says who wanted it.
  await runs.patch(runId, { gatheredContext: { hang_up_requested_by: 'api' } });
  await end(deps, roster, run);
  return (await runs.get(organizationId, runId)) ?? run;
}

async function end(deps: CallDeps, roster: Roster, run: Run): Promise<void> {
  const waiting = roster.unconnected().find((call) => call.run.id === run.id);
  if (waiting !== undefined) return giveUp(deps, roster, waiting);
  for (let looks = 0; roster.connected(run.id) && looks < LOOKS_MAX; looks++) {
    const session = roster.session(run.id);
    if (session !== undefined) {
      const ending = session.end('system_cancelled', 'gateway');
      await within(deps.clock, END_MS_MAX, 'end the call', ending).catch(() => undefined); // It goes on.
      return;
    }
    await new Promise<void>((resolve) => deps.clock.after(LOOK_MS, resolve));
  }
  await hangUpLine(deps, run);
}
