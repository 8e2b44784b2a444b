// Runs: one row per call. A run's state only moves forward, and is final once completed. Objects are merged in the
// database, so that concurrent writers do not lose each other's keys. New runs: run-insertion.ts; lists: run-list.ts;
// the log: run-events.ts.

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { runChangesFenced } from '../../metrics/metrics.ts';
import {
  type Run,
  type RunChanges,
  type RunField,
  type RunFieldFacts,
  type RunFields,
  type RunState,
  runFieldNames,
  runFields,
} from '../../model/run.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunRow, RunTable } from '../db/tables.ts';
import { addRecording } from './run-files.ts';
import { summarizing } from './run-summaries.ts';

/** Changes of a run: of its fields as `runFields` says, and of what belongs to it. */
export interface RunPatch extends RunChanges {
  /** False if the run has no work after its end. Default: decided by its agent. */
  hasAfterwork?: boolean;
  /** Services that worked in the call: their stored faults in the organization are cleared. */
  servicesWorked?: readonly { job: string; service: string }[];
  /** Summary of a run that this patch completes; the first one stays. */
  summary?: RunSummary;
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
    ${besides(context, id, patch)}
    update runs set ${sql.join(changes)} where id = ${id} and not ${isTaken(context)}
    returning *`.execute(context.db);
  const [row] = rows;
  if (row !== undefined) return toRun(row);
  runChangesFenced.inc();
  if (patch.recordingKey !== undefined) await addRecording(context, id, patch.recordingKey);
  return undefined;
}

/** What the statement of a patch changes in other tables. */
function besides(
  context: StoreContext,
  id: string,
  { servicesWorked: worked = [], summary }: RunPatch,
): RawBuilder<unknown> {
  const parts = worked.length === 0 ? [] : [withoutFaults(id, worked)];
  if (summary !== undefined) parts.push(summarizing(id, summary, isTaken(context)));
  return parts.length === 0 ? sql`` : sql`with ${sql.join(parts)}`;
}

/** Part of the statement that clears the services' faults. Rows are locked in one order, so that calls that end
 *  together do not deadlock. */
function withoutFaults(
  id: string,
  worked: NonNullable<RunPatch['servicesWorked']>,
): RawBuilder<unknown> {
  return sql`cleared as (
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
        when ${isFenced(context)} or ${status}::text is null
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

/** Whether the row of `runs` was taken from this process, whose later writes to it are refused: as `isFenced`, or because
 *  another process has adopted the call, which is not over yet. */
export function isTaken(context: Epochs): RawBuilder<SqlBool> {
  const { epoch } = context;
  return sql<SqlBool>`(${isFenced(context)} or coalesce(
    runs.adopted_epochs && ${ownEpochs(context)}::bigint[] and runs.state <> 'completed'
      and runs.owner_epoch is distinct from ${epoch}::bigint,
    false))`;
}

/** Whether the row of `runs` was taken from this process because it seemed dead: others may have closed runs of a process
 *  that was suspended. Its other runs remain its own. */
export function isFenced(context: Epochs): RawBuilder<SqlBool> {
  const { epoch } = context;
  // It may have returned by the death of the other process.
  return sql<SqlBool>`coalesce(
    runs.fenced_epochs && ${ownEpochs(context)}::bigint[]
      and runs.owner_epoch is distinct from ${epoch}::bigint,
    false)`;
}

type Epochs = Pick<StoreContext, 'epoch' | 'formerEpochs'>;

function ownEpochs({ epoch, formerEpochs = [] }: Epochs): string[] {
  return [...formerEpochs, epoch];
}

export function toRun(row: RunRow): Run {
  return fieldsOf(runFieldNames, row);
}

/** Those fields of the run with the row. */
export function fieldsOf<Name extends RunField>(
  names: readonly Name[],
  row: Pick<RunRow, RunFields[Name]['column']>,
): Pick<Run, Name> {
  const values: Readonly<Record<string, unknown>> = row;
  const fields = names.map((name) => [name, values[runFields[name].column]]);
  return Object.fromEntries(fields) as Pick<Run, Name>; // RunRow has the types of the columns.
}

const CALLBACKS_KEY = 'telephony_status_callbacks';
const PROVIDER_STATUS = 'provider_status';

/** Assignments of an update; their right sides use the row before it. */
function changesOf(patch: RunPatch, context: StoreContext): RawBuilder<unknown>[] {
  const changes = patch.state === undefined ? [] : stateChanges(patch.state, context);
  if (patch.endedAt !== undefined) changes.push(endChange(patch.endedAt, patch.durationS ?? 0));
  if (patch.hasAfterwork !== undefined) changes.push(sql`has_afterwork = ${patch.hasAfterwork}`);
  if (context.filesNode !== undefined && (patch.recordingKey ?? patch.transcriptKey) !== undefined)
    changes.push(sql`files_node = ${context.filesNode}`);
  for (const name of runFieldNames) {
    const value = isIn(patch, name) ? patch[name] : undefined;
    if (value !== undefined) changes.push(...fieldChange(runFields[name], value));
  }
  return changes;
}

function fieldChange({ column, kind, change }: RunFieldFacts, value: unknown) {
  const old = sql.ref(column);
  const next = kind === 'object' ? sql`${jsonText(value)}::jsonb` : sql`${value}`;
  switch (change) {
    case 'set':
      return [sql`${old} = ${next}`];
    case 'merge':
      return [sql`${old} = ${old} || ${next}`];
    case 'settle':
      return [sql`${old} = case when state = 'completed' then ${old} else ${next} end`];
    default:
      return []; // `rule`: above.
  }
}

function isIn(patch: RunPatch, name: RunField): name is keyof RunChanges {
  return Object.hasOwn(patch, name);
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
