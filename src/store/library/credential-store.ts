// Credentials as the rest of the gateway sees them. Deleted ones are there for nobody; what is secret in
// them comes out by `open` alone.

import type { Credential, CredentialType } from '../../model/credential.ts';

export interface NewCredential {
  name: string;
  description: string | null;
  type: CredentialType;
  /** In clear; all of it is sealed. */
  data: Record<string, unknown>;
}

export interface CredentialStore {
  /** By name; of more than a thousand the first. */
  list(organizationId: string): Promise<Credential[]>;
  get(organizationId: string, uuid: string): Promise<Credential | undefined>;
  /** Throws CREDENTIAL_NAME_TAKEN. */
  create(
    owner: { organizationId: string; userId: string },
    input: NewCredential,
  ): Promise<Credential>;
  /** A type comes with its data. Throws CREDENTIAL_NAME_TAKEN. */
  update(
    organizationId: string,
    uuid: string,
    patch: {
      name?: string;
      description?: string | null;
      secret?: { type: CredentialType; data: Record<string, unknown> };
    },
  ): Promise<Credential | undefined>;
  /** Its name is free again, its secret is gone. False if there is none. */
  remove(organizationId: string, uuid: string): Promise<boolean>;
  /** In clear, for a request. */
  open(
    organizationId: string,
    uuid: string,
  ): Promise<{ type: CredentialType; data: Record<string, unknown> } | undefined>;
}
