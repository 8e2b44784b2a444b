// Keys of the API: /user/api-keys. Source: contract §3.4.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ApiKey } from '../../store/accounts/accounts.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { apiKeyIdInPath } from '../http/path-parameters.ts';
import { idOut, isoTime, isoTimeOrNull, nameIn, queryFlag, timeOut } from '../http/values.ts';

const keyOut = z
  .object({
    id: idOut,
    name: z.string(),
    key_prefix: z.string(),
    is_active: z.boolean(),
    created_at: timeOut,
    last_used_at: timeOut.nullable(),
    archived_at: timeOut.nullable(),
  })
  .meta({ id: 'APIKeyResponse' });

const keyCreated = z
  .object({
    id: idOut,
    name: z.string(),
    key_prefix: z.string(),
    api_key: z.string().meta({ description: 'Shown this once.' }),
    created_at: timeOut,
  })
  .describe('The new key.');

const done = z.object({ success: z.literal(true), message: z.string() }).describe('It is done.');
const params = z.object({ api_key_id: apiKeyIdInPath });
const common = { tags: ['keys'], security: keyRequired };

export function apiKeyRoutes(api: Api, deps: ApiDeps): void {
  listRoutes(api, deps);
  archiveRoutes(api, deps);
}

function listRoutes(api: Api, { store: { accounts } }: ApiDeps): void {
  api.get(
    '/user/api-keys',
    {
      schema: {
        ...common,
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: "The organization's keys.",
        querystring: z.object({
          include_archived: queryFlag
            .default(false)
            .describe('True: archived keys too, which are refused.'),
        }),
        response: { 200: z.array(keyOut).describe('Keys without their secret part.'), ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const keys = await accounts.listApiKeys(organizationId, request.query.include_archived);
      return keys.map(keyOnWire);
    },
  );

  api.post(
    '/user/api-keys',
    {
      schema: {
        ...common,
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: 'Makes a key; the answer shows it this once.',
        body: z.object({
          name: nameIn(255).describe('What the key is for, in 1 to 255 characters.'),
        }),
        response: { 200: keyCreated, ...faults() },
      },
    },
    async (request) => {
      const { record, apiKey } = await accounts.createApiKey(
        principalOf(request),
        request.body.name,
      );
      const { id, name, prefix, createdAt } = record;
      return { id, name, key_prefix: prefix, api_key: apiKey, created_at: isoTime(createdAt) };
    },
  );
}

function archiveRoutes(api: Api, { store: { accounts } }: ApiDeps): void {
  api.delete(
    '/user/api-keys/:api_key_id',
    {
      schema: {
        ...common,
        operationId: 'archiveApiKey',
        summary: 'Archive an API key',
        description: 'Takes a key out of use; it is refused at once.',
        params,
        response: { 200: done, ...faults('API_KEY_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const found = await accounts.archiveApiKey(organizationId, request.params.api_key_id);
      if (!found) throw new GatewayError('API_KEY_NOT_FOUND');
      return { success: true as const, message: 'API key archived successfully' };
    },
  );

  api.put(
    '/user/api-keys/:api_key_id/reactivate',
    {
      schema: {
        ...common,
        operationId: 'reactivateApiKey',
        summary: 'Reactivate an API key',
        description: 'Takes an archived key back into use.',
        params,
        response: { 200: done, ...faults('API_KEY_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const found = await accounts.reactivateApiKey(organizationId, request.params.api_key_id);
      if (!found) throw new GatewayError('API_KEY_NOT_FOUND');
      return { success: true as const, message: 'API key reactivated successfully' };
    },
  );
}

function keyOnWire(key: ApiKey): z.infer<typeof keyOut> {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.prefix,
    is_active: key.isActive,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    archived_at: isoTimeOrNull(key.archivedAt),
  };
}
