// The telephony providers that are built, by name. One row each.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { PacketMedia } from '../ari/media/packet-transports.ts';
import { createAriProvider } from '../ari/provider.ts';
import { createCloudonixProvider } from '../cloudonix/provider.ts';
import { createPlivoProvider } from '../plivo/provider.ts';
import {
  type HostedProvider,
  isHosted,
  type PbxProvider,
  type TelephonyProvider,
} from '../provider/provider.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { createTelnyxProvider } from '../telnyx/provider.ts';
import { createTwilioProvider } from '../twilio/provider.ts';
import { createVobizProvider } from '../vobiz/provider.ts';
import { createVonageProvider } from '../vonage/provider.ts';

export interface Providers {
  /** Undefined for a provider that this version does not support. */
  byName(name: ProviderName): TelephonyProvider | undefined;
  /** The order in which webhooks are matched (`recognises`): Cloudonix before Twilio, Vobiz before Plivo. */
  readonly hosted: readonly HostedProvider[];
  readonly pbx: readonly PbxProvider[];
}

/** Creates all providers. To be called once, by main: connections to PBXs live in them. */
export function createProviders(options: {
  clock: Clock;
  random: Random;
  /** Packet media for PBXs with AudioSocket or RTP. */
  packets?: PacketMedia;
  /** Addresses where accounts and PBXs may be. Default: the rules for closed sign-up. */
  egress?: Egress;
  /** Log for events that belong to no call and no connection. */
  log?: Log;
}): Providers {
  const { clock, random, packets, egress, log } = options;
  const hosted = Object.values(creators).map((create) => create({ clock, egress }));
  return providersOf([createAriProvider({ clock, random, packets, egress, log }), ...hosted]);
}

/** Constructors of hosted providers, in the order of `Providers.hosted`. */
const creators: Readonly<
  Record<Exclude<ProviderName, 'ari'>, (options: HostedOptions) => HostedProvider>
> = {
  cloudonix: createCloudonixProvider,
  telnyx: createTelnyxProvider,
  vobiz: createVobizProvider,
  plivo: createPlivoProvider,
  twilio: createTwilioProvider,
  vonage: createVonageProvider,
};

/** A separate instance, such as for one call whose requests are observed. Undefined for a PBX. */
export function createHostedProvider(
  name: ProviderName,
  options: HostedOptions,
): HostedProvider | undefined {
  return name === 'ari' ? undefined : creators[name](options);
}

export function providersOf(all: readonly TelephonyProvider[]): Providers {
  const byName = new Map(all.map((provider) => [provider.name, provider]));
  return {
    byName: (name) => byName.get(name),
    hosted: all.filter(isHosted),
    pbx: all.filter((provider) => 'pbx' in provider),
  };
}
