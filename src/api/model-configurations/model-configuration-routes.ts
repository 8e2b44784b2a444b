// Routes of an organization's speech services: /organizations/model-configurations/v2. Source: contract §10.4.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type ConfiguredSections,
  storedSectionsOf,
} from '../../model/speech-services/model-configuration.ts';
import { retirementNotice } from '../../model/speech-services/retirements.ts';
import { maskServices } from '../../model/speech-services/service-masks.ts';
import { ServicesRefused } from '../../model/speech-services/services-refused.ts';
import { type CallConfiguration, sectionsInUse } from '../../store/library/model-configurations.ts';
import type { Api } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { freeObject, queryFlag } from '../http/values.ts';
import {
  type CheckedService,
  type ConfigurationChecks,
  type ModelConfigurationDeps,
  requireUnmasked,
  withSecretsOf,
} from './configuration-checks.ts';
import { defaultProviders } from './default-routes.ts';
import {
  asConfiguration,
  effectiveOnWire,
  migrationPreview,
  modelConfigurationIn,
  modelConfigurationOut,
  pricing,
  serviceCheck,
  serviceFaultOnWire,
} from './model-configuration-schema.ts';
import { serviceForms } from './service-forms.ts';

const PATH = '/organizations/model-configurations/v2';
const common = { tags: ['services'], security: keyRequired };

export interface ServiceRouteDeps extends ModelConfigurationDeps {
  checks: ConfigurationChecks;
}

export function modelConfigurationRoutes(api: Api, deps: ServiceRouteDeps): void {
  readRoute(api, deps);
  saveRoute(api, deps);
  formRoutes(api, deps);
  checkRoute(api, deps);
  migrationRoutes(api, deps);
}

function readRoute(api: Api, deps: ServiceRouteDeps): void {
  api.get(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'getModelConfiguration',
        summary: 'Get the speech services',
        description: 'Which services calls of the organization use, with secrets masked.',
        response: { 200: modelConfigurationOut, ...faults() },
      },
    },
    async (request) => shown(deps, principalOf(request).organizationId),
  );
}

function saveRoute(api: Api, deps: ServiceRouteDeps): void {
  const { modelConfigurations: store } = deps.store;
  api.put(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'saveModelConfiguration',
        summary: 'Set the speech services',
        description:
          'Replaces what is stored, for calls that begin from then on. Secrets that are left out, or are the masks of the stored ones, stay, for the same provider at the same address. Each key is checked with its service, and each voice with its list of voices.',
        body: modelConfigurationIn,
        response: {
          200: modelConfigurationOut,
          ...faults(
            'SERVICES_INVALID',
            'SERVICE_KEY_MASKED',
            'MODEL_MODE_UNSUPPORTED',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const owner = { organizationId, userId: null };
      const wanted = pipelineOf(request.body);
      await store.change(organizationId, async (used) => {
        const sent = withSecretsOf([storedSectionsOf(ownOf(used))], wanted);
        requireUnmasked(sent);
        const sections = await deps.checks.storable(sent);
        await deps.checks.requireAccepted(organizationId, sections);
        return { owner, configuration: asConfiguration(sections) };
      });
      await deps.store.serviceFaults.clear(organizationId);
      return shown(deps, organizationId);
    },
  );
}

function formRoutes(api: Api, deps: ServiceRouteDeps): void {
  const { llm, tts, stt } = serviceForms;
  const providers = defaultProviders(deps);
  const answer = {
    dograh: hostedForm,
    byok: {
      pipeline: { llm, tts, stt, embeddings: {}, default_providers: providers },
      realtime: { realtime: {}, llm, embeddings: {}, default_providers: providers },
    },
  };
  api.get(
    `${PATH}/defaults`,
    {
      schema: {
        ...common,
        operationId: 'getModelConfigurationDefaults',
        summary: 'List the services that can be configured',
        description:
          'JSON schemas of all services, for forms. `dograh` and `realtime` are modes of the reference that this gateway does not offer.',
        response: {
          200: z
            .object({ dograh: freeObject, byok: freeObject })
            .describe('JSON schemas of the services by job and provider.'),
          ...faults(),
        },
      },
    },
    async () => answer,
  );
  api.get(
    `${PATH}/pricing`,
    {
      schema: {
        ...common,
        operationId: 'getModelConfigurationPricing',
        summary: 'Get prices of hosted services',
        description: 'Always empty: this gateway sells no services.',
        response: { 200: pricing, ...faults() },
      },
    },
    async () => ({ platform_usage: null, dograh_model: null }),
  );
}

/** A form that clients can read, with nothing to choose. */
const hostedForm = {
  voices: [],
  allow_custom_input: false,
  speeds: [0.8, 1, 1.2],
  speed_range: { min: 0.5, max: 2, step: 0.1 },
  languages: [],
  multilingual_languages: [],
  defaults: { voice: 'default', speed: 1, language: 'multi' },
};

function checkRoute(api: Api, deps: ServiceRouteDeps): void {
  api.post(
    `${PATH}/check`,
    {
      schema: {
        ...common,
        operationId: 'checkModelConfiguration',
        summary: 'Check the keys of the speech services',
        description:
          'Asks every service that calls of the organization use whether it takes its key and has its voice, all at once, for at most four seconds. Not part of the reference.',
        response: { 200: serviceCheck, ...faults('TOO_MANY_ATTEMPTS') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const sections = sectionsInUse(await deps.store.modelConfigurations.forCalls(organizationId));
      const verdicts = await deps.checks.verdicts(organizationId, sections);
      await noteAccepted(deps, organizationId, verdicts);
      return {
        ok: verdicts.every(({ verdict }) => verdict !== 'refused'),
        services: verdicts.map(({ job, position, service, verdict, message, durationMs }) => ({
          model: job,
          position,
          provider: service.provider,
          verdict,
          message,
          warning: retirementNotice(service, deps.clock.now()),
          duration_ms: durationMs,
        })),
      };
    },
  );
}

function migrationRoutes(api: Api, deps: ServiceRouteDeps): void {
  const { modelConfigurations: store, organizations } = deps.store;
  api.get(
    `${PATH}/migration-preview`,
    {
      schema: {
        ...common,
        operationId: 'previewModelConfigurationMigration',
        summary: 'Preview the migration of services',
        description: "The user's own configuration, in the shape of the organization's.",
        response: { 200: migrationPreview, ...faults('LEGACY_CONFIGURATION_INCOMPLETE') },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const sections = requireAny(storedSectionsOf((await store.get(principal))?.configuration));
      const preferences = await organizations.preferences(principal.organizationId);
      return {
        configuration: freeObject.parse(maskServices(asConfiguration(sections))),
        effective_configuration: effectiveOnWire(sections, preferences),
      };
    },
  );
  api.post(
    `${PATH}/migrate`,
    {
      schema: {
        ...common,
        operationId: 'migrateModelConfiguration',
        summary: 'Migrate services to the organization',
        description:
          "Stores the user's own configuration as the organization's. `force` replaces one that is there.",
        querystring: z.object({
          force: queryFlag
            .default(false)
            .describe(
              'True: takes the place of a stored configuration. False: 409 if there is one.',
            ),
        }),
        response: {
          200: modelConfigurationOut,
          ...faults(
            'MODEL_CONFIGURATION_EXISTS',
            'LEGACY_CONFIGURATION_INCOMPLETE',
            'SERVICES_INVALID',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId, userId } = principalOf(request);
      await store.change(organizationId, async (used) => {
        const isThere = ownOf(used) !== undefined;
        if (isThere && !request.query.force) throw new GatewayError('MODEL_CONFIGURATION_EXISTS');
        const legacy = await store.get({ organizationId, userId });
        const sections = await deps.checks.storable(
          requireAny(storedSectionsOf(legacy?.configuration)),
        );
        await deps.checks.requireAccepted(organizationId, sections);
        return {
          owner: { organizationId, userId: null },
          configuration: asConfiguration(sections),
        };
      });
      await deps.store.serviceFaults.clear(organizationId);
      return shown(deps, organizationId);
    },
  );
}

/** Removes stored faults of services whose key is accepted. Other faults show in calls. */
export async function noteAccepted(
  { store }: ServiceRouteDeps,
  organizationId: string,
  verdicts: readonly CheckedService[],
): Promise<void> {
  const services = verdicts.flatMap(({ job, verdict, service }) =>
    // No call uses embeddings: they have no faults.
    verdict === 'ok' && job !== 'embeddings' ? [{ job, service: service.provider }] : [],
  );
  await store.serviceFaults.clear(organizationId, { services, kinds: ['auth', 'forbidden'] });
}

async function shown(
  { store }: ServiceRouteDeps,
  organizationId: string,
): Promise<z.infer<typeof modelConfigurationOut>> {
  const used = await store.modelConfigurations.forCalls(organizationId);
  const own = ownOf(used);
  const preferences = await store.organizations.preferences(organizationId);
  return {
    configuration: own === undefined ? null : freeObject.parse(maskServices(own)),
    effective_configuration: effectiveOnWire(sectionsInUse(used), preferences),
    source: sourceOf(used),
    service_faults: (await store.serviceFaults.list(organizationId)).map(serviceFaultOnWire),
  };
}

/** The organization's own sections; undefined if it has none. */
function ownOf(used: CallConfiguration) {
  return used !== undefined && 'organization' in used ? used.organization : undefined;
}

function sourceOf(used: CallConfiguration): z.infer<typeof modelConfigurationOut>['source'] {
  if (used === undefined) return 'empty';
  return 'organization' in used ? 'organization_v2' : 'legacy_user_v1';
}

/** The sections of a request. Throws MODEL_MODE_UNSUPPORTED, SERVICES_INVALID. */
export function pipelineOf(sent: z.infer<typeof modelConfigurationIn>): ConfiguredSections {
  if (sent.mode === 'dograh') throw new GatewayError('MODEL_MODE_UNSUPPORTED', { mode: sent.mode });
  const { byok } = sent;
  if (!byok) throw missing('byok configuration is required when mode is byok');
  if (byok.mode === 'realtime') {
    throw new GatewayError('MODEL_MODE_UNSUPPORTED', { mode: byok.mode });
  }
  if (!byok.pipeline) throw missing('byok.pipeline is required when byok.mode is pipeline');
  return byok.pipeline;
}

function missing(message: string): ServicesRefused {
  return new ServicesRefused([{ model: 'all', message }]);
}

function requireAny(sections: ConfiguredSections | undefined): ConfiguredSections {
  const isAny = sections !== undefined && (sections.llm || sections.tts || sections.stt);
  if (!isAny) throw new GatewayError('LEGACY_CONFIGURATION_INCOMPLETE');
  return sections;
}
