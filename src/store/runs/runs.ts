// Runs: one row per call. A run's state only moves forward, and is final once completed. Objects are merged in the
// database, so that concurrent writers do not lose each other's keys. New runs: run-insertion.ts; lists: run-list.ts;
// the log: run-events.ts.

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Run, RunState } from '../../model/run.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { isTaken } from './run-fencing.ts';

/** Changes of a run. Contexts, logs and annotations are merged by top-level key; every other field replaces. */
export interface RunPatch {
  state?: Run['state'];
  providerCallId?: string;
  initialContext?: Record<string, unknown>;
  gatheredContext?: Record<string, unknown>;
  logs?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  usageInfo?: Record<string, unknown>;
  costInfo?: Record<string, unknown>;
  disposition?: string;
  durationS?: number;
  recordingKey?: string;
  transcriptKey?: string;
  startedAt?: Date;
  endedAt?: Date;
  /** False if the run has no work after its end. Default: decided by its agent. */
  hasAfterwork?: boolean;
  /** Services that worked in the call: their stored faults in the organization are cleared. */
  servicesWorked?: readonly { job: string; service: string }[];
}

/** Stored callbacks of a run, which bounds its row if a provider sends callbacks without end. */
const CALLBACKS_MAX = 500;

export async function getRun(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<Run | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}

/** Finds a run without its organization, which webhooks do not have. */
export async function findRun({ db }: StoreContext, id: string): Promise<Run | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}

/** Finds a run by the provider's call id; the newest, in case a provider uses an id twice. */
export async function findByProviderCall(
  { db }: StoreContext,
  configurationId: string,
  callId: string,
): Promise<Run | undefined> {
  if (!isRowId(configurationId)) return undefined;
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .where('provider_call_id', '=', callId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}

/** Changes a run. A completed one keeps its state, disposition, duration and end. A run that was taken from this
 *  process only gets its recording, which only this process has; the result is undefined. */
export async function patchRun(
  context: StoreContext,
  id: string,
  patch: RunPatch,
): Promise<Run | undefined> {
  if (!isRowId(id)) return undefined;
  const changes = changesOf(patch, context);
  if (changes.length === 0) return findRun(context, id);
  const { rows } = await sql<Selectable<RunTable>>`
    ${withoutFaults(id, patch.servicesWorked ?? [])}
    update runs set ${sql.join(changes)} where id = ${id} and not ${isTaken(context)}
    returning *`.execute(context.db);
  const [row] = rows;
  if (row !== undefined) return toRun(row);
  if (patch.recordingKey !== undefined) await addRecording(context, id, patch.recordingKey);
  return undefined;
}

/** Part of the statement that clears the services' faults. Rows are locked in one order, so that calls that end
 *  together do not deadlock. */
function withoutFaults(
  id: string,
  worked: NonNullable<RunPatch['servicesWorked']>,
): RawBuilder<unknown> {
  if (worked.length === 0) return sql``;
  return sql`with cleared as (
      delete from service_faults using (
        select fault.organization_id, job, service
        from service_faults as fault
        join runs on runs.organization_id = fault.organization_id
        join unnest(
          ${worked.map(({ job }) => job)}::text[], ${worked.map(({ service }) => service)}::text[]
        ) as worked (job, service) using (job, service)
        where runs.id = ${id}
        order by job, service for update of fault
      ) as over
      where service_faults.organization_id = over.organization_id
        and service_faults.job = over.job and service_faults.service = over.service
    )`;
}

async function addRecording({ db }: StoreContext, id: string, key: string): Promise<void> {
  await db
    .updateTable('runs')
    .set({ recording_key: key })
    .where('id', '=', id)
    .where('recording_key', 'is', null)
    .execute();
}

/** Patches a run that is `initialized`. False, without a change, if it has another state or does not exist. */
export async function patchInitialized(
  context: StoreContext,
  id: string,
  patch: RunPatch,
): Promise<boolean> {
  if (!isRowId(id)) return false;
  const { rows } = await sql`
    update runs set ${sql.join(changesOf(patch, context))}
    where id = ${id} and state = 'initialized' and not ${isTaken(context)}
    returning id`.execute(context.db);
  return rows.length > 0;
}

/** Progress of a call, in the provider's word. */
interface ReportedStatus {
  status: string;
  /** Statuses with at least this progress, one of which may have been stored at the same moment. */
  notAfter: readonly string[];
}

/** Appends one provider callback to `logs.telephony_status_callbacks`; false if `dedupeKey` was seen before. `reported`
 *  becomes the run's provider status in any case, unless the current one has at least its progress. Atomic. */
export async function appendCallback(
  context: StoreContext,
  id: string,
  dedupeKey: string,
  entry: Record<string, unknown>,
  reported?: ReportedStatus,
): Promise<boolean> {
  if (!isRowId(id)) return false;
  const { status, notAfter } = reported ?? { status: null, notAfter: [] };
  const { rows } = await sql<{ is_new: boolean }>`
    with fresh as (
      insert into run_callbacks (run_id, dedupe_key)
      select id, ${dedupeKey} from runs where id = ${id}
      on conflict do nothing
      returning run_id
    )
    update runs set
      gathered_context = case
        when ${isTaken(context)} or ${status}::text is null
          or gathered_context ->> ${PROVIDER_STATUS} = any(${notAfter}::text[])
        then gathered_context
        else gathered_context || jsonb_build_object(${PROVIDER_STATUS}::text, ${status}::text)
      end,
      logs = case
        when not exists (select from fresh)
          or jsonb_array_length(coalesce(logs -> ${CALLBACKS_KEY}, '[]')) >= ${CALLBACKS_MAX}
        then logs
        else logs || jsonb_build_object(
          ${CALLBACKS_KEY}::text,
          coalesce(logs -> ${CALLBACKS_KEY}, '[]') || jsonb_build_array(${jsonText(entry)}::jsonb)
        )
      end
    where id = ${id} and (${reported !== undefined} or exists (select from fresh))
    returning exists (select from fresh) as is_new`.execute(context.db);
  return rows[0]?.is_new ?? false;
}

/** Number of runs of all organizations and nodes that have a call and are not completed. */
export async function countOpenRuns({ db }: StoreContext): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((of) => of.fn.countAll<string>().as('count'))
    .where(isOpen())
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Condition for a run that has a call, or gets one. It matches the index `runs_open` and the function
 *  `lock_open_calls`. */
export function isOpen(): RawBuilder<SqlBool> {
  return sql<SqlBool>`state <> 'completed' and not is_idle`;
}

type RunRow = Omit<
  Selectable<RunTable>,
  | 'owner_node'
  | 'owner_epoch'
  | 'fenced_epochs'
  | 'caller_number'
  | 'called_number'
  | 'call_tags'
  | 'tokens'
  | 'public_access_until'
  | 'is_idle'
  | 'has_afterwork'
>;

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workflowId: row.workflow_id,
    definitionId: row.definition_id,
    campaignId: row.campaign_id,
    name: row.name,
    mode: row.mode,
    callType: row.call_type,
    state: row.state,
    configurationId: row.configuration_id,
    providerCallId: row.provider_call_id,
    initialContext: row.initial_context,
    gatheredContext: row.gathered_context,
    usageInfo: row.usage_info,
    costInfo: row.cost_info,
    logs: row.logs,
    annotations: row.annotations,
    disposition: row.disposition,
    durationS: row.duration_s,
    recordingKey: row.recording_key,
    transcriptKey: row.transcript_key,
    publicAccessToken: row.public_access_token,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

const CALLBACKS_KEY = 'telephony_status_callbacks';
const PROVIDER_STATUS = 'provider_status';

/** Columns that are final once the run is completed. */
const FINAL = { disposition: 'disposition', durationS: 'duration_s' } as const;
/** Columns of objects that are merged by top-level key. */
const MERGED = {
  initialContext: 'initial_context',
  gatheredContext: 'gathered_context',
  logs: 'logs',
  annotations: 'annotations',
} as const;
/** Columns of objects that are replaced. */
const REPLACED = { usageInfo: 'usage_info', costInfo: 'cost_info' } as const;
const PLAIN = {
  providerCallId: 'provider_call_id',
  recordingKey: 'recording_key',
  transcriptKey: 'transcript_key',
  startedAt: 'started_at',
  hasAfterwork: 'has_afterwork',
} as const;

/** Assignments of an update; their right sides use the row before it. */
function changesOf(patch: RunPatch, context: StoreContext): RawBuilder<unknown>[] {
  const changes = patch.state === undefined ? [] : stateChanges(patch.state, context);
  for (const [field, column] of entries(FINAL)) {
    const value = patch[field];
    if (value === undefined) continue;
    const name = sql.ref(column);
    changes.push(sql`${name} = case when state = 'completed' then ${name} else ${value} end`);
  }
  if (patch.endedAt !== undefined) changes.push(endChange(patch.endedAt, patch.durationS ?? 0));
  for (const [field, column] of entries(MERGED)) {
    const value = patch[field];
    if (value === undefined) continue;
    changes.push(sql`${sql.ref(column)} = ${sql.ref(column)} || ${jsonText(value)}::jsonb`);
  }
  for (const [field, column] of entries(REPLACED)) {
    const value = patch[field];
    if (value !== undefined) changes.push(sql`${sql.ref(column)} = ${jsonText(value)}::jsonb`);
  }
  for (const [field, column] of entries(PLAIN)) {
    const value = patch[field];
    if (value !== undefined) changes.push(sql`${sql.ref(column)} = ${value}`);
  }
  return changes;
}

/** The end, final once the run is completed. A wall clock that was set back during the call gives an end before the
 *  start: the call's length, which does not follow that clock, then gives the end. */
function endChange(endedAt: Date, durationS: number): RawBuilder<unknown> {
  const end = sql`${endedAt}::timestamptz`;
  return sql`ended_at = case
    when state = 'completed' then ended_at
    when ${end} < started_at
      then started_at + ${durationS}::double precision * interval '1 second'
    else ${end}
  end`;
}

/** The next state, only if it is later than the current one. */
function stateChanges(next: RunState, { node, epoch }: StoreContext): RawBuilder<unknown>[] {
  const earlier = next === 'completed' ? ['initialized', 'running'] : ['initialized'];
  const state = sql`state = case when state = any(${earlier}) then ${next} else state end`;
  if (next !== 'running') return [state];
  // The node with the media owns the run, whichever node dialled it.
  return [
    state,
    sql`owner_node = case when state = 'initialized' then ${node} else owner_node end`,
    sql`owner_epoch = case when state = 'initialized' then ${epoch} else owner_epoch end`,
  ];
}

function entries<F extends string, C extends string>(columns: Readonly<Record<F, C>>): [F, C][] {
  return Object.entries(columns) as [F, C][]; // The constants above have no other keys.
}
