// API keys of all organizations, without authentication, for the command `patchbay keys`, which needs read access to
// the data folder or the database.

import type { StoreContext } from '../db/store-context.ts';
import type { AccountRepository, ApiKey } from './accounts.ts';

/** Longest list that is printed. */
const KEYS_LISTED_MAX = 1_000;

type Context = Pick<StoreContext, 'db' | 'clock'>;

export interface MachineKey
  extends Pick<ApiKey, 'id' | 'organizationId' | 'name' | 'prefix' | 'createdAt' | 'lastUsedAt'> {
  organizationName: string;
  isArchived: boolean;
}

/** The newest keys, in the order of their age, oldest first. */
export async function listMachineKeys({ db }: Context): Promise<MachineKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .select(['api_keys.id', 'api_keys.organization_id', 'api_keys.name', 'api_keys.prefix'])
    .select(['api_keys.created_at', 'api_keys.last_used_at', 'api_keys.archived_at'])
    .select('organizations.name as organization')
    .orderBy('api_keys.id', 'desc')
    .limit(KEYS_LISTED_MAX)
    .execute();
  return rows.toReversed().map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    organizationName: row.organization,
    name: row.name,
    prefix: row.prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    isArchived: row.archived_at !== null,
  }));
}

/** Owner of a new key: the first user of that organization, or of the oldest organization. Undefined if there is
 *  none. */
export async function ownerOfNewKey(
  { db }: Context,
  organizationId: string | undefined,
): Promise<Parameters<AccountRepository['createApiKey']>[0] | undefined> {
  const row = await db
    .selectFrom('users')
    .select(['id', 'organization_id'])
    .$if(organizationId !== undefined, (users) =>
      users.where('organization_id', '=', organizationId ?? ''),
    )
    .orderBy('organization_id')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && { organizationId: row.organization_id, userId: row.id };
}

/** Archives a key. False if there is none with that id. */
export async function archiveMachineKey({ db, clock }: Context, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ is_active: false, archived_at: new Date(clock.now()) })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
