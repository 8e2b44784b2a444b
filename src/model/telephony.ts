// Telephony configurations and phone numbers as rows. Credential fields belong to each provider
// (telephony/<provider>/config).

import type { ProviderName } from './provider.ts';

export interface TelephonyConfiguration {
  id: string;
  organizationId: string;
  name: string;
  provider: ProviderName;
  isDefaultOutbound: boolean;
  /** Every stored key, secrets in clear: never log or return it as it is. */
  credentials: Record<string, unknown>;
  inactiveSince: Date | null;
  inactiveReason: string | null;
  /** How fast calls go out over it, 1..1000; null: no limit of its own. */
  callsPerSecond: number | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A line of a configuration to the telephone network, where its provider has such a thing. */
export interface Trunk {
  id: string;
  configurationId: string;
  name: string;
  enabled: boolean;
  /** As the provider's schema has checked them. */
  settings: Record<string, unknown>;
  /** Numbers that go over it. */
  phoneNumbers: number;
  createdAt: Date;
  updatedAt: Date;
}

export type AddressType = 'pstn' | 'sip_uri' | 'sip_extension';

export interface PhoneNumber {
  id: string;
  organizationId: string;
  configurationId: string;
  /** As it was given. */
  address: string;
  /** `+` and digits, a `sip:` URI, or a lower-cased extension. */
  addressNormalized: string;
  addressType: AddressType;
  countryCode: string | null;
  label: string | null;
  inboundWorkflowId: string | null;
  /** Calls with this number as the caller go out over that trunk; null: over any. */
  trunkId: string | null;
  isActive: boolean;
  isDefaultCallerId: boolean;
  extraMetadata: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

/** What a number is made of; the rest follows from where and when. */
export type NewPhoneNumber = Omit<
  PhoneNumber,
  'id' | 'organizationId' | 'configurationId' | 'trunkId' | 'createdAt' | 'updatedAt'
> & {
  /** Default null. */
  trunkId?: string | null;
};
