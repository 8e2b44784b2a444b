// Checklist of what is missing before calls can be placed over a telephony configuration. Source: contract §4.1.

import { blockedReason } from '../../call/start/outbound/outbound-route.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import {
  needsCallerId,
  providerMetadata,
  trunkSettingsOf,
} from '../../telephony/registry/configuration.ts';
import type { SetupChecklist } from './telephony-schema.ts';

/** The checklist; null for a provider that needs only its credentials. */
export function setupChecklistOf(configuration: ConfigurationSummary): SetupChecklist | null {
  const { provider, activePhoneNumbers, enabledTrunks } = configuration;
  if (!needsCallerId(provider)) return null;
  const reason = blockedReason(configuration) ?? null;
  return {
    ready_for_outbound: reason === null,
    outbound_blocked_reason: reason,
    steps: [
      ...(trunkSettingsOf(provider) === undefined
        ? []
        : [
            {
              key: 'trunk',
              title: 'Add a trunk',
              description: 'Calls reach the telephone network over an enabled trunk.',
              complete: enabledTrunks > 0,
              blocks_outbound: true,
            },
          ]),
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
