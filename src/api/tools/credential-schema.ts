// Schemas of credentials. Secrets are in requests only, never in replies. Source: contract §10.2.

import { z } from 'zod';
import { type Credential, credentialType } from '../../model/credential.ts';
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

export const credentialCreate = z.object({
  name,
  description,
  credential_type: credentialType.describe('Decides which headers requests get.'),
  credential_data: data,
});

export const credentialUpdate = z.object({
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

export const credentialOut = z
  .object({
    uuid: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    credential_type: credentialType,
    created_at: timeOut,
    updated_at: timeOut.nullable(),
  })
  .meta({ id: 'CredentialResponse', description: 'A credential without its secrets.' });

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
