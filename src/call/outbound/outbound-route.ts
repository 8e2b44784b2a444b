// Over what a call goes out: telephony configuration, provider and caller id. Source: contract §6.1.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { PhoneNumber } from '../../model/telephony.ts';
import type { ConfigurationSummary } from '../../store/telephony/telephony-store.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import { needsCallerId } from '../../telephony/registry/configuration.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { blockedReason } from './outbound-readiness.ts';

/** What the one who starts a call asks for. */
export interface OutboundRouteQuery {
  organizationId: string;
  /** Null: the default configuration; of an organization without one, the oldest that is ready. */
  configurationId: string | null;
  /** Null: the default caller, else any number. */
  fromPhoneNumberId: string | null;
}

export interface OutboundRoute {
  configuration: ConfigurationSummary;
  provider: TelephonyProvider;
  /** The caller id, normalized; null: whatever the far side shows by itself. */
  from: string | null;
}

/** What a call goes out over, before its caller id is chosen. */
export interface OutboundTrunk {
  configuration: ConfigurationSummary;
  provider: TelephonyProvider;
  /** Active ones, oldest first; none only where calls go out without one. */
  callers: readonly PhoneNumber[];
}

/** Throws TELEPHONY_NOT_CONFIGURED, CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY,
 *  CONFIGURATION_INACTIVE, PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
export async function findOutboundRoute(
  deps: CallDeps,
  wish: OutboundRouteQuery,
): Promise<OutboundRoute> {
  const { configuration, provider, callers } = await findOutboundTrunk(deps, wish);
  const from = chooseCaller(deps, callers, wish.fromPhoneNumberId)?.addressNormalized ?? null;
  return { configuration, provider, from };
}

/** Throws TELEPHONY_NOT_CONFIGURED, CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY,
 *  CONFIGURATION_INACTIVE, PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
export async function findOutboundTrunk(
  deps: Pick<CallDeps, 'store' | 'providers'>,
  wish: Pick<OutboundRouteQuery, 'organizationId' | 'configurationId'>,
): Promise<OutboundTrunk> {
  const configuration = await findConfiguration(deps, wish);
  const provider = deps.providers.byName(configuration.provider);
  if (provider === undefined) {
    throw new GatewayError('PROVIDER_NOT_BUILT', { provider: configuration.provider });
  }
  const numbers = await deps.store.telephony.listNumbers(configuration.id);
  const callers = numbers.filter(({ isActive }) => isActive);
  if (callers.length === 0 && needsCallerId(provider.name)) {
    throw new GatewayError('CALLER_ID_NOT_FOUND');
  }
  return { configuration, provider, callers };
}

/** Neither the configuration asked for nor the default falls through to another one: people would be called
 *  over an account that nobody chose (specification §1, rule 3). Throws TELEPHONY_NOT_CONFIGURED,
 *  CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY, CONFIGURATION_INACTIVE. */
export async function findConfiguration(
  deps: { store: Pick<CallDeps['store'], 'telephony'> },
  wish: Pick<OutboundRouteQuery, 'organizationId' | 'configurationId'>,
): Promise<ConfigurationSummary> {
  const { organizationId, configurationId } = wish;
  const { telephony } = deps.store;
  if (configurationId !== null) {
    const named = await telephony.getConfiguration(organizationId, configurationId);
    if (named === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
    return readyOnly(named);
  }
  const all = await telephony.listConfigurations(organizationId);
  const chosen = all.find(({ isDefaultOutbound }) => isDefaultOutbound);
  if (chosen !== undefined) return readyOnly(chosen);
  const ready = all.find((each) => blockedReason(each) === undefined);
  if (ready !== undefined) return ready;
  const first = all.find(({ inactiveSince }) => inactiveSince === null) ?? all[0];
  if (first === undefined) throw new GatewayError('TELEPHONY_NOT_CONFIGURED');
  return readyOnly(first);
}

/** Throws CONFIGURATION_NOT_READY, CONFIGURATION_INACTIVE. */
function readyOnly(configuration: ConfigurationSummary): ConfigurationSummary {
  const reason = blockedReason(configuration);
  if (reason === undefined) return configuration;
  const { name, inactiveSince } = configuration;
  const code = inactiveSince === null ? 'CONFIGURATION_NOT_READY' : 'CONFIGURATION_INACTIVE';
  throw new GatewayError(code, { name, reason });
}

/** The one asked for, else the default caller, else any. Throws CALLER_ID_NOT_FOUND if the one asked
 *  for is none of them. */
function chooseCaller(
  deps: CallDeps,
  callers: readonly PhoneNumber[],
  wantedId: string | null,
): PhoneNumber | undefined {
  if (wantedId !== null) {
    const wanted = callers.find(({ id }) => id === wantedId);
    if (wanted === undefined) throw new GatewayError('CALLER_ID_NOT_FOUND');
    return wanted;
  }
  const fallback = callers[callers.length === 0 ? 0 : deps.random.integer(callers.length)];
  return callers.find(({ isDefaultCallerId }) => isDefaultCallerId) ?? fallback;
}
