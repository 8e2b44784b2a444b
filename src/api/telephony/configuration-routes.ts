// Telephony configurations: /organizations/telephony-configs, and what a form needs to know about the
// providers. Source: specification §4.1 to §4.4, contract decision 5 and §4.1.

import { z } from 'zod';
import { blockedReason } from '../../call/outbound/outbound-route.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import {
  accountIdOf,
  connectivityOf,
  maskCredentials,
  mintCredentials,
  providerMetadata,
  secretFieldsOf,
  trunkSettingsOf,
} from '../../telephony/registry/configuration.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { idIn, isoTime, isoTimeOrNull } from '../http/values.ts';
import { type ConfigurationDeps, checkAddresses } from './configuration-addresses.ts';
import { patchedCredentials } from './credentials-patch.ts';
import { setupChecklistOf } from './setup-checklist.ts';
import {
  configurationCreate,
  configurationDetail,
  configurationListItem,
  configurationUpdate,
  configurationWarnings,
  providersMetadata,
  trunkOnWire,
} from './telephony-schema.ts';

const common = { tags: ['telephony'], security: keyRequired };
const params = z.object({ config_id: idIn });
const ROOT = '/organizations/telephony-configs';

export function telephonyConfigurationRoutes(api: Api, deps: ConfigurationDeps): void {
  readRoutes(api, deps);
  warningRoute(api, deps);
  writeRoutes(api, deps);
  stateRoutes(api, deps);
}

/** Throws CONFIGURATION_NOT_FOUND, for a foreign one too. */
export async function configurationOf(
  deps: ApiDeps,
  organizationId: string,
  id: string,
): Promise<ConfigurationSummary> {
  return found(await deps.store.telephony.getConfiguration(organizationId, id));
}

function readRoutes(api: Api, deps: ApiDeps): void {
  const { telephony } = deps.store;

  api.get(
    '/organizations/telephony-providers/metadata',
    {
      schema: {
        ...common,
        operationId: 'listTelephonyProviders',
        summary: 'The providers and the fields of their configurations.',
        response: { 200: providersMetadata, ...faults(401) },
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
        summary: 'All configurations, oldest first.',
        response: {
          200: z.object({ configurations: z.array(configurationListItem) }),
          ...faults(401),
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
        summary: 'One configuration, its secrets masked.',
        params,
        response: { 200: configurationDetail, ...faults(401, 404) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return detail(deps, await configurationOf(deps, organizationId, request.params.config_id));
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
        summary: 'How many configurations cannot prove where a webhook comes from.',
        response: { 200: configurationWarnings, ...faults(401) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const all = await deps.store.telephony.listConfigurations(organizationId);
      const lacking = (provider: ProviderName, field: string): number =>
        all.filter((each) => each.provider === provider && !each.credentials[field]).length;
      return {
        telnyx_missing_webhook_public_key_count: lacking('telnyx', 'webhook_public_key'),
        vonage_missing_signature_secret_count: lacking('vonage', 'signature_secret'),
      };
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
        summary: "A new configuration with a provider's credentials.",
        body: configurationCreate,
        response: { 200: configurationDetail, ...faults(400, 401, 404, 409) },
      },
    },
    async (request) => {
      const { name, is_default_outbound: isDefaultOutbound, config } = request.body;
      const { provider, ...fields } = config;
      const credentials = { ...fields, ...mintCredentials(provider, deps.random) };
      await checkAddresses(deps, provider, credentials);
      const created = await telephony.createConfiguration(principalOf(request).organizationId, {
        name,
        provider,
        isDefaultOutbound,
        credentials,
        accountId: accountIdOf(provider, credentials),
        secretFields: secretFieldsOf(provider),
        callsPerSecond: request.body.calls_per_second,
      });
      deps.onTelephonyChanged?.();
      return detail(deps, created);
    },
  );

  api.put(
    `${ROOT}/:config_id`,
    {
      schema: {
        ...common,
        operationId: 'updateTelephonyConfiguration',
        summary: 'Changes the name, the credentials or both; what is left out stays.',
        params,
        body: configurationUpdate,
        response: { 200: configurationDetail, ...faults(400, 401, 404, 409) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await configurationOf(deps, organizationId, request.params.config_id);
      const { name, config, calls_per_second: callsPerSecond } = request.body;
      const patch =
        config === null || config === undefined ? undefined : patchedCredentials(stored, config);
      if (patch !== undefined) await checkAddresses(deps, stored.provider, patch.credentials);
      const updated = await telephony.updateConfiguration(organizationId, stored.id, {
        ...(name === null || name === undefined ? {} : { name }),
        ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
        ...patch,
      });
      deps.onTelephonyChanged?.();
      return detail(deps, found(updated));
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
        summary: 'Calls that name no configuration go out over this one.',
        params,
        response: { 200: configurationDetail, ...faults(401, 404) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const id = request.params.config_id;
      return detail(deps, found(await telephony.setDefaultOutbound(organizationId, id)));
    },
  );

  api.post(
    `${ROOT}/:config_id/reactivate`,
    {
      schema: {
        ...common,
        operationId: 'reactivateTelephonyConfiguration',
        summary: 'Takes a configuration that had failed back into use.',
        params,
        response: { 200: configurationDetail, ...faults(401, 404) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const id = request.params.config_id;
      const reactivated = await telephony.reactivate(organizationId, id);
      deps.onTelephonyChanged?.();
      return detail(deps, found(reactivated));
    },
  );

  api.delete(
    `${ROOT}/:config_id`,
    {
      schema: {
        ...common,
        operationId: 'deleteTelephonyConfiguration',
        summary: 'Deletes a configuration and its phone numbers.',
        params,
        response: { 200: z.object({ message: z.string() }), ...faults(401, 404, 409) },
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

async function detail(
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
