// The telephony providers that are built, by name. One row each.

import type { ProviderName } from '../model/provider.ts';
import { systemClock } from '../std/clock.ts';
import { isHosted, type TelephonyProvider } from './provider.ts';
import { createTwilioProvider } from './twilio/provider.ts';

export const providers: readonly TelephonyProvider[] = [
  createTwilioProvider({ clock: systemClock }),
];

/** In the order in which webhooks are matched against them (`recognises`). */
export const hostedProviders = providers.filter(isHosted);

const byName = new Map<ProviderName, TelephonyProvider>(
  providers.map((provider) => [provider.name, provider]),
);

/** Undefined for a provider that this version cannot hold calls over. */
export function providerByName(name: ProviderName): TelephonyProvider | undefined {
  return byName.get(name);
}
