// The route of an outbound call: telephony configuration, provider and caller id. Source: contract §4.1, §6.1.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { ProviderName } from '../../../model/provider.ts';
import type { PhoneNumber } from '../../../model/telephony.ts';
import { SharedReads } from '../../../std/batches.ts';
import type { Random } from '../../../std/random.ts';
import type { Store } from '../../../store/store.ts';
import type { ConfigurationSummary } from '../../../store/telephony/configurations.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';
import { needsCallerId, trunkSettingsOf } from '../../../telephony/registry/configuration.ts';

/** The client's choice of a route. */
export interface OutboundRouteQuery {
  organizationId: string;
  /** Configuration; null: the default one, or if the organization has no default the oldest that is ready. */
  configurationId: string | null;
  /** Caller id; null: the default caller, else any number. */
  fromPhoneNumberId: string | null;
}

export interface OutboundRoute {
  configuration: ConfigurationSummary;
  provider: TelephonyProvider;
  /** Normalized caller id; null: the default of the far side. */
  from: string | null;
}

/** A route before its caller id is chosen. */
export interface OutboundTrunk {
  configuration: ConfigurationSummary;
  provider: TelephonyProvider;
  /** Active numbers, oldest first. Empty only where calls need no caller id. */
  callers: readonly PhoneNumber[];
}

export interface OutboundRoutesDeps {
  store: Pick<Store, 'telephony'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  random: Random;
}

export class OutboundRoutes {
  readonly #deps: OutboundRoutesDeps;
  /** Reads that starts share: a campaign dials over one configuration many times a second. */
  readonly #configurations = new SharedReads<ConfigurationSummary | undefined>();

  constructor(deps: OutboundRoutesDeps) {
    this.#deps = deps;
  }

  /** Finds a route. Throws TELEPHONY_NOT_CONFIGURED, CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY,
   *  CONFIGURATION_INACTIVE, PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
  async find(query: OutboundRouteQuery): Promise<OutboundRoute> {
    return this.over(await this.findTrunk(query), query);
  }

  /** The route over a trunk with a caller id. Throws CALLER_ID_NOT_FOUND. */
  over(
    { configuration, provider, callers }: OutboundTrunk,
    { fromPhoneNumberId }: Pick<OutboundRouteQuery, 'fromPhoneNumberId'>,
  ): OutboundRoute {
    const caller = this.#chooseCaller(callers, fromPhoneNumberId);
    return { configuration, provider, from: caller?.addressNormalized ?? null };
  }

  /** Finds a route without a caller id. Throws TELEPHONY_NOT_CONFIGURED, CONFIGURATION_NOT_FOUND,
   *  CONFIGURATION_NOT_READY, CONFIGURATION_INACTIVE, PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
  async findTrunk(
    query: Pick<OutboundRouteQuery, 'organizationId' | 'configurationId'>,
  ): Promise<OutboundTrunk> {
    const { store, providers } = this.#deps;
    const configuration = await findConfiguration(this.#deps, query);
    const provider = providers.byName(configuration.provider);
    if (provider === undefined) {
      throw new GatewayError('PROVIDER_NOT_BUILT', { provider: configuration.provider });
    }
    const numbers = await store.telephony.listNumbers(configuration.id);
    const callers = numbers.filter(({ isActive }) => isActive);
    if (callers.length === 0 && needsCallerId(provider.name)) {
      throw new GatewayError('CALLER_ID_NOT_FOUND');
    }
    return { configuration, provider, callers };
  }

  /** The route over a given configuration; undefined if it was deleted. */
  async chosen(of: {
    organizationId: string;
    configurationId: string;
    from: string | null;
  }): Promise<OutboundRoute | undefined> {
    const { store, providers } = this.#deps;
    const { organizationId, configurationId } = of;
    const configuration = await this.#configurations.get(
      `${organizationId} ${configurationId}`,
      () => store.telephony.getConfiguration(organizationId, configurationId),
    );
    const provider = configuration && providers.byName(configuration.provider);
    return provider && { configuration, provider, from: of.from };
  }

  /** The requested number, else the default caller, else any. Throws CALLER_ID_NOT_FOUND if the requested number
   *  is not available. */
  #chooseCaller(callers: readonly PhoneNumber[], wantedId: string | null): PhoneNumber | undefined {
    if (wantedId !== null) {
      const wanted = callers.find(({ id }) => id === wantedId);
      if (wanted === undefined) throw new GatewayError('CALLER_ID_NOT_FOUND');
      return wanted;
    }
    const any = callers.length === 0 ? 0 : this.#deps.random.integer(callers.length);
    return callers.find(({ isDefaultCallerId }) => isDefaultCallerId) ?? callers[any];
  }
}

/** Finds a configuration. Neither a requested nor a default one is replaced by another: people would be called over
 *  an account that was not chosen (specification §1, rule 3). Throws TELEPHONY_NOT_CONFIGURED,
 *  CONFIGURATION_NOT_FOUND, CONFIGURATION_NOT_READY, CONFIGURATION_INACTIVE. */
export async function findConfiguration(
  deps: { store: Pick<Store, 'telephony'> },
  query: Pick<OutboundRouteQuery, 'organizationId' | 'configurationId'>,
): Promise<ConfigurationSummary> {
  const { organizationId, configurationId } = query;
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

/** Why no call can be placed over this configuration; undefined if one can. */
export function blockedReason(configuration: ConfigurationSummary): string | undefined {
  const { provider, inactiveSince, inactiveReason, activePhoneNumbers, enabledTrunks } =
    configuration;
  if (inactiveSince !== null) return inactiveReason ?? 'It is inactive.';
  if (needsCallerId(provider) && activePhoneNumbers === 0) {
    return 'Add at least one active phone number.';
  }
  if (trunkSettingsOf(provider) !== undefined && enabledTrunks === 0) {
    return 'Add a trunk, or enable one.';
  }
  return undefined;
}
