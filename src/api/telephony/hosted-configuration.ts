// A stored configuration of a hosted provider, for the doctor and the routing of inbound calls.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { ExaminedNumber } from '../../telephony/doctor/hosted-doctor.ts';
import { type HostedProvider, isHosted } from '../../telephony/provider/provider.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** Numbers that are checked; each is a request to the provider. */
const NUMBERS_MAX = 50;

/** The configuration's hosted provider; undefined for a PBX. Throws PROVIDER_NOT_BUILT. */
export function hostedProviderOf(deps: ApiDeps, name: ProviderName): HostedProvider | undefined {
  const provider = deps.providerByName(name);
  if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
  return isHosted(provider) ? provider : undefined;
}

/** The configuration's active numbers, at most NUMBERS_MAX, those with an agent first. `more`: number of further
 *  ones with an agent. */
export async function hostedNumbers(
  deps: ApiDeps,
  configurationId: string,
  provider: HostedProvider,
): Promise<{ numbers: ExaminedNumber[]; more: number }> {
  const stored = await deps.store.telephony.listNumbers(configurationId);
  const active = stored.filter(({ isActive }) => isActive);
  const inbound = active.filter(({ inboundWorkflowId }) => inboundWorkflowId !== null);
  const others = active.filter(({ inboundWorkflowId }) => inboundWorkflowId === null);
  const numbers = [...inbound, ...others].slice(0, NUMBERS_MAX).map((number) => ({
    address: number.address,
    providerAddress: provider.formatAddress(number.addressNormalized),
    isTelephone: number.addressType === 'pstn',
    isInbound: number.inboundWorkflowId !== null,
  }));
  return { numbers, more: Math.max(0, inbound.length - NUMBERS_MAX) };
}
