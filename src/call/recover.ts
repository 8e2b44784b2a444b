// What a killed process left behind: runs that are open and that nobody runs any more. Each is closed
// with what was stored, and the provider is told to hang up.

import { providerName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { deadlineSignal } from '../std/deadline.ts';
import { providerByName } from '../telephony/registry.ts';
import type { CallDeps } from './deps.ts';
import { finishRun } from './finish-run.ts';

const HANG_UP_MS = 5_000;

/** Closes every open run of this node; returns how many. One that fails is logged and left. */
export async function recoverRuns(deps: CallDeps, node: string): Promise<number> {
  const open = await deps.store.runs.openRuns(node);
  let closed = 0;
  for (const run of open) {
    try {
      await recover(deps, run);
      closed += 1;
    } catch (error) {
      deps.log.error({ err: error, runId: run.id }, 'open run not closed');
    }
  }
  return closed;
}

async function recover(deps: CallDeps, run: Run): Promise<void> {
  const runLog = await deps.events.open(run.id);
  const mediaMs = runLog.events.reduce((last, event) => Math.max(last, event.mediaMs), 0);
  const message = 'The gateway stopped during the call';
  const reason = run.state === 'running' ? 'unexpected_error' : 'system_connect_error';
  // The call may have ended well before its outcome could be stored.
  const hasEnded = runLog.events.some(({ body }) => body.type === 'call.ended');
  if (!hasEnded) {
    const durationS = mediaMs / 1_000;
    runLog.append({ type: 'fault', code: 'GATEWAY_STOPPED', message, fatal: true }, mediaMs);
    runLog.append({ type: 'call.ended', reason, by: 'gateway', durationS }, mediaMs);
  }
  await deps.events.flush();
  const version = await deps.store.workflows.version(run.workflowId, run.definitionId);
  await finishRun(deps, run, {
    events: runLog.events,
    fallbackReason: reason,
    settings: version?.configurations ?? {},
    ...(hasEnded ? {} : { error: message }),
  });
  deps.events.release(run.id);
  if (!hasEnded) await hangUp(deps, run);
}

/** The provider may still hold the line open. */
async function hangUp(deps: CallDeps, run: Run): Promise<void> {
  const mode = providerName.safeParse(run.mode);
  const provider = mode.success ? providerByName(mode.data) : undefined;
  if (provider === undefined || run.providerCallId === null || run.configurationId === null) return;
  const { organizationId, configurationId, providerCallId } = run;
  const configuration = await deps.store.telephony.getConfiguration(
    organizationId,
    configurationId,
  );
  if (configuration === undefined) return;
  const deadline = deadlineSignal(deps.clock, HANG_UP_MS, 'hang up');
  try {
    await provider.control.hangUp(configuration.credentials, providerCallId, deadline.signal);
  } catch (error) {
    deps.log.warn({ err: error, runId: run.id }, 'left-over call not hung up');
  } finally {
    deadline.done();
  }
}
