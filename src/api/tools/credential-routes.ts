// Routes of credentials for other systems: /credentials. Source: contract §10.2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type Credential,
  type CredentialType,
  credentialData,
  credentialType,
} from '../../model/credential.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { credentialUuidInPath } from '../http/path-parameters.ts';
import { isoTime, isoTimeOrNull, nameIn, timeOut } from '../http/values.ts';

const name = nameIn(255).describe(
  'A name that no other credential of the organization has, of 1 to 255 characters.',
);
const description = z
  .string()
  .max(2_000)
  .nullish()
  .describe('A note for people, of at most 2,000 characters. Null removes it.');
const data = z.record(z.string().max(100), z.unknown()).meta({
  description:
    'Fields by type, which no answer shows: `api_key` has `header_name` and `api_key`, `bearer_token` has `token`, ' +
    '`basic_auth` has `username` and `password`, `custom_header` has `header_name` and `header_value`, `none` has none.',
});

const credentialCreate = z.object({
  name,
  description,
  credential_type: credentialType.describe('Decides which headers requests get.'),
  credential_data: data,
});

const credentialUpdate = z.object({
  name: name
    .nullish()
    .describe('The new name, of 1 to 255 characters. Null or left out: unchanged.'),
  description,
  credential_type: credentialType
    .nullish()
    .describe('Another type, together with its `credential_data`. Null or left out: unchanged.'),
  credential_data: data
    .nullish()
    .describe(
      'Takes the place of all stored fields: those of the type, as in `createCredential`. Null or left out: unchanged.',
    ),
});

const credentialOut = z
  .object({
    uuid: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    credential_type: credentialType,
    created_at: timeOut,
    updated_at: timeOut.nullable(),
  })
  .meta({ id: 'CredentialResponse', description: 'A credential without its secrets.' });

function credentialOnWire(credential: Credential): z.infer<typeof credentialOut> {
  return {
    uuid: credential.uuid,
    name: credential.name,
    description: credential.description,
    credential_type: credential.type,
    created_at: isoTime(credential.createdAt),
    updated_at: isoTimeOrNull(credential.updatedAt),
  };
}

const common = { tags: ['tools'], security: keyRequired };
const params = z.object({ credential_uuid: credentialUuidInPath });
const ROOT = '/credentials';

export function credentialRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  writeRoutes(api, deps);
  deleteRoute(api, deps);
}

function readRoutes(api: Api, deps: ApiDeps): void {
  const { credentials } = deps.store;

  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listCredentials',
        summary: 'List credentials',
        description: 'All credentials by name, without their secrets.',
        response: {
          200: z.array(credentialOut).describe('Credentials without their secrets.'),
          ...faults(),
        },
      },
    },
    async (request) => {
      const all = await credentials.list(principalOf(request).organizationId);
      return all.map(credentialOnWire);
    },
  );

  api.get(
    `${ROOT}/:credential_uuid`,
    {
      schema: {
        ...common,
        operationId: 'getCredential',
        summary: 'Get a credential',
        description: 'One credential, without its secret.',
        params,
        response: { 200: credentialOut, ...faults('CREDENTIAL_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { credential_uuid: uuid } = request.params;
      return credentialOnWire(found(await credentials.get(organizationId, uuid)));
    },
  );
}

function writeRoutes(api: Api, deps: ApiDeps): void {
  const { credentials } = deps.store;

  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createCredential',
        summary: 'Create a credential',
        description:
          'Stores a credential for tools and webhooks; its secret is sealed and never shown.',
        body: credentialCreate,
        response: { 200: credentialOut, ...faults('CREDENTIAL_INVALID', 'CREDENTIAL_NAME_TAKEN') },
      },
    },
    async (request) => {
      const { name, description, credential_type: type, credential_data: sent } = request.body;
      const data = checkedData(type, sent);
      const input = { name, description: description ?? null, type, data };
      return credentialOnWire(await credentials.create(principalOf(request), input));
    },
  );

  api.put(
    `${ROOT}/:credential_uuid`,
    {
      schema: {
        ...common,
        operationId: 'updateCredential',
        summary: 'Update a credential',
        description: 'Changes a credential; what is left out stays.',
        params,
        body: credentialUpdate,
        response: {
          200: credentialOut,
          ...faults('CREDENTIAL_NOT_FOUND', 'CREDENTIAL_INVALID', 'CREDENTIAL_NAME_TAKEN'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { credential_uuid: uuid } = request.params;
      const stored = found(await credentials.get(organizationId, uuid));
      const { name, description } = request.body;
      const changed = await credentials.update(organizationId, uuid, {
        ...(typeof name === 'string' ? { name } : {}),
        ...(description === undefined ? {} : { description }),
        ...secretIn(request.body, stored),
      });
      return credentialOnWire(found(changed));
    },
  );
}

function deleteRoute(api: Api, { store: { credentials } }: ApiDeps): void {
  api.delete(
    `${ROOT}/:credential_uuid`,
    {
      schema: {
        ...common,
        operationId: 'deleteCredential',
        summary: 'Delete a credential',
        description: 'Deletes a credential; requests that name it fail from then on.',
        params,
        response: {
          200: z
            .object({ status: z.literal('deleted'), uuid: z.string() })
            .describe('The credential is gone.'),
          ...faults('CREDENTIAL_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { credential_uuid: uuid } = request.params;
      const isGone = await credentials.remove(organizationId, uuid);
      if (!isGone) throw new GatewayError('CREDENTIAL_NOT_FOUND');
      return { status: 'deleted' as const, uuid };
    },
  );
}

function found(credential: Credential | undefined): Credential {
  if (credential === undefined) throw new GatewayError('CREDENTIAL_NOT_FOUND');
  return credential;
}

/** The new secret, if one is sent. Another kind of credential needs new data: the stored data do not fit it. Throws
 *  CREDENTIAL_INVALID. */
function secretIn(
  { credential_type: type, credential_data: data }: z.infer<typeof credentialUpdate>,
  stored: Credential,
): { secret?: { type: CredentialType; data: Record<string, unknown> } } {
  const kind = type ?? stored.type;
  const isUnchanged = (data ?? null) === null && kind === stored.type;
  return isUnchanged ? {} : { secret: { type: kind, data: checkedData(kind, data ?? {}) } };
}

/** The fields of this kind of credential, and nothing else. Throws CREDENTIAL_INVALID, which names fields and never
 *  quotes a value. */
function checkedData(type: CredentialType, data: Record<string, unknown>): Record<string, unknown> {
  const checked = credentialData[type].safeParse(data);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => {
    const field = String(path[0] ?? '');
    return Object.hasOwn(data, field) ? `${field}: ${message}` : `${field} is required`;
  });
  throw new GatewayError('CREDENTIAL_INVALID', { type, problems: problems.join('; ') });
}
