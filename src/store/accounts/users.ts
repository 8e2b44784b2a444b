// Users: their names, log-ins, and the tour state of the user interface. Passwords arrive here as hashes
// (api/auth/passwords.ts).

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { UserTable } from '../db/tables.ts';

export interface User {
  id: string;
  organizationId: string;
  name: string | null;
  /** E-mail address in lower case. Null for a user who only has keys. */
  email: string | null;
}

export interface PasswordLogin {
  email: string;
  passwordHash: string;
}

export interface UserStore {
  /** Creates a user in a new organization. Throws EMAIL_TAKEN. */
  signUp(logIn: PasswordLogin, name: string | null): Promise<User>;
  /** Adds a log-in to a user who only has keys. Undefined if the user has one, or does not exist. Throws
   *  EMAIL_TAKEN. */
  giveLogIn(userId: string, logIn: PasswordLogin): Promise<User | undefined>;
  /** Finds a log-in by its e-mail address, regardless of letter case. */
  findLogIn(email: string): Promise<{ user: User; passwordHash: string } | undefined>;
  get(userId: string): Promise<User | undefined>;
  /** Tour state of the user interface; an object with any keys. */
  onboarding(userId: string): Promise<Record<string, unknown>>;
  /** Merges the patch by top-level key. Returns the new state. */
  setOnboarding(userId: string, patch: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export class UserRepository implements UserStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async signUp({ email, passwordHash }: PasswordLogin, name: string | null): Promise<User> {
    const now = new Date(this.#context.clock.now());
    const shown = name === null ? null : plainText(name);
    const row = await refusingTaken(() =>
      this.#context.db.transaction().execute(async (tx) => {
        const organization = await tx
          .insertInto('organizations')
          .values({ slug: null, name: shown ?? normal(email), created_at: now })
          .returning('id')
          .executeTakeFirstOrThrow();
        return tx
          .insertInto('users')
          .values({
            organization_id: organization.id,
            name: shown,
            email: normal(email),
            password_hash: passwordHash,
            created_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      }),
    );
    return toUser(row);
  }

  async giveLogIn(
    userId: string,
    { email, passwordHash }: PasswordLogin,
  ): Promise<User | undefined> {
    if (!isRowId(userId)) return undefined;
    const row = await refusingTaken(() =>
      this.#context.db
        .updateTable('users')
        .set({ email: normal(email), password_hash: passwordHash })
        .where('id', '=', userId)
        .where('email', 'is', null)
        .returningAll()
        .executeTakeFirst(),
    );
    return row === undefined ? undefined : toUser(row);
  }

  async findLogIn(email: string): Promise<{ user: User; passwordHash: string } | undefined> {
    const row = await this.#context.db
      .selectFrom('users')
      .selectAll()
      .where('email', '=', normal(email))
      .executeTakeFirst();
    if (row === undefined || row.password_hash === null) return undefined;
    return { user: toUser(row), passwordHash: row.password_hash };
  }

  async get(userId: string): Promise<User | undefined> {
    if (!isRowId(userId)) return undefined;
    const row = await this.#context.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirst();
    return row === undefined ? undefined : toUser(row);
  }

  async onboarding(userId: string): Promise<Record<string, unknown>> {
    if (!isRowId(userId)) return {};
    const row = await this.#context.db
      .selectFrom('users')
      .select('onboarding')
      .where('id', '=', userId)
      .executeTakeFirst();
    return row?.onboarding ?? {};
  }

  async setOnboarding(
    userId: string,
    patch: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    if (!isRowId(userId)) return {};
    const row = await this.#context.db
      .updateTable('users')
      .set({ onboarding: sql<string>`onboarding || ${jsonText(patch)}::jsonb` })
      .where('id', '=', userId)
      .returning('onboarding')
      .executeTakeFirst();
    return row?.onboarding ?? {};
  }
}

function normal(email: string): string {
  return plainText(email).trim().toLowerCase();
}

async function refusingTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (violated(error) === 'users_email_key') throw new GatewayError('EMAIL_TAKEN', {}, error);
    throw error;
  }
}

function toUser(row: Selectable<UserTable>): User {
  return { id: row.id, organizationId: row.organization_id, name: row.name, email: row.email };
}
