// Vobiz's REST interface: Plivo's requests with other headers. Source: docs.vobiz.ai

import { type AccountClient, createAccountClient } from '../plivo-xml/account-client.ts';
import type { Rest } from '../provider/rest-client.ts';
import { type VobizConfig, vobizCredentials } from './config.ts';

export function createVobizClient(rest: Rest): AccountClient<VobizConfig> {
  return createAccountClient(rest, {
    provider: 'vobiz',
    schema: vobizCredentials.schema,
    baseUrl: 'https://api.vobiz.ai',
    version: 'api/v1',
    headers: ({ auth_id, auth_token }) => ({
      ['x-auth-id']: auth_id,
      ['x-auth-token']: auth_token,
    }),
    // Status 402 means that the balance is too low for a call.
    capacityStatuses: new Set([402]),
  });
}
