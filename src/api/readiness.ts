// Whether calls can go out over a telephony configuration, and what is left to do. Source: contract §4.1.

import type { ConfigurationSummary } from '../store/store.ts';
import { needsCallerId, providerMetadata } from '../telephony/configuration.ts';
import type { SetupChecklist } from './wire/telephony.ts';

/** Why no call can go out over it; null if one can. */
export function blockedReason(configuration: ConfigurationSummary): string | null {
  const { provider, inactiveSince, inactiveReason, activePhoneNumbers } = configuration;
  if (inactiveSince !== null) return inactiveReason ?? 'It is inactive.';
  if (needsCallerId(provider) && activePhoneNumbers === 0) {
    return 'Add at least one active phone number.';
  }
  return null;
}

/** Null for a provider that needs nothing but its credentials. */
export function setupChecklistOf(configuration: ConfigurationSummary): SetupChecklist | null {
  const { provider, activePhoneNumbers } = configuration;
  if (!needsCallerId(provider)) return null;
  const reason = blockedReason(configuration);
  return {
    ready_for_outbound: reason === null,
    outbound_blocked_reason: reason,
    steps: [
      {
        key: 'caller_id',
        title: 'Add a phone number',
        description: 'Calls go out with one of the active phone numbers of this configuration.',
        complete: activePhoneNumbers > 0,
        blocks_outbound: true,
      },
    ],
    docs_url: providerMetadata.find((row) => row.provider === provider)?.docs_url ?? null,
  };
}
