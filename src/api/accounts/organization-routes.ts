// Routes of the current organization: its data, its preferences, and the dispositions that its calls can get.
// Source: contract §3.5 and §8.9.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { endReason, ownEndReasons } from '../../model/end-reason.ts';
import { isTimeZone } from '../../std/calendar-day.ts';
import type { OrganizationPreferences } from '../../store/accounts/organizations.ts';
import type { ConfigurationSource } from '../../store/library/model-configurations.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { idOut } from '../http/values.ts';
import { organizationProviderId } from './user-schema.ts';

const common = { tags: ['accounts'], security: keyRequired };

const context = z
  .object({
    organization_id: idOut.nullable(),
    organization_provider_id: z.string().nullable(),
    model_services: z.object({
      config_source: z
        .enum(['organization_v2', 'legacy_user_v1', 'empty'])
        .meta({ description: "Whose services calls use; `empty`: the gateway's own." }),
      has_model_configuration_v2: z.boolean(),
      managed_service_version: z.null(),
      uses_managed_service_v2: z.boolean(),
    }),
  })
  .meta({ id: 'OrganizationContextResponse', description: 'The organization of the key.' });

const preferences = z
  .object({
    test_phone_number: z.string().nullable(),
    timezone: z.string().nullable(),
    external_pbx_integrations_enabled: z.boolean(),
  })
  .meta({ id: 'OrganizationPreferences', description: 'The preferences after that.' });

const preferencesUpdate = z.object({
  test_phone_number: z
    .string()
    .trim()
    .max(64)
    .nullish()
    .meta({
      description:
        'The number that test calls ring, best with `+` and country code; at most 64 characters. Null clears it. Left out: unchanged.',
      examples: ['+14155550100'],
    }),
  timezone: z
    .string()
    .max(64)
    .refine((name) => isTimeZone(name), 'not a time zone of the IANA database')
    .nullish()
    .meta({
      description:
        'The time zone of reports, by its IANA name. Null clears it: UTC. Left out: unchanged.',
      examples: ['Europe/Oslo'],
    }),
  external_pbx_integrations_enabled: z
    .boolean()
    .nullish()
    .describe(
      'Whether agents may have settings of an external dialler (`external_pbx_…`). Null or left out: unchanged.',
    ),
});

const dispositionCodes = z
  .object({
    codes: z
      .array(z.string())
      .describe("The gateway's end reasons, and dispositions that calls have had."),
    end_task_reason_codes: z.array(z.string()).describe("The gateway's end reasons."),
  })
  .meta({ id: 'DispositionCodesResponse', description: 'How calls end.' });

export function organizationRoutes(api: Api, deps: ApiDeps): void {
  contextRoute(api, deps);
  preferenceRoutes(api, deps);
  dispositionRoute(api, deps);
}

function contextRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/context',
    {
      schema: {
        ...common,
        operationId: 'getOrganizationContext',
        summary: 'Get the organization',
        description: 'The organization that asks, and where its services are set.',
        response: { 200: context, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const source = wireSource(await deps.store.modelConfigurations.sourceOf(organizationId));
      return {
        organization_id: organizationId,
        organization_provider_id: organizationProviderId(organizationId),
        model_services: {
          config_source: source,
          has_model_configuration_v2: source === 'organization_v2',
          managed_service_version: null,
          uses_managed_service_v2: false,
        },
      };
    },
  );
}

function preferenceRoutes(api: Api, { store: { organizations } }: ApiDeps): void {
  api.get(
    '/organizations/preferences',
    {
      schema: {
        ...common,
        operationId: 'getPreferences',
        summary: 'Get preferences',
        description: 'What the organization prefers.',
        response: { 200: preferences, ...faults() },
      },
    },
    async (request) =>
      preferencesOnWire(await organizations.preferences(principalOf(request).organizationId)),
  );

  api.put(
    '/organizations/preferences',
    {
      schema: {
        ...common,
        operationId: 'updatePreferences',
        summary: 'Update preferences',
        description: 'Changes what it prefers; what is left out stays, null clears.',
        body: preferencesUpdate,
        response: { 200: preferences, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const patch = patchOf(request.body);
      return preferencesOnWire(await organizations.setPreferences(organizationId, patch));
    },
  );
}

function dispositionRoute(api: Api, { store: { organizations } }: ApiDeps): void {
  api.get(
    '/organizations/disposition-codes',
    {
      schema: {
        ...common,
        operationId: 'listDispositionCodes',
        summary: 'List disposition codes',
        description: "Dispositions that calls can get: the gateway's own, then the agents'.",
        response: { 200: dispositionCodes, ...faults() },
      },
    },
    async (request) => {
      const given = await organizations.dispositions(principalOf(request).organizationId);
      const system: readonly string[] = endReason.options;
      const custom = given.filter((code) => !system.includes(code));
      return { codes: [...system, ...custom], end_task_reason_codes: [...ownEndReasons] };
    },
  );
}

function wireSource(
  source: ConfigurationSource | undefined,
): 'organization_v2' | 'legacy_user_v1' | 'empty' {
  if (source === undefined) return 'empty';
  return source === 'organization' ? 'organization_v2' : 'legacy_user_v1';
}

/** Preferences to store. An empty number counts as none. */
function patchOf(body: z.infer<typeof preferencesUpdate>): Partial<OrganizationPreferences> {
  const { test_phone_number: number, timezone, external_pbx_integrations_enabled: enabled } = body;
  return {
    ...(number === undefined ? {} : { testPhoneNumber: number === '' ? null : number }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(typeof enabled === 'boolean' ? { externalPbxIntegrationsEnabled: enabled } : {}),
  };
}

function preferencesOnWire(
  stored: OrganizationPreferences | undefined,
): z.infer<typeof preferences> {
  // The organization was deleted after the guard had passed, and its key with it.
  if (stored === undefined) throw new GatewayError('TOKEN_INVALID');
  return {
    test_phone_number: stored.testPhoneNumber,
    timezone: stored.timezone,
    external_pbx_integrations_enabled: stored.externalPbxIntegrationsEnabled,
  };
}
