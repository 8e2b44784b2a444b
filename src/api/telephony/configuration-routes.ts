// Routes of telephony configurations: /organizations/telephony-configs, and the provider data that forms need. Source:
// specification §4.1 to §4.4, contract decision 5 and §4.1.

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { blockedReason } from '../../call/start/outbound/outbound-route.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import { isObject } from '../../std/json.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import {
  accountIdOf,
  connectivityOf,
  maskCredentials,
  mintCredentials,
  providerMetadata,
  secretFieldsOf,
  trunkSettingsOf,
  webhookKeys,
} from '../../telephony/registry/configuration.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath } from '../http/path-parameters.ts';
import { isoTime, isoTimeOrNull } from '../http/values.ts';
import { type ConfigurationDeps, checkAddresses } from './configuration-addresses.ts';
import { type CredentialsPatch, patchedCredentials, refuseStaleMask } from './credentials-patch.ts';
import { withApplication } from './provider-sync.ts';
import { setupChecklistOf } from './setup-checklist.ts';
import {
  configurationCreate,
  configurationDetail,
  configurationListItem,
  configurationUpdate,
  configurationWarnings,
  providersMetadata,
  trunkOnWire,
  warningName,
} from './telephony-schema.ts';

const common = { tags: ['telephony'], security: keyRequired };
const params = z.object({ config_id: configurationIdInPath });
const ROOT = '/organizations/telephony-configs';

/** Error codes of every change to a configuration. */
export const CHANGE_FAULTS = [
  'CONFIGURATION_NOT_FOUND',
  'CONFIGURATION_NAME_TAKEN',
  'CONFIGURATION_PROVIDER_FIXED',
  'CONFIGURATION_ADDRESS_FORBIDDEN',
  'PHONE_NUMBER_ROUTED_ELSEWHERE',
] as const;

export function telephonyConfigurationRoutes(api: Api, deps: ConfigurationDeps): void {
  readRoutes(api, deps);
  warningRoute(api, deps);
  writeRoutes(api, deps);
  stateRoutes(api, deps);
}

/** A configuration of the organization. Throws CONFIGURATION_NOT_FOUND, also for one of another organization. */
export async function configurationOf(
  deps: ApiDeps,
  organizationId: string,
  id: string,
): Promise<ConfigurationSummary> {
  return found(await deps.store.telephony.getConfiguration(organizationId, id));
}

export async function createConfiguration(
  deps: ConfigurationDeps,
  organizationId: string,
  wish: z.infer<typeof configurationCreate>,
): Promise<ConfigurationSummary> {
  const { provider, ...fields } = wish.config;
  refuseStaleMask(provider, fields, {});
  const given = { ...fields, ...mintCredentials(provider, deps.random) };
  await checkAddresses(deps, provider, given);
  const credentials = await withApplication(deps, provider, given);
  const created = await deps.store.telephony.createConfiguration(organizationId, {
    name: wish.name,
    provider,
    isDefaultOutbound: wish.is_default_outbound,
    credentials,
    accountId: accountIdOf(provider, credentials),
    secretFields: secretFieldsOf(provider),
    callsPerSecond: wish.calls_per_second,
    overflow: wish.overflow,
  });
  deps.onTelephonyChanged?.();
  return created;
}

function readRoutes(api: Api, deps: ApiDeps): void {
  const { telephony } = deps.store;

  api.get(
    '/organizations/telephony-providers/metadata',
    {
      schema: {
        ...common,
        operationId: 'listTelephonyProviders',
        summary: 'List telephony providers',
        description: 'The providers and the fields of their configurations.',
        response: { 200: providersMetadata, ...faults() },
      },
    },
    async () => ({ providers: [...providerMetadata] }),
  );

  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listTelephonyConfigurations',
        summary: 'List telephony configurations',
        description: 'All configurations, oldest first.',
        response: {
          200: z
            .object({ configurations: z.array(configurationListItem) })
            .describe('All configurations, oldest first.'),
          ...faults(),
        },
      },
    },
    async (request) => {
      const all = await telephony.listConfigurations(principalOf(request).organizationId);
      return { configurations: all.map(listItem) };
    },
  );

  api.get(
    `${ROOT}/:config_id`,
    {
      schema: {
        ...common,
        operationId: 'getTelephonyConfiguration',
        summary: 'Get a telephony configuration',
        description: 'One configuration, its secrets masked.',
        params,
        response: { 200: configurationDetail, ...faults('CONFIGURATION_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return configurationOnWire(
        deps,
        await configurationOf(deps, organizationId, request.params.config_id),
      );
    },
  );
}

function warningRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/telephony-config-warnings',
    {
      schema: {
        ...common,
        operationId: 'getTelephonyWarnings',
        summary: 'Get telephony warnings',
        description:
          'How many configurations lack the key or secret with which webhooks are verified.',
        response: { 200: configurationWarnings, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const all = await deps.store.telephony.listConfigurations(organizationId);
      const lacking = ({
        provider,
        field,
      }: {
        provider: ConfiguredProviderName;
        field: string;
      }): number =>
        all.filter((each) => each.provider === provider && !each.credentials[field]).length;
      return Object.fromEntries(webhookKeys.map((key) => [warningName(key), lacking(key)]));
    },
  );
}

function writeRoutes(api: Api, deps: ConfigurationDeps): void {
  const { telephony } = deps.store;

  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createTelephonyConfiguration',
        summary: 'Create a telephony configuration',
        description:
          "Stores a provider's credentials under a name. Secrets are sealed and come back masked. `is_default_outbound` takes the place of any default.",
        body: configurationCreate,
        response: {
          200: configurationDetail,
          ...faults(
            'CONFIGURATION_NAME_TAKEN',
            'CONFIGURATION_ADDRESS_FORBIDDEN',
            'PROVIDER_AUTH',
            'PROVIDER_FAILED',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return configurationOnWire(
        deps,
        await createConfiguration(deps, organizationId, request.body),
      );
    },
  );

  api.put(
    `${ROOT}/:config_id`,
    {
      preValidation: (request) => fillProvider(deps, request),
      schema: {
        ...common,
        operationId: 'updateTelephonyConfiguration',
        summary: 'Update a telephony configuration',
        description:
          'Changes the name, the credentials or both. What is left out stays; a masked secret, and `config` without `provider`, keep what is stored. The provider is fixed.',
        params,
        body: configurationUpdate,
        response: {
          200: configurationDetail,
          ...faults(...CHANGE_FAULTS, 'PROVIDER_AUTH', 'PROVIDER_FAILED'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await configurationOf(deps, organizationId, request.params.config_id);
      const { name, config, overflow, calls_per_second: callsPerSecond } = request.body;
      const patch =
        config === null || config === undefined
          ? undefined
          : await withReach(deps, stored.provider, patchedCredentials(stored, config));
      const updated = await telephony.updateConfiguration(organizationId, stored.id, {
        ...(name === null || name === undefined ? {} : { name }),
        ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
        ...(overflow === undefined ? {} : { overflow }),
        ...patch,
      });
      deps.onTelephonyChanged?.();
      return configurationOnWire(deps, found(updated));
    },
  );
}

function stateRoutes(api: Api, deps: ApiDeps): void {
  const { telephony } = deps.store;

  api.post(
    `${ROOT}/:config_id/set-default-outbound`,
    {
      schema: {
        ...common,
        operationId: 'setDefaultOutbound',
        summary: 'Set the default outbound configuration',
        description: 'Calls that name no configuration go out over this one.',
        params,
        response: { 200: configurationDetail, ...faults('CONFIGURATION_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const id = request.params.config_id;
      return configurationOnWire(
        deps,
        found(await telephony.setDefaultOutbound(organizationId, id)),
      );
    },
  );

  api.post(
    `${ROOT}/:config_id/reactivate`,
    {
      schema: {
        ...common,
        operationId: 'reactivateTelephonyConfiguration',
        summary: 'Reactivate a telephony configuration',
        description: 'Takes a configuration that had failed back into use.',
        params,
        response: { 200: configurationDetail, ...faults('CONFIGURATION_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const id = request.params.config_id;
      const reactivated = await telephony.reactivate(organizationId, id);
      deps.onTelephonyChanged?.();
      return configurationOnWire(deps, found(reactivated));
    },
  );

  api.delete(
    `${ROOT}/:config_id`,
    {
      schema: {
        ...common,
        operationId: 'deleteTelephonyConfiguration',
        summary: 'Delete a telephony configuration',
        description: 'Deletes a configuration and its phone numbers.',
        params,
        response: {
          200: z.object({ message: z.string() }).describe('The configuration is gone.'),
          ...faults('CONFIGURATION_NOT_FOUND', 'CONFIGURATION_IN_USE'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const gone = await telephony.deleteConfiguration(organizationId, request.params.config_id);
      if (!gone) throw new GatewayError('CONFIGURATION_NOT_FOUND');
      deps.onTelephonyChanged?.();
      return { message: 'Telephony configuration deleted' };
    },
  );
}

/** A change with permitted addresses and the application that it needs. */
export async function withReach(
  deps: ConfigurationDeps,
  provider: ConfiguredProviderName,
  patch: CredentialsPatch,
): Promise<CredentialsPatch> {
  await checkAddresses(deps, provider, patch.credentials);
  const credentials = await withApplication(deps, provider, patch.credentials);
  return { ...patch, credentials, accountId: accountIdOf(provider, credentials) };
}

/** Adds the stored provider to a change that names none. */
async function fillProvider(deps: ApiDeps, request: FastifyRequest): Promise<void> {
  const { body, params: named } = request;
  const config = isObject(body) ? body['config'] : undefined;
  if (!isObject(config) || (config['provider'] ?? null) !== null) return;
  const id = isObject(named) ? String(named['config_id']) : '';
  const { organizationId } = principalOf(request);
  config['provider'] = (await configurationOf(deps, organizationId, id)).provider;
}

function found(configuration: ConfigurationSummary | undefined): ConfigurationSummary {
  if (configuration === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
  return configuration;
}

function facts(configuration: ConfigurationSummary) {
  return {
    id: configuration.id,
    name: configuration.name,
    provider: configuration.provider,
    connectivity: connectivityOf(configuration.provider),
    is_default_outbound: configuration.isDefaultOutbound,
    inactive: configuration.inactiveSince !== null,
    inactive_since: isoTimeOrNull(configuration.inactiveSince),
    inactive_reason: configuration.inactiveReason,
    calls_per_second: configuration.callsPerSecond,
    overflow: configuration.overflow ?? null,
    created_at: isoTime(configuration.createdAt),
    updated_at: isoTime(configuration.updatedAt),
  };
}

function listItem(configuration: ConfigurationSummary): z.infer<typeof configurationListItem> {
  const blocked = blockedReason(configuration) ?? null;
  return {
    ...facts(configuration),
    phone_number_count: configuration.activePhoneNumbers,
    is_ready_for_outbound: blocked === null,
    outbound_blocked_reason: blocked,
  };
}

export async function configurationOnWire(
  deps: ApiDeps,
  configuration: ConfigurationSummary,
): Promise<z.infer<typeof configurationDetail>> {
  const hasTrunks = trunkSettingsOf(configuration.provider) !== undefined;
  const trunks = hasTrunks ? await deps.store.trunks.list(configuration.id) : [];
  return {
    ...facts(configuration),
    credentials: maskCredentials(configuration.provider, configuration.credentials),
    sip_connectivity: null,
    setup_checklist: setupChecklistOf(configuration),
    supports_trunks: hasTrunks,
    trunks: trunks.map(trunkOnWire),
  };
}
