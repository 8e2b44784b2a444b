// The line of a run's call at the provider, hung up by what the store knows of it: for calls that no
// session of this process holds.

import { GatewayError } from '../errors.ts';
import { providerName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { deadlineSignal } from '../std/deadline.ts';
import type { CallDeps } from './deps.ts';

const HANG_UP_MS = 5_000;

/** Throws CALL_OUT_OF_REACH if nobody knows how to reach the call, and PROVIDER_* codes. */
export async function hangUpLine(
  { store, clock, providers }: Pick<CallDeps, 'store' | 'clock' | 'providers'>,
  run: Run,
): Promise<void> {
  const { organizationId, configurationId, providerCallId } = run;
  const mode = providerName.safeParse(run.mode);
  const provider = mode.success ? providers.byName(mode.data) : undefined;
  if (provider === undefined || providerCallId === null || configurationId === null) {
    throw new GatewayError('CALL_OUT_OF_REACH');
  }
  const deadline = deadlineSignal(clock, HANG_UP_MS, 'hang up');
  try {
    const configuration = await store.telephony.getConfiguration(organizationId, configurationId);
    if (configuration === undefined) throw new GatewayError('CALL_OUT_OF_REACH');
    await provider.control.hangUp(configuration.credentials, providerCallId, deadline.signal);
  } finally {
    deadline.done();
  }
}
