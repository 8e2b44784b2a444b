// Whether calls can go out over a telephony configuration. Source: contract §4.1.

import type { ConfigurationSummary } from '../../store/telephony/telephony-store.ts';
import { needsCallerId, trunkSettingsOf } from '../../telephony/registry/configuration.ts';

/** Why no call can go out over this configuration; undefined if one can. */
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
