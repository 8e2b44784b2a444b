// Closes a run whose call never reached our media: busy, not answered, refused, failed, lost.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { TerminalStatus } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import { isObject } from '../../std/json.ts';
import { stamp } from '../log/transcript.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import type { CallRegistry, UnconnectedCall } from './call-registry.ts';

interface Closing {
  reason: EndReason;
  /** `provider` if it says that the call is over; else the call is hung up. */
  by: 'provider' | 'gateway';
  fault?: { code: string; message: string };
}

/** A call that was answered and ended without media has failed to connect. */
export function unconnectedReason(status: TerminalStatus): EndReason {
  return status === 'completed' ? 'system_connect_error' : status;
}

/** Several may come here for one run: the first one's reason stands, and the line is hung up once. */
export async function endUnconnected(
  deps: CallDeps,
  call: UnconnectedCall,
  { reason, by, fault }: Closing,
): Promise<void> {
  const { run, provider } = call;
  const { providerCallId } = run;
  await deps.closing.end(run, {
    reason,
    by,
    provider: provider.name,
    ...(fault === undefined ? {} : { fault }),
    onClaimed: async () => {
      if (by === 'gateway' && providerCallId !== null) {
        await deps.hangUps.attempt(call, providerCallId, run.id);
      }
    },
  });
}

/** Contract §7.6: a call that could not be begun leaves a completed run that says what went wrong.
 *  Never throws: a run that stays open is closed by its watchdog. */
export async function closeFailed(
  deps: CallDeps,
  call: UnconnectedCall,
  error: unknown,
): Promise<void> {
  const { run } = call;
  const message = error instanceof GatewayError ? error.message : 'unexpected error';
  const fault = { code: codeOf(error) ?? 'UNEXPECTED', message };
  try {
    await deps.store.runs.appendCallback(run.id, 'start-failed', {
      status: 'failed',
      timestamp: stamp(deps.clock.now()),
      data: { error: message },
    });
    await endUnconnected(deps, call, { reason: 'error', by: 'gateway', fault });
  } catch (failure) {
    deps.log.error({ err: failure, runId: run.id }, 'failed call not closed');
  }
}

/** For a call that rang when its gateway was lost: it may be placed again. */
export const GATEWAY_STOPPED = {
  code: 'GATEWAY_STOPPED',
  message: 'The gateway stopped before anybody answered',
};

/** Ends a call that no gateway will answer any more. Throws if the store is away. */
export async function abandonCall(
  deps: CallDeps,
  registry: Pick<CallRegistry, 'removeUnconnected'>,
  call: UnconnectedCall & { fault?: Closing['fault'] },
): Promise<void> {
  const { id } = call.run;
  const { fault } = call;
  registry.removeUnconnected(id);
  const run = await deps.store.runs.find(id);
  if (run?.state !== 'initialized') return;
  const closing = { reason: 'system_cancelled', by: 'gateway' } as const;
  await endUnconnected(deps, { ...call, run }, fault ? { ...closing, fault } : closing);
}

/** Why the run's call could not be begun; undefined if it was. In words for clients. */
export function startFailure({ logs }: Run): string | undefined {
  const entries = logs['telephony_status_callbacks'];
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    // A provider's own entry names its call.
    if (!isObject(entry) || 'call_id' in entry || !isObject(entry['data'])) continue;
    const { error } = entry['data'];
    if (typeof error === 'string') return error;
  }
  return undefined;
}
