// Campaigns as rows. Conditional statements change their state and write their log. Contacts and their counts are in
// separate files. Source: contract §9.2, §9.7.

import {
  type ExpressionBuilder,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
  type UpdateObject,
} from 'kysely';
import {
  type Campaign,
  type CampaignLogEntry,
  type CampaignSettings,
  type CampaignState,
  ENDED_STATES,
} from '../../model/campaign.ts';
import type { CampaignTable } from '../db/campaign-tables.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Tables } from '../db/tables.ts';

export interface NewCampaign extends CampaignSettings {
  name: string;
  workflowId: string;
  sourceId: string;
  configurationId: string | null;
}

/** Log entries of one campaign that are stored: those of a week if its breaker trips every hour. */
const LOG_ENTRIES_MAX = 200;
const LIVING: readonly CampaignState[] = ['created', 'syncing', 'running', 'paused'];

/** Inserts a campaign in state `created`, without contacts. */
export async function insertCampaign(
  context: StoreContext,
  organizationId: string,
  input: NewCampaign,
): Promise<Campaign> {
  const row = await context.db
    .insertInto('campaigns')
    .values({
      organization_id: organizationId,
      workflow_id: input.workflowId,
      configuration_id: input.configurationId,
      name: input.name,
      state: 'created',
      source_id: input.sourceId,
      source_sync: 'pending',
      ...settingsRow(input),
      created_at: new Date(context.clock.now()),
    })
    .returningAll()
    .returning(names)
    .executeTakeFirstOrThrow();
  return toCampaign(row);
}

export async function getCampaign(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .selectFrom('campaigns')
    .selectAll()
    .select(names)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row === undefined ? undefined : toCampaign(row);
}

/** The organization's campaigns, newest first. */
export async function listCampaigns(
  { db }: StoreContext,
  organizationId: string,
  page: { limit: number; offset: number },
): Promise<{ campaigns: Campaign[]; total: number }> {
  const own = db
    .selectFrom('campaigns')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null);
  const rows = await own
    .selectAll()
    .select(names)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await own
    .select((campaign) => campaign.fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  return { campaigns: rows.map(toCampaign), total: Number(total) };
}

/** Changes a campaign; absent fields are unchanged. Undefined if there is none with that id, or it has ended. */
export async function updateCampaign(
  context: StoreContext,
  organizationId: string,
  id: string,
  patch: Partial<CampaignSettings> & { name?: string },
): Promise<Campaign | undefined> {
  const from = LIVING;
  // Also runs with an empty patch: its result shows whether the campaign may be changed.
  return change(
    context,
    { organizationId, id, from },
    {
      ...settingsRow(patch),
      name: patch.name ?? sql.ref('name'),
    },
  );
}

/** Changes `created` to `syncing`, or to `running` if its contacts come from a redial and are stored already. */
export async function markCampaignStarted(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  const isStored = sql`source_sync = 'completed'`;
  return change(
    context,
    { organizationId, id, from: ['created'] },
    {
      state: sql`case when ${isStored} then 'running' else 'syncing' end`,
      source_sync: sql`case when ${isStored} then 'completed' else 'in_progress' end`,
      started_at: new Date(context.clock.now()),
      breaker_since: context.time(),
      logs: logged(context, { event: 'started', message: 'The campaign was started' }),
    },
  );
}

/** Changes `running` or `syncing` to `paused`. Current calls continue. */
export async function markCampaignPaused(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  return change(
    context,
    { organizationId, id, from: ['running', 'syncing'] },
    {
      state: 'paused',
      logs: logged(context, { event: 'paused', message: 'The campaign was paused' }),
    },
  );
}

/** Changes `paused` to `running`, or to `syncing` if its file has not been read completely. */
export async function markCampaignResumed(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  return change(
    context,
    { organizationId, id, from: ['paused'] },
    {
      state: sql`case source_sync when 'in_progress' then 'syncing' else 'running' end`,
      breaker_since: context.time(),
      logs: logged(context, { event: 'resumed', message: 'The campaign was resumed' }),
    },
  );
}

/** Changes a campaign that has not ended to `cancelled`. Current calls continue; no further contact is called, and the
 *  file is read no further. */
export async function markCampaignCancelled(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  return change(
    context,
    { organizationId, id, from: LIVING },
    {
      state: 'cancelled',
      source_sync: sql`case when source_sync = 'in_progress' then 'failed' else source_sync end`,
      source_error: sql`
        case when source_sync = 'in_progress' then 'The campaign was cancelled' else source_error end`,
      completed_at: new Date(context.clock.now()),
      logs: logged(context, {
        event: 'cancelled',
        message: 'The campaign was cancelled: current calls continue, no further contact is called',
      }),
    },
  );
}

/** Hides an ended campaign, which then no longer prevents the deletion of a configuration. Its row, contacts and runs
 *  stay. */
export async function markCampaignDeleted(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Campaign | undefined> {
  const deletedAt = new Date(context.clock.now());
  return change(
    context,
    { organizationId, id, from: ENDED_STATES },
    { deleted_at: deletedAt, configuration_id: null },
  );
}

interface Change {
  organizationId: string;
  id: string;
  /** States in which the change is allowed. */
  from: readonly CampaignState[];
}

/** Changes a campaign of that organization in one of those states. Undefined if there is none. */
async function change(
  { db }: StoreContext,
  { organizationId, id, from }: Change,
  values: UpdateObject<Tables, 'campaigns'>,
): Promise<Campaign | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .updateTable('campaigns')
    .set(values)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where((campaign) => campaign('state', '=', campaign.fn.any(campaign.val([...from]))))
    .where('deleted_at', 'is', null)
    .returningAll()
    .returning(names)
    .executeTakeFirst();
  return row === undefined ? undefined : toCampaign(row);
}

/** The value of `logs` with one more entry. */
export function logged(
  { clock }: Pick<StoreContext, 'clock'>,
  entry: Pick<CampaignLogEntry, 'event' | 'message'> & Partial<CampaignLogEntry>,
): RawBuilder<string> {
  const whole = { at: new Date(clock.now()), level: 'info', details: null, ...entry };
  return sql`
    case when jsonb_array_length(logs) >= ${LOG_ENTRIES_MAX} then logs - 0 else logs end
    || jsonb_build_array(${jsonText(whole)}::jsonb)`;
}

const PUT_OFF = {
  level: 'warning',
  event: 'contacts_put_off',
  message: 'The provider failed dials and placed no call: their contacts are called later',
} as const;

/** The value of `logs` with one more postponed contact: consecutive ones share an entry. */
export function loggedPutOff(context: Pick<StoreContext, 'clock'>): RawBuilder<string> {
  const last = sql`logs -> -1`;
  return sql`
    case when ${last} ->> 'event' = ${PUT_OFF.event}
    then jsonb_set(logs, '{-1,details,contacts}',
      to_jsonb((${last} -> 'details' ->> 'contacts')::integer + 1))
    else ${logged(context, { ...PUT_OFF, details: { contacts: 1 } })} end`;
}

type Row = Selectable<CampaignTable>;
type Named = Row & {
  workflow_name: string | null;
  configuration_name: string | null;
  redialed_campaign_id: string | null;
};

/** Columns of a campaign's row that come from other tables. */
export function names(campaign: ExpressionBuilder<Tables, 'campaigns'>) {
  return [
    campaign
      .selectFrom('workflows')
      .select('workflows.name')
      .whereRef('workflows.id', '=', 'campaigns.workflow_id')
      .as('workflow_name'),
    campaign
      .selectFrom('telephony_configurations')
      .select('telephony_configurations.name')
      .whereRef('telephony_configurations.id', '=', 'campaigns.configuration_id')
      .as('configuration_name'),
    campaign
      .selectFrom('campaigns as child')
      .select('child.id')
      .whereRef('child.parent_campaign_id', '=', 'campaigns.id')
      .as('redialed_campaign_id'),
  ] as const;
}

function settingsRow(settings: CampaignSettings): SettingsColumns;
function settingsRow(settings: Partial<CampaignSettings>): Partial<SettingsColumns>;
function settingsRow(settings: Partial<CampaignSettings>): Partial<SettingsColumns> {
  const { retry, schedule, breaker, maxConcurrency, ratePerSecond } = settings;
  return {
    ...(retry === undefined ? {} : { retry: jsonText(retry) }),
    ...(schedule === undefined ? {} : { schedule: schedule && jsonText(schedule) }),
    ...(breaker === undefined ? {} : { breaker: breaker && jsonText(breaker) }),
    ...(maxConcurrency === undefined ? {} : { max_concurrency: maxConcurrency }),
    ...(ratePerSecond === undefined ? {} : { rate_per_second: ratePerSecond }),
  };
}

type SettingsColumns = Pick<
  Insertable<CampaignTable>,
  'retry' | 'schedule' | 'breaker' | 'max_concurrency' | 'rate_per_second'
>;

export function toCampaign(row: Named): Campaign {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name ?? '',
    state: row.state,
    sourceType: 'csv',
    sourceId: row.source_id,
    sourceSync: row.source_sync,
    sourceSyncedAt: row.source_synced_at,
    sourceError: row.source_error,
    totalRows: row.total_rows,
    configurationId: row.configuration_id,
    configurationName: row.configuration_name,
    retry: row.retry,
    maxConcurrency: row.max_concurrency,
    schedule: row.schedule,
    breaker: row.breaker,
    ratePerSecond: row.rate_per_second,
    parentCampaignId: row.parent_campaign_id,
    redialedCampaignId: row.redialed_campaign_id,
    waitsForConfigurationId: row.waits_for_configuration_id,
    logs: row.logs.map((entry) => ({ ...entry, at: new Date(entry.at) })),
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  };
}
