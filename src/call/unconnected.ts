// Closes a run whose call never reached our media: busy, not answered, refused, lost.

import { callsEnded } from '../metrics.ts';
import type { EndReason } from '../model/end-reason.ts';
import type { TerminalStatus } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { TelephonyConfiguration } from '../model/telephony.ts';
import { deadlineSignal } from '../std/deadline.ts';
import type { TelephonyProvider } from '../telephony/provider.ts';
import type { CallDeps } from './deps.ts';
import { finishRun } from './finish-run.ts';

const HANG_UP_MS = 5_000;

/** A call that was answered and ended without our hearing it has failed to connect. */
export function unconnectedReason(status: TerminalStatus): EndReason {
  return status === 'completed' ? 'system_connect_error' : status;
}

export async function closeUnconnected(
  deps: CallDeps,
  call: { run: Run; configuration: TelephonyConfiguration; provider: TelephonyProvider },
  reason: EndReason,
): Promise<void> {
  const { run, provider } = call;
  const runLog = await deps.events.open(run.id);
  if (reason === 'system_connect_error') await hangUp(deps, call);
  runLog.append({ type: 'call.ended', reason, by: 'provider', durationS: 0 }, 0);
  await deps.events.flush();
  await finishRun(deps, run, { events: runLog.events, fallbackReason: reason, settings: {} });
  deps.events.release(run.id);
  callsEnded.inc({ provider: provider.name, reason });
}

/** Best effort: a call that we lost sight of must not stay up. */
async function hangUp(
  deps: CallDeps,
  call: { run: Run; configuration: TelephonyConfiguration; provider: TelephonyProvider },
): Promise<void> {
  const { run, configuration, provider } = call;
  if (run.providerCallId === null) return;
  const deadline = deadlineSignal(deps.clock, HANG_UP_MS, 'hang up');
  try {
    await provider.control.hangUp(configuration.credentials, run.providerCallId, deadline.signal);
  } catch (error) {
    deps.log.warn({ err: error, runId: run.id }, 'lost call not hung up');
  } finally {
    deadline.done();
  }
}
