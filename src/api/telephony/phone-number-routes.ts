// Routes of a telephony configuration's phone numbers. Source: contract §4.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { PhoneNumber } from '../../model/telephony.ts';
import type { ConfigurationSummary } from '../../store/telephony/configurations.ts';
import {
  lacksCountry,
  type NormalAddress,
  normalizeAddress,
} from '../../telephony/provider/phone-address.ts';
import { requireValid } from '../../workflow/stored/agent-checks.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath, phoneNumberIdInPath } from '../http/path-parameters.ts';
import { valueError } from '../http/validation.ts';
import { isoTime } from '../http/values.ts';
import { configurationOf } from './configuration-routes.ts';
import { checkOwnership, syncInbound } from './provider-sync.ts';
import {
  type PhoneNumberUpdate,
  type ProviderSync,
  phoneNumberCreate,
  phoneNumberOut,
  phoneNumberUpdate,
  providerSync,
} from './telephony-schema.ts';

const common = { tags: ['telephony'], security: keyRequired };
const ROOT = '/organizations/telephony-configs/:config_id/phone-numbers';
const parent = z.object({ config_id: configurationIdInPath });
const params = z.object({ config_id: configurationIdInPath, phone_number_id: phoneNumberIdInPath });

type NamedNumber = PhoneNumber & { workflowName: string | null };

export function phoneNumberRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  changeRoutes(api, deps);
  deleteRoute(api, deps);
}

function readRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listPhoneNumbers',
        summary: 'List phone numbers',
        description: "The configuration's phone numbers.",
        params: parent,
        response: {
          200: z
            .object({ phone_numbers: z.array(phoneNumberOut) })
            .describe("The configuration's phone numbers."),
          ...faults('CONFIGURATION_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await configurationOf(deps, organizationId, request.params.config_id);
      const numbers = await deps.store.telephony.listNumbers(id);
      return { phone_numbers: numbers.map((number) => numberOnWire(number, null)) };
    },
  );

  api.get(
    `${ROOT}/:phone_number_id`,
    {
      schema: {
        ...common,
        operationId: 'getPhoneNumber',
        summary: 'Get a phone number',
        description: 'One phone number.',
        params,
        response: {
          200: phoneNumberOut,
          ...faults('CONFIGURATION_NOT_FOUND', 'PHONE_NUMBER_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { number } = await numberOf(deps, organizationId, request.params);
      return numberOnWire(number, null);
    },
  );
}

function createRoute(api: Api, deps: ApiDeps): void {
  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createPhoneNumber',
        summary: 'Add a phone number',
        description:
          'Adds a phone number that the provider account owns. With `inbound_workflow_id` its inbound calls go to that agent, which must be valid; `provider_sync` says whether the provider sends them here.',
        params: parent,
        body: phoneNumberCreate,
        response: {
          200: phoneNumberOut,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'WORKFLOW_NOT_FOUND',
            'TRUNK_NOT_FOUND',
            'PHONE_NUMBER_NOT_OWNED',
            'PHONE_NUMBER_TAKEN',
            'PHONE_NUMBER_ROUTED_ELSEWHERE',
            'PROVIDER_AUTH',
            'PROVIDER_FAILED',
            'PROVIDER_TIMEOUT',
            'WORKFLOW_INVALID',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const configuration = await configurationOf(deps, organizationId, request.params.config_id);
      const { body } = request;
      const countryCode = body.country_code ?? null;
      const address = checkedAddress(body.address, countryCode);
      const inboundWorkflowId = body.inbound_workflow_id ?? null;
      await checkAttachments(deps, configuration, body);
      await checkOwnership(deps, configuration, {
        address: body.address,
        addressNormalized: address.normalized,
      });
      const { id } = await deps.store.telephony.createNumber(organizationId, configuration.id, {
        address: body.address,
        addressNormalized: address.normalized,
        addressType: address.type,
        countryCode,
        label: body.label ?? null,
        inboundWorkflowId,
        trunkId: body.telephony_trunk_id ?? null,
        isActive: body.is_active,
        isDefaultCallerId: body.is_default_caller_id,
        overflow: body.overflow,
        extraMetadata: body.extra_metadata,
      });
      const number = await storedNumber(deps, configuration.id, id);
      const isAttached = inboundWorkflowId !== null;
      const sync = isAttached ? await syncInbound(deps, configuration, number, true) : null;
      return numberOnWire(number, sync);
    },
  );
}

function changeRoutes(api: Api, deps: ApiDeps): void {
  api.put(
    `${ROOT}/:phone_number_id`,
    {
      schema: {
        ...common,
        operationId: 'updatePhoneNumber',
        summary: 'Update a phone number',
        description:
          'Changes a phone number; what is left out stays, and its address is fixed. `inbound_workflow_id` names the agent that answers its calls, which must be valid.',
        params,
        body: phoneNumberUpdate,
        response: {
          200: phoneNumberOut,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'PHONE_NUMBER_NOT_FOUND',
            'WORKFLOW_NOT_FOUND',
            'TRUNK_NOT_FOUND',
            'PHONE_NUMBER_ROUTED_ELSEWHERE',
            'WORKFLOW_INVALID',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { configuration, number } = await numberOf(deps, organizationId, request.params);
      await checkAttachments(deps, configuration, request.body);
      const patch = patchOf(request.body);
      await deps.store.telephony.updateNumber(configuration.id, number.id, patch);
      const changed = await storedNumber(deps, configuration.id, number.id);
      const sync =
        patch.inboundWorkflowId === undefined
          ? null
          : await syncInbound(deps, configuration, changed, patch.inboundWorkflowId !== null);
      return numberOnWire(changed, sync);
    },
  );

  api.post(
    `${ROOT}/:phone_number_id/set-default-caller`,
    {
      schema: {
        ...common,
        operationId: 'setDefaultCaller',
        summary: 'Set the default caller id',
        description:
          "Makes this number the caller id of the configuration's calls, in place of the one before.",
        params,
        response: {
          200: phoneNumberOut,
          ...faults('CONFIGURATION_NOT_FOUND', 'PHONE_NUMBER_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { configuration, number } = await numberOf(deps, organizationId, request.params);
      await deps.store.telephony.setDefaultCaller(configuration.id, number.id);
      return numberOnWire(await storedNumber(deps, configuration.id, number.id), null);
    },
  );
}

function deleteRoute(api: Api, deps: ApiDeps): void {
  api.delete(
    `${ROOT}/:phone_number_id`,
    {
      schema: {
        ...common,
        operationId: 'deletePhoneNumber',
        summary: 'Delete a phone number',
        description: 'Deletes a phone number; its inbound calls no longer come to us.',
        params,
        response: {
          200: z
            .object({ message: z.string(), provider_sync: providerSync.nullable() })
            .describe('The phone number is gone.'),
          ...faults('CONFIGURATION_NOT_FOUND', 'PHONE_NUMBER_NOT_FOUND', 'PROVIDER_FAILED'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { configuration, number } = await numberOf(deps, organizationId, request.params);
      const sync = await detach(deps, configuration, number);
      await deps.store.telephony.deleteNumber(configuration.id, number.id);
      return { message: 'Phone number deleted', provider_sync: sync };
    },
  );
}

/** Detaches a number. Throws PROVIDER_FAILED if the provider keeps sending the number's calls here: the row then
 *  stays. */
async function detach(
  deps: ApiDeps,
  configuration: ConfigurationSummary,
  number: PhoneNumber,
): Promise<ProviderSync | null> {
  if (number.inboundWorkflowId === null) return null;
  const sync = await syncInbound(deps, configuration, number, false);
  const { provider } = configuration;
  if (!sync.ok && deps.providerByName(provider) !== undefined) {
    throw new GatewayError('PROVIDER_FAILED', { provider, reason: sync.message ?? 'refused' });
  }
  return sync;
}

/** Throws RequestInvalid. */
function checkedAddress(raw: string, countryCode: string | null): NormalAddress {
  const loc = ['body', 'address'];
  if (lacksCountry(raw, countryCode)) {
    const message = 'a number without + needs a country_code';
    throw valueError(loc, message, raw);
  }
  const address = normalizeAddress(raw, countryCode);
  if (address === undefined) throw valueError(loc, 'not a phone number, SIP URI or extension', raw);
  return address;
}

/** Checks the agent and the trunk before any other request. Throws WORKFLOW_NOT_FOUND, WORKFLOW_INVALID,
 *  TRUNK_NOT_FOUND. */
async function checkAttachments(
  { store }: ApiDeps,
  configuration: ConfigurationSummary,
  body: {
    inbound_workflow_id?: string | null | undefined;
    telephony_trunk_id?: string | null | undefined;
  },
): Promise<void> {
  const { telephony_trunk_id: trunkId, inbound_workflow_id: id } = body;
  if (typeof trunkId === 'string') {
    const trunks = await store.trunks.list(configuration.id);
    if (!trunks.some((trunk) => trunk.id === trunkId)) throw new GatewayError('TRUNK_NOT_FOUND');
  }
  if (id === null || id === undefined) return;
  const workflow = await store.workflows.get(configuration.organizationId, id);
  if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  const version = await store.workflows.published(id);
  if (version !== undefined) await requireValid({ store }, configuration.organizationId, version);
}

/** The change to store. Null clears a label or a country; in other fields it means "unchanged". */
function patchOf(
  body: PhoneNumberUpdate,
): Parameters<ApiDeps['store']['telephony']['updateNumber']>[2] {
  const workflowId = body.clear_inbound_workflow ? null : (body.inbound_workflow_id ?? undefined);
  const trunkId = body.clear_trunk ? null : (body.telephony_trunk_id ?? undefined);
  return {
    ...(body.label === undefined ? {} : { label: body.label }),
    ...(body.country_code === undefined ? {} : { countryCode: body.country_code }),
    ...(workflowId === undefined ? {} : { inboundWorkflowId: workflowId }),
    ...(trunkId === undefined ? {} : { trunkId }),
    ...(typeof body.is_active === 'boolean' ? { isActive: body.is_active } : {}),
    ...(body.overflow === undefined ? {} : { overflow: body.overflow }),
    ...(body.extra_metadata ? { extraMetadata: body.extra_metadata } : {}),
  };
}

/** Throws CONFIGURATION_NOT_FOUND, PHONE_NUMBER_NOT_FOUND. */
async function numberOf(
  deps: ApiDeps,
  organizationId: string,
  ids: z.infer<typeof params>,
): Promise<{ configuration: ConfigurationSummary; number: NamedNumber }> {
  const configuration = await configurationOf(deps, organizationId, ids.config_id);
  return { configuration, number: await storedNumber(deps, configuration.id, ids.phone_number_id) };
}

async function storedNumber(deps: ApiDeps, configurationId: string, id: string) {
  const number = await deps.store.telephony.getNumber(configurationId, id);
  if (number === undefined) throw new GatewayError('PHONE_NUMBER_NOT_FOUND');
  return number;
}

function numberOnWire(
  number: NamedNumber,
  sync: ProviderSync | null,
): z.infer<typeof phoneNumberOut> {
  return {
    id: number.id,
    telephony_configuration_id: number.configurationId,
    address: number.address,
    address_normalized: number.addressNormalized,
    address_type: number.addressType,
    country_code: number.countryCode,
    label: number.label,
    inbound_workflow_id: number.inboundWorkflowId,
    inbound_workflow_name: number.workflowName,
    telephony_trunk_id: number.trunkId,
    is_active: number.isActive,
    is_default_caller_id: number.isDefaultCallerId,
    overflow: number.overflow ?? null,
    extra_metadata: number.extraMetadata,
    created_at: isoTime(number.createdAt),
    updated_at: isoTime(number.updatedAt),
    provider_sync: sync,
  };
}
