// Telephony configurations and phone numbers as rows. Credential fields belong to each provider
// (telephony/<provider>/config).

import type { OverflowPolicy } from './overflow.ts';
import type { ConfiguredProviderName } from './provider.ts';

export interface TelephonyConfiguration {
  id: string;
  organizationId: string;
  name: string;
  provider: ConfiguredProviderName;
  isDefaultOutbound: boolean;
  /** Every stored key, secrets unsealed: never log or return it as it is. */
  credentials: Record<string, unknown>;
  inactiveSince: Date | null;
  inactiveReason: string | null;
  /** Limit of call starts per second over this configuration, 1..1000; null: none. */
  callsPerSecond: number | null;
  /** What becomes of inbound calls when all places are taken. Default: they are refused as busy. */
  overflow?: OverflowPolicy | null | undefined;
  createdAt: Date;
  updatedAt: Date;
}

/** A trunk: a connection of a configuration to the telephone network, where its provider has them. */
export interface Trunk {
  id: string;
  configurationId: string;
  name: string;
  enabled: boolean;
  /** Settings as the provider's schema has checked them. */
  settings: Record<string, unknown>;
  /** Number of assigned phone numbers. */
  phoneNumbers: number;
  createdAt: Date;
  updatedAt: Date;
}

export type AddressType = 'pstn' | 'sip_uri' | 'sip_extension';

export interface PhoneNumber {
  id: string;
  organizationId: string;
  configurationId: string;
  /** Address as the client sent it. */
  address: string;
  /** `+` and digits, a `sip:` URI, or a lower-cased extension. */
  addressNormalized: string;
  addressType: AddressType;
  countryCode: string | null;
  label: string | null;
  inboundWorkflowId: string | null;
  /** Trunk for calls with this caller number; null: any trunk. */
  trunkId: string | null;
  isActive: boolean;
  isDefaultCallerId: boolean;
  extraMetadata: Record<string, unknown>;
  /** As that of the configuration, in its place. Default: that of the configuration. */
  overflow?: OverflowPolicy | null | undefined;
  createdAt: Date;
  updatedAt: Date;
}

/** Fields that a client sends for a new number; the store adds the rest. */
export type NewPhoneNumber = Omit<
  PhoneNumber,
  'id' | 'organizationId' | 'configurationId' | 'trunkId' | 'createdAt' | 'updatedAt'
> & {
  /** Default null. */
  trunkId?: string | null;
};
