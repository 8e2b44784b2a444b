// Headers of a stored credential, for an organization's requests to other systems.

import type { CredentialHeaders } from '../../../egress/guarded-http.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { headersOfCredential } from '../../../model/credential.ts';
import type { CredentialStore } from '../../../store/library/credentials.ts';

export function credentialHeadersFrom({
  credentials,
}: {
  credentials: Pick<CredentialStore, 'open'>;
}): CredentialHeaders {
  return async (organizationId, uuid) => {
    const opened = await credentials.open(organizationId, uuid);
    if (opened === undefined) throw new GatewayError('CREDENTIAL_NOT_FOUND');
    return headersOfCredential(opened.type, opened.data);
  };
}
