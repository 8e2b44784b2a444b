// Credentials of organizations for other systems, sealed. Source: contract §10.2.

import type { Selectable, Updateable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Credential, CredentialType } from '../../model/credential.ts';
import { isObject } from '../../std/json.ts';
import { isRowId, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { CredentialTable } from '../db/tables.ts';
import type { SecretContext } from '../secrets/secret-box.ts';

export interface NewCredential {
  name: string;
  description: string | null;
  type: CredentialType;
  /** Content in clear; the database has it sealed. */
  data: Record<string, unknown>;
}

/** Longest list. */
const LISTED_MAX = 1_000;
/** Rows that are resealed at a time. */
const RESEAL_ROWS_MAX = 200;

type Row = Selectable<CredentialTable>;

export type CredentialStore = Pick<CredentialRepository, keyof CredentialRepository>;

export class CredentialRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The organization's credentials by name; of more than a thousand the first. */
  async list(organizationId: string): Promise<Credential[]> {
    if (!isRowId(organizationId)) return [];
    const rows = await this.#context.db
      .selectFrom('credentials')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('deleted_at', 'is', null)
      .orderBy('name')
      .orderBy('id')
      .limit(LISTED_MAX)
      .execute();
    return rows.map(toCredential);
  }

  async get(organizationId: string, uuid: string): Promise<Credential | undefined> {
    const row = await this.#find(organizationId, uuid);
    return row === undefined ? undefined : toCredential(row);
  }

  /** Stores a credential. Throws CREDENTIAL_NAME_TAKEN. */
  async create(
    owner: { organizationId: string; userId: string },
    { name, description, type, data }: NewCredential,
  ): Promise<Credential> {
    const { db, clock, random } = this.#context;
    const uuid = random.uuid();
    const row = await refusingTaken(name, () =>
      db
        .insertInto('credentials')
        .values({
          organization_id: owner.organizationId,
          user_id: owner.userId,
          uuid,
          name: plainText(name),
          description: description === null ? null : plainText(description),
          type,
          secret: this.#seal({ organizationId: owner.organizationId, uuid }, data),
          created_at: new Date(clock.now()),
          updated_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    );
    return toCredential(row);
  }

  /** Changes a credential; a new type needs its data. Throws CREDENTIAL_NAME_TAKEN. */
  async update(
    organizationId: string,
    uuid: string,
    patch: {
      name?: string;
      description?: string | null;
      secret?: { type: CredentialType; data: Record<string, unknown> };
    },
  ): Promise<Credential | undefined> {
    if (!isRowId(organizationId)) return undefined;
    const { db, clock } = this.#context;
    const changed: Updateable<CredentialTable> = { updated_at: new Date(clock.now()) };
    const { name, description, secret } = patch;
    if (name !== undefined) changed.name = plainText(name);
    if (description !== undefined) {
      changed.description = description === null ? null : plainText(description);
    }
    if (secret !== undefined) {
      changed.type = secret.type;
      changed.secret = this.#seal({ organizationId, uuid }, secret.data);
    }
    const row = await refusingTaken(name ?? '', () =>
      db
        .updateTable('credentials')
        .set(changed)
        .where('organization_id', '=', organizationId)
        .where('uuid', '=', uuid)
        .where('deleted_at', 'is', null)
        .returningAll()
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toCredential(row);
  }

  /** Removes a credential: its name becomes free, its secret is deleted. False if there is none. */
  async remove(organizationId: string, uuid: string): Promise<boolean> {
    if (!isRowId(organizationId)) return false;
    const { db, clock } = this.#context;
    const { numUpdatedRows } = await db
      .updateTable('credentials')
      .set({ deleted_at: new Date(clock.now()), secret: null })
      .where('organization_id', '=', organizationId)
      .where('uuid', '=', uuid)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The unsealed credential, for a request. */
  async open(
    organizationId: string,
    uuid: string,
  ): Promise<{ type: CredentialType; data: Record<string, unknown> } | undefined> {
    const row = await this.#find(organizationId, uuid);
    if (row?.secret === undefined || row.secret === null) return undefined;
    const text = this.#context.secrets.open(row.secret, placeOf({ organizationId, uuid }));
    const data: unknown = JSON.parse(text);
    return { type: row.type, data: isObject(data) ? data : {} };
  }

  async #find(organizationId: string, uuid: string): Promise<Row | undefined> {
    if (!isRowId(organizationId)) return undefined;
    return this.#context.db
      .selectFrom('credentials')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('uuid', '=', uuid)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
  }

  #seal(of: { organizationId: string; uuid: string }, data: Record<string, unknown>): string {
    return this.#context.secrets.seal(JSON.stringify(data), placeOf(of));
  }
}

/** Seals every secret by the newest key. Returns the number of changed rows. */
export async function resealCredentials({ db, secrets }: StoreContext): Promise<number> {
  let changed = 0;
  for (let after = '0'; ; ) {
    const rows = await db
      .selectFrom('credentials')
      .select(['id', 'uuid', 'organization_id', 'secret'])
      .where('id', '>', after)
      .where('secret', 'is not', null)
      .orderBy('id')
      .limit(RESEAL_ROWS_MAX)
      .execute();
    for (const { id, uuid, organization_id: organizationId, secret } of rows) {
      if (secret === null || secrets.isNewest(secret)) continue;
      const place = placeOf({ organizationId, uuid });
      await db
        .updateTable('credentials')
        .set({ secret: secrets.seal(secrets.open(secret, place), place) })
        .where('id', '=', id)
        // A secret that was changed meanwhile is sealed by the newest key already.
        .where('secret', '=', secret)
        .execute();
      changed += 1;
    }
    const last = rows.at(-1)?.id;
    if (last === undefined) return changed;
    after = last;
  }
}

function placeOf({
  organizationId,
  uuid,
}: {
  organizationId: string;
  uuid: string;
}): SecretContext {
  return { organizationId, field: `credential ${uuid}` };
}

async function refusingTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violated(error) !== 'credentials_name') throw error;
    throw new GatewayError('CREDENTIAL_NAME_TAKEN', { name }, error);
  }
}

function toCredential(row: Row): Credential {
  return {
    id: row.id,
    uuid: row.uuid,
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    type: row.type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
