// Checks the addresses of a telephony configuration against the egress rule before it is stored. Connections check
// again: a name may resolve to another address by then.

import type { Egress } from '../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import { withDeadline } from '../../std/deadline.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';
import { addressesOf } from '../../telephony/registry/configuration.ts';
import type { ApiDeps } from '../http/api-deps.ts';

export interface ConfigurationDeps extends ApiDeps {
  /** Egress rule for the addresses of configurations. */
  egress: Pick<Egress, 'checkResolved'>;
}

/** Longest name lookup. A slower name server does not prevent storing: the connection checks again. */
const LOOKUP_MS_MAX = 2_000;

/** Throws CONFIGURATION_ADDRESS_FORBIDDEN. */
export async function checkAddresses(
  { egress, clock }: ConfigurationDeps,
  provider: ConfiguredProviderName,
  credentials: ProviderCredentials,
): Promise<void> {
  for (const { field, url } of addressesOf(provider, credentials)) {
    try {
      await withDeadline(clock, LOOKUP_MS_MAX, 'name of a host', egress.checkResolved(url));
    } catch (error) {
      if (codeOf(error) === 'TIMED_OUT') continue;
      if (codeOf(error) !== 'OUTSIDE_FORBIDDEN' || !(error instanceof GatewayError)) throw error;
      const reason = error.facts['reason'] ?? 'a private network';
      throw new GatewayError('CONFIGURATION_ADDRESS_FORBIDDEN', { field, reason }, error);
    }
  }
}
