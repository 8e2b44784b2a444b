// Phone numbers of telephony configurations. An address is unique in its organization; a provider account's number
// belongs to one configuration in all organizations.

import type { Selectable } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { OverflowPolicy } from '../../model/overflow.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { NewPhoneNumber, PhoneNumber, TelephonyConfiguration } from '../../model/telephony.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import { isRowId, jsonOrNull, jsonText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { PhoneNumberTable, WorkflowVersionTable } from '../db/tables.ts';
import { toVersion } from '../workflows/workflow-versions.ts';
import { lockConfiguration, toConfiguration } from './configurations.ts';

type NumberOfWorkflow = PhoneNumber & { workflowName: string | null };

/** Longest list; of more numbers it has the oldest. */
const LISTED_MAX = 5_000;

export async function listNumbers(
  context: StoreContext,
  configurationId: string,
): Promise<NumberOfWorkflow[]> {
  if (!isRowId(configurationId)) return [];
  const rows = await numbers(context)
    .where('configuration_id', '=', configurationId)
    .orderBy('phone_numbers.id')
    .limit(LISTED_MAX)
    .execute();
  return rows.map(toNumberOfWorkflow);
}

export async function getNumber(
  context: StoreContext,
  configurationId: string,
  id: string,
): Promise<NumberOfWorkflow | undefined> {
  if (!isRowId(configurationId) || !isRowId(id)) return undefined;
  const row = await numbers(context)
    .where('configuration_id', '=', configurationId)
    .where('phone_numbers.id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toNumberOfWorkflow(row);
}

/** Configurations of one provider with the same number. If several organizations have it, at most one is right. */
const INBOUND_MAX = 20;

/** Whom a call to a number reaches. */
export interface CalledNumber {
  configuration: TelephonyConfiguration;
  number: PhoneNumber;
  /** The version in service of the number's agent. Undefined: there is none, or it was not read. */
  version: WorkflowVersion | undefined;
}

/** Active configurations with an active number of that address, in all organizations. If the account is known, at most
 *  one, with the version in service of its agent; null matches every account, oldest first, without versions. */
export async function findInbound(
  context: StoreContext,
  provider: ConfiguredProviderName,
  accountId: string | null,
  addressNormalized: string,
): Promise<CalledNumber[]> {
  const rows = await context.db
    .selectFrom('phone_numbers')
    .innerJoin('telephony_configurations as of', 'of.id', 'phone_numbers.configuration_id')
    .selectAll('phone_numbers')
    .select(['of.name', 'of.is_default_outbound', 'of.credentials', 'of.sealed_fields'])
    .select(['of.inactive_since', 'of.inactive_reason', 'of.calls_per_second'])
    .select('of.overflow as configured_overflow')
    .select(['of.created_at as configured_at', 'of.updated_at as reconfigured_at'])
    .$if(accountId !== null, (query) =>
      query
        .where('phone_numbers.account_id', '=', accountId ?? '')
        .leftJoin('workflows as agent', (join) =>
          join
            .onRef('agent.id', '=', 'phone_numbers.inbound_workflow_id')
            .onRef('agent.organization_id', '=', 'phone_numbers.organization_id')
            .on('agent.status', '=', 'active'),
        )
        .leftJoin('workflow_versions as version', (join) =>
          join.onRef('version.workflow_id', '=', 'agent.id').on('version.status', '=', 'published'),
        )
        .select(['version.id as version_id', 'version.workflow_id', 'version.version_number'])
        .select(['version.status', 'version.definition', 'version.configurations'])
        .select(['version.template_context_variables', 'version.trigger_paths'])
        .select(['version.sealed_fields as version_sealed_fields'])
        .select(['version.created_at as version_created_at', 'version.published_at']),
    )
    .where('phone_numbers.provider', '=', provider)
    .where('phone_numbers.address_normalized', '=', addressNormalized)
    .where('phone_numbers.is_active', '=', true)
    .where('of.inactive_since', 'is', null)
    .orderBy('phone_numbers.id')
    .limit(INBOUND_MAX)
    .execute();
  return rows.map((row) => {
    const configuration = {
      ...row,
      id: row.configuration_id,
      overflow: row.configured_overflow,
      created_at: row.configured_at,
      updated_at: row.reconfigured_at,
    };
    return {
      configuration: toConfiguration(context, configuration),
      number: toNumber(row),
      version: versionIn(context, row),
    };
  });
}

/** The joined columns of a version, which are all null without one. */
function versionIn(
  context: StoreContext,
  row: { [Name in keyof JoinedVersion]?: JoinedVersion[Name] | null } & { organization_id: string },
): WorkflowVersion | undefined {
  if (row.version_id == null) return undefined;
  const joined = row as JoinedVersion; // Of one row: with the id, none is null.
  return toVersion(context, row.organization_id, {
    ...joined,
    id: joined.version_id,
    sealed_fields: joined.version_sealed_fields,
    created_at: joined.version_created_at,
  });
}

/** Creates a number. Throws CONFIGURATION_NOT_FOUND, WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND, PHONE_NUMBER_TAKEN,
 *  PHONE_NUMBER_ROUTED_ELSEWHERE. */
export async function createNumber(
  context: StoreContext,
  organizationId: string,
  configurationId: string,
  input: NewPhoneNumber,
): Promise<PhoneNumber> {
  if (!isRowId(organizationId) || !isRowId(configurationId)) {
    throw new GatewayError('CONFIGURATION_NOT_FOUND');
  }
  const now = new Date(context.clock.now());
  try {
    return await context.db.transaction().execute(async (tx) => {
      const configuration = await lockConfiguration(tx, organizationId, configurationId);
      if (configuration === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
      await checkWorkflow(tx, organizationId, input.inboundWorkflowId);
      if (input.isDefaultCallerId) await clearDefaultCaller(tx, configurationId);
      const row = await tx
        .insertInto('phone_numbers')
        .values({
          organization_id: organizationId,
          configuration_id: configurationId,
          provider: configuration.provider,
          account_id: configuration.account_id,
          address: input.address,
          address_normalized: input.addressNormalized,
          address_type: input.addressType,
          country_code: input.countryCode,
          label: input.label,
          inbound_workflow_id: input.inboundWorkflowId,
          trunk_id: checkedTrunkId(input.trunkId ?? null),
          is_active: input.isActive,
          is_default_caller_id: input.isDefaultCallerId,
          extra_metadata: jsonText(input.extraMetadata),
          overflow: jsonOrNull(input.overflow),
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toNumber(row);
    });
  } catch (error) {
    throw asConflict(error);
  }
}

/** Changes a number. Throws WORKFLOW_NOT_FOUND, TRUNK_NOT_FOUND. */
export async function updateNumber(
  context: StoreContext,
  configurationId: string,
  id: string,
  patch: {
    label?: string | null;
    inboundWorkflowId?: string | null;
    trunkId?: string | null;
    isActive?: boolean;
    countryCode?: string | null;
    extraMetadata?: Record<string, unknown>;
    overflow?: OverflowPolicy | null | undefined;
  },
): Promise<PhoneNumber | undefined> {
  if (!isRowId(configurationId) || !isRowId(id)) return undefined;
  const trunkId = checkedTrunkId(patch.trunkId ?? null);
  const work = context.db.transaction().execute(async (tx) => {
    const number = await tx
      .selectFrom('phone_numbers')
      .select('organization_id')
      .where('configuration_id', '=', configurationId)
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (number === undefined) return undefined;
    await checkWorkflow(tx, number.organization_id, patch.inboundWorkflowId ?? null);
    const row = await tx
      .updateTable('phone_numbers')
      .set({
        updated_at: new Date(context.clock.now()),
        ...(patch.label !== undefined && { label: patch.label }),
        ...(patch.inboundWorkflowId !== undefined && {
          inbound_workflow_id: patch.inboundWorkflowId,
        }),
        ...(patch.trunkId !== undefined && { trunk_id: trunkId }),
        ...(patch.isActive !== undefined && { is_active: patch.isActive }),
        ...(patch.countryCode !== undefined && { country_code: patch.countryCode }),
        ...(patch.extraMetadata !== undefined && {
          extra_metadata: jsonText(patch.extraMetadata),
        }),
        ...(patch.overflow !== undefined && { overflow: jsonOrNull(patch.overflow) }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return toNumber(row);
  });
  return work.catch((error: unknown) => {
    throw asConflict(error);
  });
}

export async function setDefaultCaller(
  context: StoreContext,
  configurationId: string,
  id: string,
): Promise<PhoneNumber | undefined> {
  if (!isRowId(configurationId) || !isRowId(id)) return undefined;
  if ((await getNumber(context, configurationId, id)) === undefined) return undefined;
  return context.db.transaction().execute(async (tx) => {
    await lockConfiguration(tx, undefined, configurationId);
    await clearDefaultCaller(tx, configurationId);
    const row = await tx
      .updateTable('phone_numbers')
      .set({ is_default_caller_id: true, updated_at: new Date(context.clock.now()) })
      .where('configuration_id', '=', configurationId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toNumber(row);
  });
}

export async function deleteNumber(
  context: StoreContext,
  configurationId: string,
  id: string,
): Promise<boolean> {
  if (!isRowId(configurationId) || !isRowId(id)) return false;
  const { numDeletedRows } = await context.db
    .deleteFrom('phone_numbers')
    .where('configuration_id', '=', configurationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

type JoinedVersion = Omit<
  Selectable<WorkflowVersionTable>,
  'id' | 'sealed_fields' | 'created_at'
> & {
  version_id: string;
  version_sealed_fields: string[];
  version_created_at: Date;
};

function numbers({ db }: StoreContext) {
  return db
    .selectFrom('phone_numbers')
    .leftJoin('workflows', 'workflows.id', 'phone_numbers.inbound_workflow_id')
    .selectAll('phone_numbers')
    .select('workflows.name as workflow_name');
}

async function checkWorkflow(
  tx: TransactionContext,
  organizationId: string,
  workflowId: string | null,
): Promise<void> {
  if (workflowId === null) return;
  const workflow = isRowId(workflowId)
    ? await tx
        .selectFrom('workflows')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('id', '=', workflowId)
        .executeTakeFirst()
    : undefined;
  if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id: workflowId });
}

/** The trunk's id. The database checks that the configuration has it. Throws TRUNK_NOT_FOUND. */
function checkedTrunkId(id: string | null): string | null {
  if (id !== null && !isRowId(id)) throw new GatewayError('TRUNK_NOT_FOUND');
  return id;
}

async function clearDefaultCaller(tx: TransactionContext, configurationId: string): Promise<void> {
  await tx
    .updateTable('phone_numbers')
    .set({ is_default_caller_id: false })
    .where('configuration_id', '=', configurationId)
    .where('is_default_caller_id', '=', true)
    .execute();
}

function asConflict(error: unknown): unknown {
  const constraint = violated(error);
  if (constraint === 'phone_numbers_address') {
    return new GatewayError('PHONE_NUMBER_TAKEN', {}, error);
  }
  if (constraint === 'phone_numbers_trunk') return new GatewayError('TRUNK_NOT_FOUND', {}, error);
  if (constraint === 'phone_numbers_route') {
    return new GatewayError('PHONE_NUMBER_ROUTED_ELSEWHERE', {}, error);
  }
  return error;
}

function toNumberOfWorkflow(
  row: Selectable<PhoneNumberTable> & { workflow_name: string | null },
): NumberOfWorkflow {
  return { ...toNumber(row), workflowName: row.workflow_name };
}

function toNumber(row: Selectable<PhoneNumberTable>): PhoneNumber {
  return {
    id: row.id,
    organizationId: row.organization_id,
    configurationId: row.configuration_id,
    address: row.address,
    addressNormalized: row.address_normalized,
    addressType: row.address_type,
    countryCode: row.country_code,
    label: row.label,
    inboundWorkflowId: row.inbound_workflow_id,
    trunkId: row.trunk_id,
    isActive: row.is_active,
    isDefaultCallerId: row.is_default_caller_id,
    extraMetadata: row.extra_metadata,
    overflow: row.overflow,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
