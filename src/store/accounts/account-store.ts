// Organizations, users and keys as the rest of the gateway sees them.

export interface ApiKey {
  id: string;
  organizationId: string;
  userId: string;
  name: string;
  /** First eight characters, for people to recognise it. */
  prefix: string;
  isActive: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  archivedAt: Date | null;
}

/** Who makes a request. */
export interface Principal {
  organizationId: string;
  userId: string;
  /** Null for a user who has logged in. */
  apiKeyId: string | null;
}

export interface AccountStore {
  /** On an empty database: one organization, one user and one key, whose text is returned once. */
  ensureFirst(): Promise<{ apiKey: string } | undefined>;
  createApiKey(
    owner: { organizationId: string; userId: string },
    name: string,
  ): Promise<{ record: ApiKey; apiKey: string }>;
  /** Oldest first; of more than a thousand the newest. */
  listApiKeys(organizationId: string, includeArchived: boolean): Promise<ApiKey[]>;
  /** False if there is none of that id. */
  archiveApiKey(organizationId: string, id: string): Promise<boolean>;
  reactivateApiKey(organizationId: string, id: string): Promise<boolean>;
  /** Whose key this is; undefined for an unknown or archived one. Notes the time of use. */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  concurrentCallLimit(organizationId: string): Promise<number>;
}
