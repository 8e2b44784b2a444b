// GET and POST /organizations/telephony-config: the single configuration of older clients, which is the default one
// here. Source: specification §9.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import {
  configurationPatchSchema,
  configurationSchema,
  type ProviderConfigurationPatch,
} from '../../telephony/registry/configuration.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { RequestInvalid, validationItems } from '../http/validation.ts';
import type { ConfigurationDeps } from './configuration-addresses.ts';
import {
  CHANGE_FAULTS,
  configurationOnWire,
  createConfiguration,
  withReach,
} from './configuration-routes.ts';
import { patchedCredentials } from './credentials-patch.ts';
import { configurationDetail } from './telephony-schema.ts';

const ROOT = '/organizations/telephony-config';
const NAME = 'Default';
const common = { tags: ['telephony'], security: keyRequired, deprecated: true };

export function legacyConfigurationRoutes(api: Api, deps: ConfigurationDeps): void {
  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'getDefaultTelephonyConfiguration',
        summary: 'Get the telephony configuration (legacy)',
        description: 'The default configuration. Use `/organizations/telephony-configs`.',
        response: { 200: configurationDetail, ...faults('CONFIGURATION_NOT_FOUND') },
      },
    },
    async (request) => {
      const stored = await defaultOf(deps, principalOf(request).organizationId);
      if (stored === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
      return configurationOnWire(deps, stored);
    },
  );

  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'saveDefaultTelephonyConfiguration',
        summary: 'Save the telephony configuration (legacy)',
        description:
          'Changes the credentials of the default configuration, or creates one named `Default`. Use `/organizations/telephony-configs`.',
        body: configurationPatchSchema,
        response: {
          200: configurationDetail,
          ...faults(...CHANGE_FAULTS),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await defaultOf(deps, organizationId);
      const saved =
        stored === undefined
          ? await create(deps, organizationId, request.body)
          : await change(deps, stored, request.body);
      if (saved === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
      return configurationOnWire(deps, saved);
    },
  );
}

async function change(
  deps: ConfigurationDeps,
  stored: ConfigurationSummary,
  sent: ProviderConfigurationPatch,
): Promise<ConfigurationSummary | undefined> {
  const patch = await withReach(deps, stored.provider, patchedCredentials(stored, sent));
  const { organizationId, id } = stored;
  const changed = await deps.store.telephony.updateConfiguration(organizationId, id, patch);
  deps.onTelephonyChanged?.();
  return changed;
}

async function defaultOf(
  { store }: ApiDeps,
  organizationId: string,
): Promise<ConfigurationSummary | undefined> {
  const all = await store.telephony.listConfigurations(organizationId);
  return all.find(({ isDefaultOutbound }) => isDefaultOutbound);
}

/** Creates the configuration. Throws RequestInvalid if it is incomplete. */
async function create(deps: ConfigurationDeps, organizationId: string, sent: unknown) {
  const checked = configurationSchema.safeParse(sent);
  if (!checked.success) {
    const whole = { schema: configurationSchema, data: sent, part: 'body' as const };
    throw new RequestInvalid(validationItems(checked.error.issues, whole));
  }
  return createConfiguration(deps, organizationId, {
    name: NAME,
    is_default_outbound: true,
    calls_per_second: null,
    config: checked.data,
  });
}
