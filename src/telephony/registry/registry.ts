// The list of telephony providers, and the providers built of it.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { PacketMedia } from '../ari/media/packet-transports.ts';
import { ariProvider } from '../ari/provider.ts';
import { cloudonixProvider } from '../cloudonix/provider.ts';
import { plivoProvider } from '../plivo/provider.ts';
import type { ProcessIdentity } from '../provider/pbx.ts';
import {
  type DirectProvider,
  type HostedProvider,
  isDirect,
  isHosted,
  isPbx,
  type PbxProvider,
  type TelephonyProvider,
} from '../provider/provider.ts';
import type { ProviderDefinition } from '../provider/provider-definition.ts';
import type { HostedOptions } from '../provider/rest-client.ts';
import { telnyxProvider } from '../telnyx/provider.ts';
import { twilioProvider } from '../twilio/provider.ts';
import { vobizProvider } from '../vobiz/provider.ts';
import { vonageProvider } from '../vonage/provider.ts';
import { webProvider } from '../web/provider.ts';

/** Every provider with a configuration, once, in the order of their names. */
export const definitions = [
  ariProvider,
  cloudonixProvider,
  plivoProvider,
  telnyxProvider,
  twilioProvider,
  vobizProvider,
  vonageProvider,
] as const;

/** Providers whose callers connect to us directly, and that need no configuration. */
export const directProviders = [webProvider] as const;

export interface Providers {
  /** Undefined for a provider that this version does not support. */
  byName(name: ProviderName): TelephonyProvider | undefined;
  /** At most one provider recognises a webhook: a provider that has the fields of another is known by its own headers. */
  readonly hosted: readonly HostedProvider[];
  readonly pbx: readonly PbxProvider[];
  readonly direct: readonly DirectProvider[];
}

/** Creates all providers. To be called once, by main: connections to PBXs live in them. */
export function createProviders(options: {
  clock: Clock;
  random: Random;
  /** Packet media for PBXs with AudioSocket or RTP. */
  packets?: PacketMedia;
  /** Addresses where accounts and PBXs may be. Default: the rules for closed sign-up. */
  egress?: Egress;
  /** This process among those of all gateways. */
  identity?: ProcessIdentity;
  /** Log for events that belong to no call and no connection. */
  log?: Log;
}): Providers {
  const direct = directProviders.map((each) => each.create());
  return providersOf([...definitions.map((each) => each.create(options)), ...direct]);
}

/** A separate instance, such as for one call whose requests are observed. Undefined for a PBX. */
export function createHostedProvider(
  name: ConfiguredProviderName,
  options: HostedOptions,
): HostedProvider | undefined {
  const definition = definitions.find((each) => each.name === name);
  return definition?.kind === 'hosted' ? definition.create(options) : undefined;
}

/** Does not compile while a name has no definition. */
export function definitionOf(name: (typeof definitions)[number]['name']): ProviderDefinition {
  const found = definitions.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no provider ${name}`);
  return found;
}

export function providersOf(all: readonly TelephonyProvider[]): Providers {
  const byName = new Map(all.map((provider) => [provider.name, provider]));
  return {
    byName: (name) => byName.get(name),
    hosted: all.filter(isHosted),
    pbx: all.filter(isPbx),
    direct: all.filter(isDirect),
  };
}
