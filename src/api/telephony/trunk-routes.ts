// Routes of a telephony configuration's trunks: …/telephony-configs/{id}/trunks. Source: contract §4.1.

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import { trunkSettingsOf } from '../../telephony/registry/configuration.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath, trunkIdInPath } from '../http/path-parameters.ts';
import { RequestInvalid, validationItems } from '../http/validation.ts';
import { configurationOf } from './configuration-routes.ts';
import { trunkCreate, trunkOnWire, trunkOut, trunkUpdate } from './telephony-schema.ts';

const common = { tags: ['telephony'], security: keyRequired };
const ROOT = '/organizations/telephony-configs/:config_id/trunks';
const parent = z.object({ config_id: configurationIdInPath });
const params = z.object({ config_id: configurationIdInPath, trunk_id: trunkIdInPath });

export function trunkRoutes(api: Api, deps: ApiDeps): void {
  readAndCreateRoutes(api, deps);
  changeRoutes(api, deps);
}

function readAndCreateRoutes(api: Api, deps: ApiDeps): void {
  const { trunks } = deps.store;

  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listTrunks',
        summary: 'List trunks',
        description: "The configuration's trunks.",
        params: parent,
        response: {
          200: z.object({ trunks: z.array(trunkOut) }).describe("The configuration's trunks."),
          ...faults('CONFIGURATION_NOT_FOUND', 'TRUNKS_UNSUPPORTED'),
        },
      },
    },
    async (request) => {
      const { id } = await trunkedConfiguration(deps, request, request.params.config_id);
      return { trunks: (await trunks.list(id)).map(trunkOnWire) };
    },
  );

  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createTrunk',
        summary: 'Create a trunk',
        description: 'Adds a trunk to a configuration whose provider has trunks.',
        params: parent,
        body: trunkCreate,
        response: {
          200: trunkOut,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'TRUNKS_UNSUPPORTED',
            'TRUNK_NAME_TAKEN',
            'TRUNKS_FULL',
          ),
        },
      },
    },
    async (request) => {
      const { id, provider } = await trunkedConfiguration(deps, request, request.params.config_id);
      const { name, enabled } = request.body;
      const settings = checkedSettings(provider, request.body.settings);
      return trunkOnWire(await trunks.create(id, { name, enabled, settings }));
    },
  );
}

function changeRoutes(api: Api, deps: ApiDeps): void {
  const { trunks } = deps.store;

  api.put(
    `${ROOT}/:trunk_id`,
    {
      schema: {
        ...common,
        operationId: 'updateTrunk',
        summary: 'Update a trunk',
        description: 'Changes a trunk; what is left out stays.',
        params,
        body: trunkUpdate,
        response: {
          200: trunkOut,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'TRUNKS_UNSUPPORTED',
            'TRUNK_NOT_FOUND',
            'TRUNK_NAME_TAKEN',
          ),
        },
      },
    },
    async (request) => {
      const { id, provider } = await trunkedConfiguration(deps, request, request.params.config_id);
      const { name, enabled, settings } = request.body;
      const updated = await trunks.update(id, request.params.trunk_id, {
        ...(name ? { name } : {}),
        ...(typeof enabled === 'boolean' ? { enabled } : {}),
        ...(settings ? { settings: checkedSettings(provider, settings) } : {}),
      });
      if (updated === undefined) throw new GatewayError('TRUNK_NOT_FOUND');
      return trunkOnWire(updated);
    },
  );

  api.delete(
    `${ROOT}/:trunk_id`,
    {
      schema: {
        ...common,
        operationId: 'deleteTrunk',
        summary: 'Delete a trunk',
        description: 'Deletes a trunk that no phone number goes over.',
        params,
        response: {
          200: z.object({ success: z.literal(true) }).describe('The trunk is gone.'),
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'TRUNKS_UNSUPPORTED',
            'TRUNK_NOT_FOUND',
            'TRUNK_IN_USE',
          ),
        },
      },
    },
    async (request) => {
      const { id } = await trunkedConfiguration(deps, request, request.params.config_id);
      const isGone = await trunks.delete(id, request.params.trunk_id);
      if (!isGone) throw new GatewayError('TRUNK_NOT_FOUND');
      return { success: true as const };
    },
  );
}

/** Throws CONFIGURATION_NOT_FOUND, TRUNKS_UNSUPPORTED. */
async function trunkedConfiguration(
  deps: ApiDeps,
  request: FastifyRequest,
  id: string,
): Promise<ConfigurationSummary> {
  const configuration = await configurationOf(deps, principalOf(request).organizationId, id);
  const { provider } = configuration;
  if (trunkSettingsOf(provider) === undefined) {
    throw new GatewayError('TRUNKS_UNSUPPORTED', { provider });
  }
  return configuration;
}

/** Throws RequestInvalid. */
function checkedSettings(
  provider: ConfiguredProviderName,
  data: Record<string, unknown>,
): Record<string, unknown> {
  const schema = trunkSettingsOf(provider);
  if (schema === undefined) throw new GatewayError('TRUNKS_UNSUPPORTED', { provider });
  const checked = schema.safeParse(data);
  if (checked.success) return checked.data;
  const whole = { schema, data, part: 'body' as const };
  throw new RequestInvalid(validationItems(checked.error.issues, whole, ['settings']));
}
