// One tool and one credential in an organization, and a request for every operation on them.

import type { Example } from './example.ts';
import type { Served } from './served.ts';

/** Stored by the owner; no answer and no log may hold it. */
export const CREDENTIAL_SECRET = 'the-token-of-the-credential';

const bearer = { credential_type: 'bearer_token', credential_data: { token: CREDENTIAL_SECRET } };

export async function makeTools(served: Served, mark: string): Promise<Record<string, Example>> {
  const credential = await served.ok('POST', '/credentials/', {
    ...bearer,
    name: `${mark} credential`,
  });
  return credentialExamples(credential.uuid);
}

function credentialExamples(uuid: string): Record<string, Example> {
  const path = { credential_uuid: uuid };
  return {
    listCredentials: {},
    createCredential: { body: { ...bearer, name: 'second' } },
    getCredential: { path },
    updateCredential: { path, body: { description: 'renamed' } },
    deleteCredential: { path },
  };
}
