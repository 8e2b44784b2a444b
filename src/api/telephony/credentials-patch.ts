// Changes to stored credentials: sent values replace stored ones; masks and omitted fields keep them. Source:
// specification §4.2, contract decision 5.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';
import {
  accountIdOf,
  configurationSchema,
  misdirected,
  type ProviderConfigurationPatch,
  restoreMasked,
  secretFieldsOf,
  staleMask,
} from '../../telephony/registry/configuration.ts';
import { RequestInvalid, validationItems, valueError } from '../http/validation.ts';

export interface CredentialsPatch {
  credentials: ProviderCredentials;
  accountId: string | null;
  secretFields: readonly string[];
}

/** Throws RequestInvalid for a mask that stands for no stored secret. */
export function refuseStaleMask(
  provider: ConfiguredProviderName,
  incoming: ProviderCredentials,
  stored: ProviderCredentials,
): void {
  const path = staleMask(provider, incoming, stored);
  if (path === undefined) return;
  const message = 'a masked value that is not the one of the stored secret: send the secret itself';
  throw valueError(['body', 'config', provider, ...path.split('.')], message, undefined);
}

/** The credentials after a change. Throws CONFIGURATION_PROVIDER_FIXED, and RequestInvalid if the result is
 *  incomplete. */
export function patchedCredentials(
  stored: TelephonyConfiguration,
  patch: ProviderConfigurationPatch,
): CredentialsPatch {
  const { provider, credentials } = stored;
  if (patch.provider !== provider) throw new GatewayError('CONFIGURATION_PROVIDER_FIXED');
  const { provider: _same, ...incoming } = patch;
  refuseStaleMask(provider, incoming, credentials);
  const move = misdirected(provider, incoming, credentials);
  if (move !== undefined) {
    const { field, secret } = move;
    const message = `to change ${field}, send ${secret} again in clear`;
    throw valueError(['body', 'config', provider, field], message, undefined);
  }
  const merged = { ...credentials, ...restoreMasked(provider, incoming, credentials), provider };
  const checked = configurationSchema.safeParse(merged);
  if (!checked.success) {
    const whole = { schema: configurationSchema, data: merged, part: 'body' as const };
    throw new RequestInvalid(validationItems(checked.error.issues, whole, ['config']));
  }
  const { provider: _kept, ...fields } = checked.data;
  // Keys that the gateway stores beside the fields are in no schema.
  const outcome: ProviderCredentials = { ...credentials, ...fields };
  return {
    credentials: outcome,
    accountId: accountIdOf(provider, outcome),
    secretFields: secretFieldsOf(provider),
  };
}
