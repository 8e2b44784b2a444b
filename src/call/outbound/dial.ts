// Puts a run's call on the line: rings it, watches it, and closes the run if the provider refuses.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import { callsRefused, callsStarted } from '../../metrics/metrics.ts';
import { RUN_CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { Run } from '../../model/run.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { jsonExcess } from '../../std/json-size.ts';
import type { DialResult } from '../../telephony/provider/provider.ts';
import type { CallRegistry } from '../connect/call-registry.ts';
import { closeFailed } from '../connect/end-unconnected.ts';
import { startMediaWatchdog } from '../connect/media-watchdog.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { CALL_S_MAX, callbackUrls, RING_S } from '../setup/callback-urls.ts';
import type { OutboundRoute } from './outbound-route.ts';

/** The provider's answer to a dial must come within this time. */
const DIAL_MS = 15_000;

export interface DialRequestOfRun {
  run: Run;
  route: OutboundRoute;
  /** As the caller named it. */
  to: string;
}

/** Throws CALL_NOT_PLACED; the run is kept then, completed. */
export async function dialRun(
  deps: CallDeps,
  roster: CallRegistry,
  { run, route, to }: DialRequestOfRun,
): Promise<void> {
  callsStarted.inc({ provider: route.provider.name, direction: 'outbound' });
  const { configuration, provider } = route;
  const call = { run, configuration, provider };
  roster.addRinging(call);
  startMediaWatchdog(deps, roster, call);
  try {
    await noteCreated(deps, { run, route, to });
    await noteDialled(deps, run, await dial(deps, { run, route, to }));
  } catch (error) {
    if (await hasBegun(deps, run)) return;
    callsRefused.inc({ code: codeOf(error) ?? 'UNEXPECTED' });
    deps.log.warn({ err: error, runId: run.id }, 'call not placed');
    roster.removeUnconnected(run.id);
    await closeFailed(deps, call, error);
    const reason = error instanceof GatewayError ? error.message : 'unexpected error';
    throw notPlaced(run, reason, error);
  }
}

/** The first event of an outbound call. */
export async function noteCreated(
  deps: CallDeps,
  { run, route, to }: DialRequestOfRun,
): Promise<void> {
  const runLog = await deps.events.open(run.id);
  const { from } = route;
  const { name } = route.provider;
  runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
}

/** The provider's answer to the dial is late or lost, but the call is there. */
async function hasBegun(deps: CallDeps, { id }: Run): Promise<boolean> {
  try {
    const current = await deps.store.runs.find(id);
    return current !== undefined && current.state !== 'initialized';
  } catch (error) {
    deps.log.error({ err: error, runId: id }, 'run not read');
    return false;
  }
}

/** The phone rings: a store that fails just now does not make the start a failure. A call that was
 *  hung up before the provider had named it is hung up there. */
export async function noteDialled(
  deps: Pick<CallDeps, 'store' | 'hangUps' | 'log'>,
  run: Run,
  dialled: DialResult,
): Promise<void> {
  const { callId, metadata } = dialled;
  try {
    const current = await deps.store.runs.patch(run.id, {
      providerCallId: callId,
      gatheredContext: { call_id: callId, ...metadata },
    });
    if (current?.state === 'completed') await deps.hangUps.hangUpRun(current);
  } catch (error) {
    deps.log.error({ err: error, runId: run.id }, 'call id not stored, or the line not hung up');
  }
}

/** Throws CONTEXT_OVERSIZED before anything is sent, PROVIDER_*. */
export async function dial(
  deps: CallDeps,
  { run, route, to }: DialRequestOfRun,
): Promise<DialResult> {
  const { provider, configuration, from } = route;
  const excess = jsonExcess(run.initialContext, RUN_CONTEXT_LIMITS);
  if (excess !== undefined) throw new GatewayError('CONTEXT_OVERSIZED', { excess });
  deps.llm?.prepare();
  const deadline = deadlineSignal(deps.clock, DIAL_MS, 'dial');
  try {
    return await provider.control.dial(
      configuration.credentials,
      {
        runId: run.id,
        from: from === null ? null : provider.formatAddress(from),
        to: provider.formatAddress(to),
        ...callbackUrls(deps.publicUrl, provider.name, run.id),
        ringS: RING_S,
        callS: Math.min(CALL_S_MAX, provider.capabilities.callS.max),
      },
      deadline.signal,
    );
  } finally {
    deadline.done();
  }
}

/** Names the stored run, so that the client finds what the call came to. */
export function notPlaced({ id, name }: Run, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('CALL_NOT_PLACED', { reason, runId: id, runName: name }, cause);
}
