// Telephony configurations: a provider's credentials with sealed secrets, under a name. At most one per organization is
// the default for outbound calls.

import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { OverflowPolicy } from '../../model/overflow.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import { isRowId, jsonOrNull, jsonText, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import { withOrganizationLock } from '../db/organization-lock.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { TelephonyConfigurationTable } from '../db/tables.ts';
import { isFreshlySealed, openFields, sealFields, sealPlaces } from '../secrets/sealed-fields.ts';

export interface ConfigurationSummary extends TelephonyConfiguration {
  activePhoneNumbers: number;
  enabledTrunks: number;
}

type Row = Selectable<TelephonyConfigurationTable>;

/** Rows that are resealed together. */
const RESEAL_ROWS_MAX = 100;

/** Configurations with one provider account in all organizations, each of which a webhook may verify. */
const OF_ACCOUNT_MAX = 20;
/** Longest list, more than an organization has provider accounts. */
const LISTED_MAX = 1_000;

/** The organization's configurations, oldest first. */
export async function listConfigurations(
  context: StoreContext,
  organizationId: string,
): Promise<ConfigurationSummary[]> {
  if (!isRowId(organizationId)) return [];
  const rows = await summaries(context)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(LISTED_MAX)
    .execute();
  return rows.map((row) => toSummary(context, row));
}

export async function getConfiguration(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<ConfigurationSummary | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await summaries(context)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toSummary(context, row);
}

/** Configurations of any organization for a webhook that only has its account, newest first. */
export async function listOfAccount(
  context: StoreContext,
  provider: ConfiguredProviderName,
  accountId: string,
): Promise<TelephonyConfiguration[]> {
  const rows = await context.db
    .selectFrom('telephony_configurations')
    .selectAll()
    .where('provider', '=', provider)
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(OF_ACCOUNT_MAX)
    .execute();
  return rows.map((row) => toConfiguration(context, row));
}

/** Stores a configuration. Throws CONFIGURATION_NAME_TAKEN. */
export async function insertConfiguration(
  context: StoreContext,
  organizationId: string,
  input: {
    name: string;
    provider: ConfiguredProviderName;
    isDefaultOutbound: boolean;
    credentials: Record<string, unknown>;
    /** Value by which inbound calls find this configuration; null for none. */
    accountId: string | null;
    /** Credential fields to seal. */
    secretFields: readonly string[];
    /** Calls per second, 1 to 1000. Default null: no limit. */
    callsPerSecond?: number | null;
    /** Default null: inbound calls above the limit are refused. */
    overflow?: OverflowPolicy | null | undefined;
  },
): Promise<ConfigurationSummary> {
  const { secrets } = context;
  const now = new Date(context.clock.now());
  const sealed = sealFields(input.credentials, input.secretFields, organizationId, secrets);
  try {
    const insert = async (tx: TransactionContext): Promise<ConfigurationSummary> => {
      if (input.isDefaultOutbound) await clearDefault(tx, organizationId);
      const row = await tx
        .insertInto('telephony_configurations')
        .values({
          organization_id: organizationId,
          name: input.name,
          provider: input.provider,
          is_default_outbound: input.isDefaultOutbound,
          credentials: jsonText(sealed.credentials),
          sealed_fields: sealed.sealedFields,
          account_id: input.accountId,
          inactive_since: null,
          inactive_reason: null,
          calls_per_second: input.callsPerSecond ?? null,
          overflow: jsonOrNull(input.overflow),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toSummary(context, { ...row, active_phone_numbers: '0', enabled_trunks: '0' });
    };
    return input.isDefaultOutbound
      ? await withOrganizationLock(context, organizationId, insert)
      : await context.db.transaction().execute(insert);
  } catch (error) {
    throw asConflict(error, input.name);
  }
}

interface ConfigurationPatch {
  name?: string;
  credentials?: Record<string, unknown>;
  accountId?: string | null;
  secretFields?: readonly string[];
  callsPerSecond?: number | null;
  overflow?: OverflowPolicy | null | undefined;
}

/** Changes a configuration. Throws CONFIGURATION_NAME_TAKEN, PHONE_NUMBER_ROUTED_ELSEWHERE. */
export async function updateConfiguration(
  context: StoreContext,
  organizationId: string,
  id: string,
  patch: ConfigurationPatch,
): Promise<ConfigurationSummary | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  try {
    await context.db.transaction().execute(async (tx) => {
      const row = await lockConfiguration(tx, organizationId, id);
      if (row === undefined) return;
      await tx
        .updateTable('telephony_configurations')
        .set({ ...changes(context, row, patch), updated_at: new Date(context.clock.now()) })
        .where('id', '=', id)
        .execute();
      if (patch.accountId === undefined || patch.accountId === row.account_id) return;
      await tx
        .updateTable('phone_numbers')
        .set({ account_id: patch.accountId })
        .where('configuration_id', '=', id)
        .execute();
    });
  } catch (error) {
    throw asConflict(error, patch.name ?? '');
  }
  return getConfiguration(context, organizationId, id);
}

/** Disables outbound calls over the configuration until it is enabled again. `reason` is shown, with the time. False if
 *  there is none with that id. */
export async function deactivateConfiguration(
  context: StoreContext,
  organizationId: string,
  id: string,
  reason: string,
): Promise<boolean> {
  const now = new Date(context.clock.now());
  return setInactive(context, organizationId, id, {
    inactive_since: sql<Date>`coalesce(inactive_since, ${now})`,
    inactive_reason: plainText(reason),
  });
}

/** Enables outbound calls over the configuration again. */
export async function reactivateConfiguration(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<ConfigurationSummary | undefined> {
  await setInactive(context, organizationId, id, { inactive_since: null, inactive_reason: null });
  return getConfiguration(context, organizationId, id);
}

async function setInactive(
  { db, clock }: StoreContext,
  organizationId: string,
  id: string,
  state: { inactive_since: RawBuilder<Date> | null; inactive_reason: string | null },
): Promise<boolean> {
  if (!isRowId(organizationId) || !isRowId(id)) return false;
  const { numUpdatedRows } = await db
    .updateTable('telephony_configurations')
    .set({ ...state, updated_at: new Date(clock.now()) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function setDefaultOutbound(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<ConfigurationSummary | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  await withOrganizationLock(context, organizationId, async (tx) => {
    if ((await lockConfiguration(tx, organizationId, id)) === undefined) return;
    await clearDefault(tx, organizationId);
    await tx
      .updateTable('telephony_configurations')
      .set({ is_default_outbound: true, updated_at: new Date(context.clock.now()) })
      .where('id', '=', id)
      .execute();
  });
  return getConfiguration(context, organizationId, id);
}

/** Deletes a configuration with its numbers, trunks and leases; its runs keep its id. False if there is none with that
 *  id. Throws CONFIGURATION_IN_USE if a campaign uses it. */
export async function deleteConfiguration(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<boolean> {
  if (!isRowId(organizationId) || !isRowId(id)) return false;
  try {
    const { numDeletedRows } = await db
      .deleteFrom('telephony_configurations')
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  } catch (error) {
    if (violated(error) !== 'campaigns_configuration') throw error;
    throw new GatewayError('CONFIGURATION_IN_USE', { id }, error);
  }
}

/** Seals every secret by the newest key, after which the older keys may be removed. Returns the number of changed
 *  configurations. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export async function resealConfigurations(context: StoreContext): Promise<number> {
  let changed = 0;
  for (let after = '0'; ; ) {
    const last = await context.db.transaction().execute(async (tx) => {
      const rows = await tx
        .selectFrom('telephony_configurations')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(RESEAL_ROWS_MAX)
        .forUpdate()
        .execute();
      for (const row of rows) if (await reseal(context, tx, row)) changed += 1;
      return rows.at(-1)?.id;
    });
    if (last === undefined) return changed;
    after = last;
  }
}

/** The configuration in clear. */
export function toConfiguration(
  context: StoreContext,
  row: Omit<Row, 'account_id' | 'dial_next_at' | 'dial_faults' | 'probe_at'>,
): TelephonyConfiguration {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    provider: row.provider,
    isDefaultOutbound: row.is_default_outbound,
    credentials: openFields(
      row.credentials,
      row.sealed_fields,
      row.organization_id,
      context.secrets,
    ),
    inactiveSince: row.inactive_since,
    inactiveReason: row.inactive_reason,
    callsPerSecond: row.calls_per_second,
    overflow: row.overflow ?? null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Locks the configuration with its numbers and its account until the transaction ends. */
export function lockConfiguration(
  tx: TransactionContext,
  organizationId: string | undefined,
  id: string,
): Promise<Row | undefined> {
  return tx
    .selectFrom('telephony_configurations')
    .selectAll()
    .where('id', '=', id)
    .$if(organizationId !== undefined, (query) =>
      query.where('organization_id', '=', organizationId ?? ''),
    )
    .forNoKeyUpdate()
    .executeTakeFirst();
}

async function reseal(context: StoreContext, tx: TransactionContext, row: Row): Promise<boolean> {
  const { secrets } = context;
  if (isFreshlySealed(row.credentials, row.sealed_fields, secrets)) return false;
  const clear = openFields(row.credentials, row.sealed_fields, row.organization_id, secrets);
  const sealed = sealPlaces(clear, row.sealed_fields, row.organization_id, secrets);
  await tx
    .updateTable('telephony_configurations')
    .set({ credentials: jsonText(sealed.credentials) })
    .where('id', '=', row.id)
    .execute();
  return true;
}

function changes(
  { secrets }: StoreContext,
  row: Row,
  patch: ConfigurationPatch,
): Updateable<TelephonyConfigurationTable> {
  const changed: Updateable<TelephonyConfigurationTable> = {};
  if (patch.callsPerSecond !== undefined) changed.calls_per_second = patch.callsPerSecond;
  if (patch.overflow !== undefined) changed.overflow = jsonOrNull(patch.overflow);
  if (patch.name !== undefined) changed.name = patch.name;
  if (patch.accountId !== undefined) changed.account_id = patch.accountId;
  if (patch.credentials !== undefined) {
    const sealed =
      patch.secretFields === undefined
        ? sealPlaces(patch.credentials, row.sealed_fields, row.organization_id, secrets)
        : sealFields(patch.credentials, patch.secretFields, row.organization_id, secrets);
    changed.credentials = jsonText(sealed.credentials);
    changed.sealed_fields = sealed.sealedFields;
  }
  return changed;
}

function summaries({ db }: StoreContext) {
  return db
    .selectFrom('telephony_configurations')
    .selectAll()
    .select((of) =>
      of
        .selectFrom('phone_numbers')
        .select((number) => number.fn.countAll<string>().as('count'))
        .whereRef('configuration_id', '=', 'telephony_configurations.id')
        .where('is_active', '=', true)
        .as('active_phone_numbers'),
    )
    .select((of) =>
      of
        .selectFrom('telephony_trunks')
        .select((trunk) => trunk.fn.countAll<string>().as('count'))
        .whereRef('configuration_id', '=', 'telephony_configurations.id')
        .where('enabled', '=', true)
        .as('enabled_trunks'),
    );
}

function toSummary(
  context: StoreContext,
  row: Row & { active_phone_numbers: string | null; enabled_trunks: string | null },
): ConfigurationSummary {
  return {
    ...toConfiguration(context, row),
    activePhoneNumbers: Number(row.active_phone_numbers ?? 0),
    enabledTrunks: Number(row.enabled_trunks ?? 0),
  };
}

/** Clears the default configuration. The organization must be locked. */
async function clearDefault(tx: TransactionContext, organizationId: string): Promise<void> {
  await tx
    .updateTable('telephony_configurations')
    .set({ is_default_outbound: false })
    .where('organization_id', '=', organizationId)
    .where('is_default_outbound', '=', true)
    .execute();
}

function asConflict(error: unknown, name: string): unknown {
  const constraint = violated(error);
  if (constraint === 'telephony_configurations_name') {
    return new GatewayError('CONFIGURATION_NAME_TAKEN', { name }, error);
  }
  if (constraint === 'phone_numbers_route') {
    return new GatewayError('PHONE_NUMBER_ROUTED_ELSEWHERE', {}, error);
  }
  return error;
}
