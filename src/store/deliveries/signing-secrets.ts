// The secret that signs an organization's outgoing webhooks, and the previous one while receivers change over. Stored
// sealed; its text is shown once.

import type { Selectable } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { SigningSecretTable } from '../db/tables.ts';
import { withContext } from '../db/with-context.ts';
import type { SecretContext } from '../secrets/secret-box.ts';

export interface SigningSecret {
  /** First characters, by which users recognise the secret. */
  prefix: string;
  createdAt: Date;
  /** Time until which the previous secret signs as well; null without one. */
  formerUntil: Date | null;
}

const SECRET_PREFIX = 'whsec_';
const SECRET_RANDOM_BYTES = 32;
const SHOWN_CHARACTERS = 10;

type Row = Selectable<SigningSecretTable>;

export type SigningSecretStore = ReturnType<typeof signingSecretStore>;

export function signingSecretStore(context: StoreContext) {
  return withContext(context, {
    get: getRecord,
    rotate,
    inForce,
  });
}

/** Seals every secret by the newest key. Returns the number of changed rows. */
export async function resealSigningSecrets(context: StoreContext): Promise<number> {
  const { db, secrets } = context;
  const rows = await db.selectFrom('signing_secrets').selectAll().execute();
  const stale = rows.filter(({ secret, former }) => {
    return !secrets.isNewest(secret) || (former !== null && !secrets.isNewest(former));
  });
  for (const row of stale) {
    const place = placeOf(row.organization_id);
    const again = (sealed: string) => secrets.seal(secrets.open(sealed, place), place);
    await db
      .updateTable('signing_secrets')
      .set({
        secret: again(row.secret),
        former: row.former === null ? null : again(row.former),
      })
      .where('organization_id', '=', row.organization_id)
      .where('secret', '=', row.secret)
      .execute();
  }
  return stale.length;
}

/** Creates a new secret, and returns its text, this once. The previous one signs for `graceMs` more. */
async function rotate(
  context: StoreContext,
  organizationId: string,
  graceMs: number,
): Promise<{ record: SigningSecret; secret: string }> {
  const { db, clock } = context;
  const { secret, values } = made(context, organizationId);
  const formerUntil = new Date(clock.now() + graceMs);
  const row = await db
    .insertInto('signing_secrets')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet((of) => ({
        secret: of.ref('excluded.secret'),
        prefix: of.ref('excluded.prefix'),
        created_at: of.ref('excluded.created_at'),
        former: of.ref('signing_secrets.secret'),
        former_until: formerUntil,
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  return { record: toRecord(context, row), secret };
}

/** Texts of the current secrets, newest first; the first is created if there is none. */
async function inForce(context: StoreContext, organizationId: string): Promise<string[]> {
  const row = (await read(context, organizationId)) ?? (await makeFirst(context, organizationId));
  if (row === undefined) return [];
  const place = placeOf(organizationId);
  const sealed = isFormerInForce(context, row) ? [row.secret, row.former] : [row.secret];
  return sealed.flatMap((each) => (each === null ? [] : [context.secrets.open(each, place)]));
}

async function makeFirst(context: StoreContext, organizationId: string): Promise<Row | undefined> {
  if (!isRowId(organizationId)) return undefined;
  await context.db
    .insertInto('signing_secrets')
    .values(made(context, organizationId).values)
    .onConflict((conflict) => conflict.column('organization_id').doNothing())
    .execute();
  return read(context, organizationId);
}

async function read({ db }: StoreContext, organizationId: string): Promise<Row | undefined> {
  if (!isRowId(organizationId)) return undefined;
  return db
    .selectFrom('signing_secrets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
}

function made({ clock, random, secrets }: StoreContext, organizationId: string) {
  const secret = SECRET_PREFIX + random.bytes(SECRET_RANDOM_BYTES).toString('base64url');
  return {
    secret,
    values: {
      organization_id: organizationId,
      secret: secrets.seal(secret, placeOf(organizationId)),
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      created_at: new Date(clock.now()),
      former: null,
      former_until: null,
    },
  };
}

function placeOf(organizationId: string): SecretContext {
  return { organizationId, field: 'webhook signing secret' };
}

function isFormerInForce({ clock }: StoreContext, { former_until: until }: Row): boolean {
  return until !== null && until.getTime() > clock.now();
}

function toRecord(context: StoreContext, row: Row): SigningSecret {
  return {
    prefix: row.prefix,
    createdAt: row.created_at,
    formerUntil: isFormerInForce(context, row) ? row.former_until : null,
  };
}

/** The organization's secrets; undefined if it has none yet. */
async function getRecord(
  context: StoreContext,
  organizationId: string,
): Promise<SigningSecret | undefined> {
  const row = await read(context, organizationId);
  return row === undefined ? undefined : toRecord(context, row);
}
