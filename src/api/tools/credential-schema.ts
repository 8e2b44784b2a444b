// Schemas of credentials. Secrets are in requests only, never in replies. Source: contract §10.2.

import { z } from 'zod';
import { type Credential, credentialType } from '../../model/credential.ts';
import { isoTime, isoTimeOrNull, nameIn, timeOut } from '../http/values.ts';

const name = nameIn(255);
const description = z.string().max(2_000).nullish();
const data = z.record(z.string().max(100), z.unknown()).meta({
  description:
    'api_key: header_name, api_key. bearer_token: token. basic_auth: username, password. ' +
    'custom_header: header_name, header_value.',
});

export const credentialCreate = z.object({
  name,
  description,
  credential_type: credentialType,
  credential_data: data,
});

export const credentialUpdate = z.object({
  name: name.nullish(),
  description,
  credential_type: credentialType.nullish(),
  credential_data: data.nullish(),
});

export const credentialOut = z
  .object({
    uuid: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    credential_type: credentialType,
    created_at: timeOut,
    updated_at: timeOut.nullable(),
  })
  .meta({ id: 'CredentialResponse' });

export function credentialOnWire(credential: Credential): z.infer<typeof credentialOut> {
  return {
    uuid: credential.uuid,
    name: credential.name,
    description: credential.description,
    credential_type: credential.type,
    created_at: isoTime(credential.createdAt),
    updated_at: isoTimeOrNull(credential.updatedAt),
  };
}
