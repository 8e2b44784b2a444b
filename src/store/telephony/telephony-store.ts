// Telephony configurations and phone numbers as the rest of the gateway sees them.

import type { ProviderName } from '../../model/provider.ts';
import type { NewPhoneNumber, PhoneNumber, TelephonyConfiguration } from '../../model/telephony.ts';

export interface ConfigurationSummary extends TelephonyConfiguration {
  activePhoneNumbers: number;
  enabledTrunks: number;
}

export interface TelephonyStore {
  /** Oldest first. */
  listConfigurations(organizationId: string): Promise<ConfigurationSummary[]>;
  getConfiguration(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  /** Throws CONFIGURATION_NAME_TAKEN. */
  createConfiguration(
    organizationId: string,
    input: {
      name: string;
      provider: ProviderName;
      isDefaultOutbound: boolean;
      credentials: Record<string, unknown>;
      /** The value by which inbound calls find this configuration; null if it has none. */
      accountId: string | null;
      /** Names of the credential fields to seal. */
      secretFields: readonly string[];
      /** 1..1000. Default null: no limit of its own. */
      callsPerSecond?: number | null;
    },
  ): Promise<ConfigurationSummary>;
  /** Throws CONFIGURATION_NAME_TAKEN, PHONE_NUMBER_ROUTED_ELSEWHERE. */
  updateConfiguration(
    organizationId: string,
    id: string,
    patch: {
      name?: string;
      credentials?: Record<string, unknown>;
      accountId?: string | null;
      secretFields?: readonly string[];
      callsPerSecond?: number | null;
    },
  ): Promise<ConfigurationSummary | undefined>;
  /** No call goes out over it until it is taken back into use. `reason` is shown, with since when it has
   *  been out of use. False if there is none of that id. */
  deactivate(organizationId: string, id: string, reason: string): Promise<boolean>;
  /** Takes it back into use. */
  reactivate(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  setDefaultOutbound(organizationId: string, id: string): Promise<ConfigurationSummary | undefined>;
  /** False if there is none of that id. Removes its numbers. Throws CONFIGURATION_IN_USE if a campaign
   *  names it. */
  deleteConfiguration(organizationId: string, id: string): Promise<boolean>;
  /** Across organizations: the active configuration and active number that an inbound call reaches. */
  findInbound(
    provider: ProviderName,
    accountId: string,
    addressNormalized: string,
  ): Promise<{ configuration: TelephonyConfiguration; number: PhoneNumber } | undefined>;

  listNumbers(configurationId: string): Promise<(PhoneNumber & { workflowName: string | null })[]>;
  getNumber(
    configurationId: string,
    id: string,
  ): Promise<(PhoneNumber & { workflowName: string | null }) | undefined>;
  /** Throws PHONE_NUMBER_TAKEN, PHONE_NUMBER_ROUTED_ELSEWHERE, WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND. */
  createNumber(
    organizationId: string,
    configurationId: string,
    input: NewPhoneNumber,
  ): Promise<PhoneNumber>;
  /** Throws WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND. */
  updateNumber(
    configurationId: string,
    id: string,
    patch: {
      label?: string | null;
      inboundWorkflowId?: string | null;
      trunkId?: string | null;
      isActive?: boolean;
      countryCode?: string | null;
      extraMetadata?: Record<string, unknown>;
    },
  ): Promise<PhoneNumber | undefined>;
  setDefaultCaller(configurationId: string, id: string): Promise<PhoneNumber | undefined>;
  deleteNumber(configurationId: string, id: string): Promise<boolean>;
}
