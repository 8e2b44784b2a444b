// Organizations, their users and API keys. A key's text exists only when it is created; its SHA-256 is stored,
// which is enough because a key has 256 random bits. A key that is archived here is refused at once, one that another
// process archives within a second (`CheckedKeys`).

import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { SharedReads } from '../../std/batches.ts';
import type { Clock } from '../../std/clock.ts';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { ApiKeyTable } from '../db/tables.ts';

export interface ApiKey {
  id: string;
  organizationId: string;
  userId: string;
  name: string;
  /** First eight characters, by which users recognise the key. */
  prefix: string;
  isActive: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  archivedAt: Date | null;
}

type KeyRow = Pick<Selectable<ApiKeyTable>, 'id' | 'organization_id' | 'user_id' | 'last_used_at'>;

/** The identity of a request's sender. */
export interface Principal {
  organizationId: string;
  userId: string;
  /** Null for a user who has logged in. */
  apiKeyId: string | null;
}

const KEY_PREFIX = 'pbk_';
const KEY_RANDOM_BYTES = 32;
const SHOWN_CHARACTERS = 8;
/** Longest key that is hashed. Ours have 47 characters. */
const KEY_CHARACTERS_MAX = 200;
/** More keys than an organization uses; beyond it, the newest are listed. */
const KEYS_LISTED_MAX = 1_000;
/** The time of use is written at most this often. */
const USED_EVERY_MS = 60_000;

type AccountContext = Pick<StoreContext, 'db' | 'clock' | 'random' | 'log' | 'callLimit'>;

export type AccountStore = Pick<AccountRepository, keyof AccountRepository>;

export class AccountRepository {
  readonly #context: AccountContext;
  /** Reads of keys by hash: a client may send hundreds of requests per second. */
  readonly #keys = new SharedReads<KeyRow | undefined>();
  readonly #checked: CheckedKeys<KeyRow>;

  constructor(context: AccountContext) {
    this.#context = context;
    this.#checked = new CheckedKeys(context.clock);
  }

  /** Creates one organization, one user and one key on an empty database, and returns the key's text, this once. The
   *  key is `given`, or a new one. */
  async ensureFirst(given?: string): Promise<{ apiKey: string } | undefined> {
    const { db, random } = this.#context;
    const createdAt = this.#now();
    return db.transaction().execute(async (tx) => {
      const any = await tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
      if (any !== undefined) return undefined;
      const organization = await tx
        .insertInto('organizations')
        .values({ slug: 'first', name: 'First organization', created_at: createdAt })
        .onConflict((conflict) => conflict.column('slug').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (organization === undefined) return undefined; // Another node was first.
      const organizationId = organization.id;
      const user = await tx
        .insertInto('users')
        .values({ organization_id: organizationId, name: 'First user', created_at: createdAt })
        .returning('id')
        .executeTakeFirstOrThrow();
      const apiKey = given ?? newKey(random.bytes(KEY_RANDOM_BYTES));
      const row = {
        organization_id: organizationId,
        user_id: user.id,
        name: 'First key',
        created_at: createdAt,
      };
      await tx
        .insertInto('api_keys')
        .values({ ...row, ...stored(apiKey) })
        .execute();
      return { apiKey };
    });
  }

  async createApiKey(
    owner: { organizationId: string; userId: string },
    name: string,
  ): Promise<{ record: ApiKey; apiKey: string }> {
    const apiKey = newKey(this.#context.random.bytes(KEY_RANDOM_BYTES));
    const row = await this.#context.db
      .insertInto('api_keys')
      .values({
        organization_id: owner.organizationId,
        user_id: owner.userId,
        name,
        created_at: this.#now(),
        ...stored(apiKey),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { record: toApiKey(row), apiKey };
  }

  /** The organization's keys, oldest first; of more than a thousand the newest. */
  async listApiKeys(organizationId: string, includeArchived: boolean): Promise<ApiKey[]> {
    if (!isRowId(organizationId)) return [];
    const rows = await this.#context.db
      .selectFrom('api_keys')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .$if(!includeArchived, (query) => query.where('archived_at', 'is', null))
      .orderBy('id', 'desc')
      .limit(KEYS_LISTED_MAX)
      .execute();
    return rows.toReversed().map(toApiKey);
  }

  /** Archives a key. False if there is none with that id. */
  archiveApiKey(organizationId: string, id: string): Promise<boolean> {
    return this.#update(organizationId, id, { is_active: false, archived_at: this.#now() });
  }

  reactivateApiKey(organizationId: string, id: string): Promise<boolean> {
    return this.#update(organizationId, id, { is_active: true, archived_at: null });
  }

  /** Whether a key of the organization can be used. */
  async isKeyActive(organizationId: string, id: string): Promise<boolean> {
    if (!isRowId(organizationId) || !isRowId(id)) return false;
    const row = await this.#context.db
      .selectFrom('api_keys')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .where('is_active', '=', true)
      .where('archived_at', 'is', null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The owner of a key; undefined for an unknown or archived key. Stores the time of use. */
  async authenticate(apiKey: string): Promise<Principal | undefined> {
    if (apiKey.length > KEY_CHARACTERS_MAX) return undefined;
    const keyHash = hash(apiKey);
    const name = keyHash.toString('hex');
    const read = () => this.#keys.get(name, () => this.#keyOf(keyHash));
    const row = this.#checked.get(name) ?? (await this.#checked.read(name, read));
    if (row === undefined) return undefined;
    await this.#noteUse(row);
    return { organizationId: row.organization_id, userId: row.user_id, apiKeyId: row.id };
  }

  /** Limit of the organization's concurrent calls; 0 if it does not exist. */
  async concurrentCallLimit(organizationId: string): Promise<number> {
    if (!isRowId(organizationId)) return 0;
    const row = await this.#context.db
      .selectFrom('organizations')
      .select('concurrent_call_limit')
      .where('id', '=', organizationId)
      .executeTakeFirst();
    if (row === undefined) return 0;
    return row.concurrent_call_limit ?? this.#context.callLimit;
  }

  #keyOf(keyHash: Buffer): Promise<KeyRow | undefined> {
    return this.#context.db
      .selectFrom('api_keys')
      .select(['id', 'organization_id', 'user_id', 'last_used_at'])
      .where('key_hash', '=', keyHash)
      .where('is_active', '=', true)
      .where('archived_at', 'is', null)
      .executeTakeFirst();
  }

  async #noteUse(row: KeyRow): Promise<void> {
    const now = this.#now();
    const { id, last_used_at: usedAt } = row;
    if (usedAt !== null && now.getTime() - usedAt.getTime() < USED_EVERY_MS) return;
    // Updates the row for other readers that share it.
    row.last_used_at = now;
    try {
      await this.#context.db
        .updateTable('api_keys')
        .set({ last_used_at: now })
        .where('id', '=', id)
        .execute();
    } catch (error) {
      // A full disk must not prevent its owner from reading.
      this.#context.log.warn({ err: error }, 'use of a key not noted');
    }
  }

  async #update(
    organizationId: string,
    id: string,
    change: { is_active: boolean; archived_at: Date | null },
  ): Promise<boolean> {
    if (!isRowId(organizationId) || !isRowId(id)) return false;
    const { numUpdatedRows } = await this.#context.db
      .updateTable('api_keys')
      .set(change)
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    this.#checked.forget();
    return numUpdatedRows > 0n;
  }

  #now(): Date {
    return new Date(this.#context.clock.now());
  }
}

function newKey(random: Buffer): string {
  return `${KEY_PREFIX}${random.toString('base64url')}`;
}

function stored(apiKey: string): { prefix: string; key_hash: Buffer } {
  return { prefix: apiKey.slice(0, SHOWN_CHARACTERS), key_hash: hash(apiKey) };
}

function hash(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

function toApiKey(row: Selectable<ApiKeyTable>): ApiKey {
  return {
    id: row.id,
    organizationId: row.organization_id,
    userId: row.user_id,
    name: row.name,
    prefix: row.prefix,
    isActive: row.is_active,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    archivedAt: row.archived_at,
  };
}

/** Milliseconds for which a key stays cached, during which an archival by another process has no effect here. */
const KNOWN_MS = 1_000;
/** Cached keys, those of one second's clients. Beyond, the one that was read first is removed. */
const KEYS_MAX = 10_000;

/** Cache of valid API keys, so that the key of a client with many requests per second is read
 *  once a second. A change by this process clears it. */
export class CheckedKeys<Row> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Rows by hash, in the order in which they were read. */
  readonly #rows = new Map<string, { row: Row; untilMs: number }>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get(hash: string): Row | undefined {
    const known = this.#rows.get(hash);
    return known !== undefined && this.#clock.monotonicMs() < known.untilMs ? known.row : undefined;
  }

  /** Reads the row and caches it, unless keys change meanwhile. */
  async read(hash: string, read: () => Promise<Row | undefined>): Promise<Row | undefined> {
    const changes = this.#changes;
    const untilMs = this.#clock.monotonicMs() + KNOWN_MS;
    const row = await read();
    this.#rows.delete(hash);
    if (row === undefined || changes !== this.#changes) return row;
    this.#rows.set(hash, { row, untilMs });
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > KEYS_MAX && oldest !== undefined) this.#rows.delete(oldest);
    return row;
  }

  /** Clears the cache after a change is stored. */
  forget(): void {
    this.#changes += 1;
    this.#rows.clear();
  }
}
