// A stored configuration of a hosted provider, as the doctor and the routing of inbound calls take it.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { ExaminedNumber } from '../../telephony/doctor/hosted-doctor.ts';
import { type HostedProvider, isHosted } from '../../telephony/provider/provider.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** Each is a request to the provider. */
const NUMBERS_MAX = 50;

/** Undefined for a PBX. Throws PROVIDER_NOT_BUILT. */
export function hostedProviderOf(deps: ApiDeps, name: ProviderName): HostedProvider | undefined {
  const provider = deps.providerByName(name);
  if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
  return isHosted(provider) ? provider : undefined;
}

/** The configuration's active numbers, at most NUMBERS_MAX. */
export async function hostedNumbers(
  deps: ApiDeps,
  configurationId: string,
  provider: HostedProvider,
): Promise<ExaminedNumber[]> {
  const numbers = await deps.store.telephony.listNumbers(configurationId);
  return numbers
    .filter(({ isActive }) => isActive)
    .slice(0, NUMBERS_MAX)
    .map(({ address, addressNormalized, inboundWorkflowId }) => ({
      address,
      providerAddress: provider.formatAddress(addressNormalized),
      isInbound: inboundWorkflowId !== null,
    }));
}
