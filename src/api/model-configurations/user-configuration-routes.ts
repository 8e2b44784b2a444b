// Routes of the services in use in the older shape, of the organization or of the user who saved last:
// /user/configurations/user. Source: contract §3.5 and §10.4.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type ConfiguredSections,
  storedSectionsOf,
} from '../../model/speech-services/model-configuration.ts';
import { maskedField } from '../../model/speech-services/service-masks.ts';
import { sectionsInUse } from '../../store/library/model-configurations.ts';
import type { Api } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { queryInteger } from '../http/values.ts';
import { withSecretsOf } from './configuration-checks.ts';
import { noteAccepted, type ServiceRouteDeps } from './model-configuration-routes.ts';
import {
  asConfiguration,
  effectiveOnWire,
  keyStatuses,
  userConfigurationIn,
  userConfigurationOut,
} from './model-configuration-schema.ts';

const PATH = '/user/configurations/user';
const common = { tags: ['services'], security: keyRequired };
const SECTIONS = ['llm', 'tts', 'stt', 'embeddings'] as const;

export function userConfigurationRoutes(api: Api, deps: ServiceRouteDeps): void {
  readRoute(api, deps);
  saveRoute(api, deps);
  validateRoute(api, deps);
}

function readRoute(api: Api, deps: ServiceRouteDeps): void {
  api.get(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'getUserConfiguration',
        summary: 'Get the services in use',
        description: 'Which services calls use, in the older shape, with secrets masked.',
        response: { 200: userConfigurationOut, ...faults() },
      },
    },
    async (request) => inUse(deps, principalOf(request).organizationId),
  );
}

async function inUse(
  { store }: ServiceRouteDeps,
  organizationId: string,
): Promise<z.infer<typeof userConfigurationOut>> {
  const used = await store.modelConfigurations.forCalls(organizationId);
  return effectiveOnWire(
    sectionsInUse(used),
    await store.organizations.preferences(organizationId),
  );
}

function saveRoute(api: Api, deps: ServiceRouteDeps): void {
  const { modelConfigurations, organizations } = deps.store;
  api.put(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'saveUserConfiguration',
        summary: 'Set the services in use',
        description:
          'Changes the services in use, those of the organization if it has a configuration of its own. Sections that are left out stay.',
        body: userConfigurationIn,
        response: {
          200: userConfigurationOut,
          ...faults(
            'SERVICES_INVALID',
            'USER_SERVICE_KEY_MASKED',
            'MODEL_MODE_UNSUPPORTED',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId, userId } = principalOf(request);
      const { body } = request;
      if (body.is_realtime === true) {
        throw new GatewayError('MODEL_MODE_UNSUPPORTED', { mode: 'realtime' });
      }
      const sent = sentSections(body);
      if (Object.keys(sent).length > 0) {
        await modelConfigurations.change(organizationId, async (used) => {
          const stored = sectionsInUse(used);
          const merged = { ...stored, ...withSecretsOf([stored], sent) };
          requireNoMask(merged);
          const sections = await deps.checks.storable(merged);
          await deps.checks.requireAccepted(organizationId, sections);
          const isOfAll = used !== undefined && 'organization' in used;
          const owner = { organizationId, userId: isOfAll ? null : userId };
          return { owner, configuration: isOfAll ? asConfiguration(sections) : sections };
        });
        await deps.store.serviceFaults.clear(organizationId);
      }
      await organizations.setPreferences(organizationId, preferencesOf(body));
      return inUse(deps, organizationId);
    },
  );
}

function validateRoute(api: Api, deps: ServiceRouteDeps): void {
  const { modelConfigurations } = deps.store;
  api.get(
    `${PATH}/validate`,
    {
      schema: {
        ...common,
        operationId: 'validateUserConfiguration',
        summary: 'Check the keys of the services in use',
        description:
          'Nothing is asked, and `status` is empty, if the services took the keys within the last `validity_ttl_seconds`.',
        querystring: z.object({
          validity_ttl_seconds: queryInteger(0, 86_400)
            .default(60)
            .describe(
              'Seconds for which a check that found no fault stands: 0 to 86,400; 0 checks in any case.',
            ),
        }),
        response: { 200: keyStatuses, ...faults('SERVICES_INVALID', 'TOO_MANY_ATTEMPTS') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const owner = await modelConfigurations.ownerInUse(organizationId);
      const stored = owner === undefined ? undefined : await modelConfigurations.get(owner);
      const sinceMs = deps.clock.now() - request.query.validity_ttl_seconds * 1_000;
      if (!(owner && stored) || (stored.validatedAt?.getTime() ?? 0) > sinceMs) {
        return { status: [] };
      }
      const sections = storedSectionsOf(stored.configuration) ?? {};
      await noteAccepted(
        deps,
        organizationId,
        await deps.checks.requireAccepted(organizationId, sections),
      );
      await modelConfigurations.noteValidated(owner);
      return { status: [{ model: 'all', message: 'ok' }] };
    },
  );
}

type Body = z.infer<typeof userConfigurationIn>;

function sentSections(body: Body): ConfiguredSections {
  const given = SECTIONS.flatMap((name) => (body[name] ? [[name, body[name]]] : []));
  return Object.fromEntries(given);
}

function preferencesOf({ test_phone_number: number, timezone }: Body) {
  return {
    ...(typeof number === 'string' ? { testPhoneNumber: number === '' ? null : number } : {}),
    ...(typeof timezone === 'string' ? { timezone } : {}),
  };
}

/** Throws USER_SERVICE_KEY_MASKED. */
function requireNoMask(sections: ConfiguredSections): void {
  for (const name of SECTIONS) {
    const field = maskedField(sections[name]);
    if (field !== undefined)
      throw new GatewayError('USER_SERVICE_KEY_MASKED', { model: name, field });
  }
}
