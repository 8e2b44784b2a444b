// The line of a run's call at the provider, by what the store knows of it: for calls that no session of
// this process holds.

import { GatewayError } from '../../errors/gateway-error.ts';
import { providerName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { ConfigurationSummary } from '../../store/telephony/telephony-store.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { CallDeps } from '../setup/call-deps.ts';

const HANG_UP_MS = 5_000;

export interface Line {
  provider: TelephonyProvider;
  configuration: ConfigurationSummary;
}

/** Over what the run's call goes; undefined if the provider is not built, or the configuration is gone. */
export async function providerCallOf(
  { store, providers }: Pick<CallDeps, 'store' | 'providers'>,
  { organizationId, configurationId, mode }: Run,
): Promise<Line | undefined> {
  const name = providerName.safeParse(mode);
  const provider = name.success ? providers.byName(name.data) : undefined;
  if (provider === undefined || configurationId === null) return undefined;
  const configuration = await store.telephony.getConfiguration(organizationId, configurationId);
  return configuration && { provider, configuration };
}

/** Throws CALL_OUT_OF_REACH if nobody knows how to reach the call, and PROVIDER_* codes. */
export async function hangUpAtProvider(
  deps: Pick<CallDeps, 'store' | 'clock' | 'providers'>,
  run: Run,
): Promise<void> {
  const { providerCallId } = run;
  const line = providerCallId === null ? undefined : await providerCallOf(deps, run);
  if (providerCallId === null || line === undefined) throw new GatewayError('CALL_OUT_OF_REACH');
  const { provider, configuration } = line;
  const deadline = deadlineSignal(deps.clock, HANG_UP_MS, 'hang up');
  try {
    await provider.control.hangUp(configuration.credentials, providerCallId, deadline.signal);
  } finally {
    deadline.done();
  }
}
