// Plivo's REST interface. Source: plivo.com/docs/voice/api/overview

import { type AccountClient, createAccountClient } from '../plivo-xml/account-client.ts';
import type { Rest } from '../provider/rest-client.ts';
import { type PlivoConfig, plivoCredentials } from './config.ts';

export function createPlivoClient(rest: Rest): AccountClient<PlivoConfig> {
  return createAccountClient(rest, {
    provider: 'plivo',
    schema: plivoCredentials.schema,
    baseUrl: 'https://api.plivo.com',
    version: 'v1',
    headers: ({ auth_id, auth_token }) => ({
      authorization: `Basic ${Buffer.from(`${auth_id}:${auth_token}`).toString('base64')}`,
    }),
    capacityStatuses: new Set([402]),
  });
}
