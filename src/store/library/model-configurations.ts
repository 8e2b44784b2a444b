// Speech services of organizations, and the older settings of single users: sealed as a whole. The configuration that
// calls read stays unsealed in this process until its revision changes.

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type ConfiguredSections,
  storedSectionsOf,
} from '../../model/speech-services/model-configuration.ts';
import { SharedReads } from '../../std/batches.ts';
import { isObject } from '../../std/json.ts';
import { SerialQueues } from '../../std/serial-queue.ts';
import { isRowId } from '../db/column-values.ts';
import { withOrganizationLock } from '../db/organization-lock.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { Fields, ModelConfigurationTable } from '../db/tables.ts';
import type { SecretContext } from '../secrets/secret-box.ts';

/** Unsealed configurations that one process keeps: organizations with calls at the same time. A few kilobytes each. */
const OPENED_MAX = 500;
/** Changes of one organization's services that wait for each other: each sends a request to a service for up to 4 s, to
 *  check its key. The API admits at most 64 such requests of an organization at a time (api/admission/admission.ts). */
const CHANGES_WAITING_MAX = 100;
/** Repetitions of a change, more than processes change one organization's services at the same moment. */
const CHANGE_TRIES_MAX = 10;
/** Rows of one read of all configurations. */
const ROWS_MAX = 200;

/** Owner of a configuration: an organization (`userId` null), or one user in the older shape. */
export interface ConfigurationOwner {
  organizationId: string;
  userId: string | null;
}

export interface StoredModelConfiguration {
  /** Content with its secrets. */
  configuration: Fields;
  /** Time when the services last accepted its keys. */
  validatedAt: Date | null;
}

/** The configuration for an organization's calls: its own, else the one that a user of it saved last. */
export type CallConfiguration = { organization: Fields } | { legacyUser: Fields } | undefined;

/** Sections that calls of an organization use, without its workflows' overrides. */
export function sectionsInUse(used: CallConfiguration): ConfiguredSections {
  if (used === undefined) return {};
  return storedSectionsOf('organization' in used ? used.organization : used.legacyUser) ?? {};
}

export type ConfigurationSource = 'organization' | 'legacyUser';

/** Configuration for an organization's calls, with a check for data that is derived from it and stored elsewhere. */
export interface ServicesRead {
  used: CallConfiguration;
  /** Whether it is still in use, until the transaction ends. */
  isStill(tx: TransactionContext): Promise<boolean>;
}

interface Opened {
  revision: string;
  configuration: Fields;
}

interface InUse {
  used: CallConfiguration;
  /** Undefined if nothing is stored. */
  revision: string | undefined;
}

/** A configuration to store in place of the one in use. */
interface Changed {
  owner: ConfigurationOwner;
  configuration: Fields;
}

type Row = Pick<
  Selectable<ModelConfigurationTable>,
  'organization_id' | 'user_id' | 'sealed' | 'revision'
>;

export type ModelConfigurationStore = Pick<
  ModelConfigurationRepository,
  keyof ModelConfigurationRepository
>;

export class ModelConfigurationRepository {
  readonly #context: StoreContext;
  /** Unsealed configurations by organization, the least recently used first. */
  readonly #opened = new Map<string, Opened>();
  readonly #reads = new SharedReads<InUse>();
  readonly #changes = new SerialQueues('changes of services', CHANGES_WAITING_MAX);

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** The stored configuration; undefined if there is none. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
  async get(owner: ConfigurationOwner): Promise<StoredModelConfiguration | undefined> {
    if (!isOwner(owner)) return undefined;
    const row = await this.#rowOf(owner).selectAll().executeTakeFirst();
    if (row === undefined) return undefined;
    return { configuration: opened(this.#context, row), validatedAt: row.validated_at };
  }

  /** Source of the configuration for an organization's calls; undefined: the gateway's. Opens no secret. */
  async sourceOf(organizationId: string): Promise<ConfigurationSource | undefined> {
    const owner = await this.ownerInUse(organizationId);
    if (owner === undefined) return undefined;
    return owner.userId === null ? 'organization' : 'legacyUser';
  }

  /** The same source with the user. */
  async ownerInUse(organizationId: string): Promise<ConfigurationOwner | undefined> {
    if (!isRowId(organizationId)) return undefined;
    const row = await this.#forCalls(organizationId).select('user_id').executeTakeFirst();
    return row === undefined ? undefined : { organizationId, userId: row.user_id };
  }

  /** Replaces the stored configuration. `validatedAt` becomes now. */
  async save(owner: ConfigurationOwner, configuration: Fields): Promise<void> {
    await this.#store({ owner, configuration }, () => true);
  }

  /** Changes the configuration for the organization's calls. `change` gets all of it and may take long: changes of one
   *  organization are serialised. It is called again if another process changed the configuration meanwhile, so no
   *  change is lost. Throws what `change` throws, QUEUE_FULL, STORE_UNAVAILABLE. */
  change(
    organizationId: string,
    change: (used: CallConfiguration) => Promise<Changed>,
  ): Promise<void> {
    return this.#changes.run(organizationId, () => this.#change(organizationId, change));
  }

  async #change(
    organizationId: string,
    change: (used: CallConfiguration) => Promise<Changed>,
  ): Promise<void> {
    for (let tries = 0; tries < CHANGE_TRIES_MAX; tries++) {
      const { used, revision } = await this.#inUse(organizationId);
      const changed = await change(used);
      if (await this.#store(changed, (current) => current === revision)) return;
    }
    throw new GatewayError('STORE_UNAVAILABLE');
  }

  /** Stores the change if `isStill` accepts the revision in use. Organizations are locked, because the configuration
   *  that was saved last is used, so two saves must not happen at the same moment. */
  async #store(
    { owner, configuration }: Changed,
    isStill: (revision: string | undefined) => boolean,
  ): Promise<boolean> {
    const { clock, random, secrets } = this.#context;
    const { organizationId, userId } = owner;
    const now = new Date(clock.now());
    const sealed = secrets.seal(JSON.stringify(configuration), placeOf(owner));
    return withOrganizationLock(this.#context, organizationId, async (tx) => {
      const current = await inUseOf(tx, organizationId).select('revision').executeTakeFirst();
      if (!isStill(current?.revision)) return false;
      const updated = sql<Date>`greatest(${now}::timestamptz, (
        select max(updated_at) + interval '1 microsecond' from model_configurations
        where organization_id = ${organizationId}))`;
      const values = { sealed, revision: random.uuid(), validated_at: now, updated_at: updated };
      await tx
        .insertInto('model_configurations')
        .values({ organization_id: organizationId, user_id: userId, ...values })
        .onConflict((conflict) =>
          conflict.columns(['organization_id', 'user_id']).doUpdateSet((of) => ({
            sealed: of.ref('excluded.sealed'),
            revision: of.ref('excluded.revision'),
            validated_at: of.ref('excluded.validated_at'),
            updated_at: of.ref('excluded.updated_at'),
          })),
        )
        .execute();
      return true;
    });
  }

  /** Notes that the services accepted the keys now. */
  async noteValidated(owner: ConfigurationOwner): Promise<void> {
    if (!isOwner(owner)) return;
    await this.#context.db
      .updateTable('model_configurations')
      .set({ validated_at: new Date(this.#context.clock.now()) })
      .where('organization_id', '=', owner.organizationId)
      .where('user_id', owner.userId === null ? 'is' : '=', owner.userId)
      .execute();
  }

  /** The configuration for a call, by one short query. The result is shared and must not be changed. Throws
   *  SECRET_KEY_MISSING, SECRET_UNREADABLE. */
  async forCalls(organizationId: string): Promise<CallConfiguration> {
    return (await this.#inUse(organizationId)).used;
  }

  /** The same as `forCalls`, with a check for derived data. */
  async read(organizationId: string): Promise<ServicesRead> {
    const { used, revision } = await this.#inUse(organizationId);
    return {
      used,
      isStill: async (tx) => {
        const row = inUseOf(tx, organizationId).select('revision').forShare();
        return (await row.executeTakeFirst())?.revision === revision;
      },
    };
  }

  async #inUse(organizationId: string): Promise<InUse> {
    if (!isRowId(organizationId)) return NOTHING;
    return this.#reads.get(organizationId, () => this.#readInUse(organizationId));
  }

  async #readInUse(organizationId: string): Promise<InUse> {
    const kept = this.#opened.get(organizationId);
    const row = await this.#forCalls(organizationId)
      .select(['organization_id', 'user_id', 'revision'])
      .select((of) =>
        of
          .case()
          .when('revision', '=', kept?.revision ?? NO_REVISION)
          .then(null)
          .else(of.ref('sealed'))
          .end()
          .as('sealed'),
      )
      .executeTakeFirst();
    this.#opened.delete(organizationId);
    if (row === undefined) return NOTHING;
    const configuration =
      row.sealed === null
        ? (kept?.configuration ?? {})
        : opened(this.#context, { ...row, sealed: row.sealed });
    const { revision, user_id: userId } = row;
    this.#keep(organizationId, { revision, configuration });
    const used = userId === null ? { organization: configuration } : { legacyUser: configuration };
    return { used, revision };
  }

  #keep(organizationId: string, fresh: Opened): void {
    this.#opened.set(organizationId, fresh);
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > OPENED_MAX && oldest !== undefined) this.#opened.delete(oldest);
  }

  #forCalls(organizationId: string) {
    return inUseOf(this.#context.db, organizationId);
  }

  #rowOf({ organizationId, userId }: ConfigurationOwner) {
    return this.#context.db
      .selectFrom('model_configurations')
      .where('organization_id', '=', organizationId)
      .where('user_id', userId === null ? 'is' : '=', userId);
  }
}

/** Query for the organization's own configuration, else the one that a user of it saved last. */
function inUseOf(db: StoreContext['db'], organizationId: string) {
  return db
    .selectFrom('model_configurations')
    .where('organization_id', '=', organizationId)
    .orderBy((of) => of('user_id', 'is', null), 'desc')
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);
}

const NOTHING: InUse = { used: undefined, revision: undefined };
/** Revision that no row has. */
const NO_REVISION = '00000000-0000-0000-0000-000000000000';

/** Seals all configurations by the newest key. Returns the number of changed rows. */
export async function resealModelConfigurations({ db, secrets }: StoreContext): Promise<number> {
  let changed = 0;
  for (let after = '0'; ; ) {
    const rows = await db
      .selectFrom('model_configurations')
      .select(['id', 'organization_id', 'user_id', 'sealed'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_MAX)
      .execute();
    for (const { id, sealed, organization_id: organizationId, user_id: userId } of rows) {
      if (secrets.isNewest(sealed)) continue;
      const place = placeOf({ organizationId, userId });
      await db
        .updateTable('model_configurations')
        .set({ sealed: secrets.seal(secrets.open(sealed, place), place) })
        .where('id', '=', id)
        // A configuration that was changed meanwhile is sealed by the newest key already.
        .where('sealed', '=', sealed)
        .execute();
      changed += 1;
    }
    const last = rows.at(-1)?.id;
    if (last === undefined) return changed;
    after = last;
  }
}

/** All stored configurations, in the order of their ids. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export async function* storedModelConfigurations(
  context: StoreContext,
): AsyncGenerator<{ organizationId: string; configuration: Fields }> {
  for (let after = '0'; ; ) {
    const rows = await context.db
      .selectFrom('model_configurations')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_MAX)
      .execute();
    for (const row of rows) {
      yield { organizationId: row.organization_id, configuration: opened(context, row) };
    }
    const last = rows.at(-1)?.id;
    if (last === undefined) return;
    after = last;
  }
}

function opened({ secrets }: StoreContext, row: Omit<Row, 'revision'>): Fields {
  const place = placeOf({ organizationId: row.organization_id, userId: row.user_id });
  const configuration: unknown = JSON.parse(secrets.open(row.sealed, place));
  return isObject(configuration) ? configuration : {};
}

function placeOf({ organizationId, userId }: ConfigurationOwner): SecretContext {
  const field = userId === null ? 'model configuration' : `model configuration of user ${userId}`;
  return { organizationId, field };
}

function isOwner({ organizationId, userId }: ConfigurationOwner): boolean {
  return isRowId(organizationId) && (userId === null || isRowId(userId));
}
