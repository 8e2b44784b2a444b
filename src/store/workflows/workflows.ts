// Workflows as rows, and the trigger paths that start their calls. A workflow's content is in its versions
// (workflow-versions.ts).

import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type {
  ListedWorkflow,
  Workflow,
  WorkflowStatus,
  WorkflowVersion,
} from '../../model/workflow.ts';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { violated } from '../db/database-errors.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { WorkflowTable } from '../db/tables.ts';
import {
  sealedContent,
  syncTriggers,
  toVersion,
  type WorkflowContent,
} from './workflow-versions.ts';

/** Dispositions of a workflow; a workflow with more keeps the first ones. */
const DISPOSITIONS_MAX = 500;
/** Longest disposition that is listed: a model may use a whole sentence as one. */
const DISPOSITION_CHARACTERS_MAX = 100;
/** Longest list: the contract's has no pages. */
const WORKFLOWS_MAX = 5_000;

/** Creates a workflow with version 1, published. Throws WORKFLOW_CONFLICT if a trigger path is taken,
 *  FOLDER_NOT_FOUND. */
export async function createWorkflow(
  context: StoreContext,
  owner: { organizationId: string; userId: string },
  input: {
    name: string;
    triggerPaths: readonly string[];
    /** Folder of the workflow. Default: none. */
    folderId?: string | null;
  } & WorkflowContent,
): Promise<{ workflow: Workflow; version: WorkflowVersion }> {
  const now = new Date(context.clock.now());
  const { organizationId } = owner;
  const making = context.db.transaction().execute(async (tx) => {
    const workflow = await tx
      .insertInto('workflows')
      .values({
        organization_id: organizationId,
        user_id: owner.userId,
        uuid: context.random.uuid(),
        name: input.name,
        status: 'active',
        version_number_last: 1,
        folder_id: input.folderId ?? null,
        created_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const version = await tx
      .insertInto('workflow_versions')
      .values({
        workflow_id: workflow.id,
        version_number: 1,
        status: 'published',
        ...sealedContent(context, organizationId, input),
        template_context_variables: jsonText(input.templateContextVariables),
        trigger_paths: [...input.triggerPaths],
        created_at: now,
        published_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await syncTriggers(tx, workflow.id);
    return { workflow: toWorkflow(workflow), version: toVersion(context, organizationId, version) };
  });
  return making.catch((error: unknown) => {
    throw asUnfiled(error);
  });
}

/** The organization's workflows, oldest first; of more than five thousand the newest. */
export async function listWorkflows(
  { db }: StoreContext,
  organizationId: string,
  statuses: readonly WorkflowStatus[],
): Promise<ListedWorkflow[]> {
  if (!isRowId(organizationId) || statuses.length === 0) return [];
  const rows = await db
    .selectFrom('workflows')
    .leftJoin(keptCounts(organizationId), 'kept.workflow_id', 'workflows.id')
    .selectAll('workflows')
    .select(['kept.total_runs', publishedVersion, hasDraft])
    .where('organization_id', '=', organizationId)
    .where('status', 'in', statuses)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(WORKFLOWS_MAX)
    .execute();
  return rows.toReversed().map(toListed);
}

const publishedVersion = sql<number | null>`(
  select version_number from workflow_versions
  where workflow_id = workflows.id and status = 'published'
)`.as('published_version');
const hasDraft = sql<boolean>`exists (
  select from workflow_versions where workflow_id = workflows.id and status = 'draft'
)`.as('has_draft');

function toListed(
  row: Parameters<typeof toWorkflow>[0] & {
    total_runs: string | null;
    published_version: number | null;
    has_draft: boolean;
  },
): ListedWorkflow {
  return {
    ...toWorkflow(row),
    totalRuns: Number(row.total_runs ?? 0),
    publishedVersion: row.published_version,
    hasDraft: row.has_draft,
  };
}

/** Number of runs of each agent, or of that one, by the stored counts (runs/run-counts.ts): no run is read. */
function keptCounts(organizationId: string, workflowId?: string) {
  const isThatOne = workflowId === undefined ? sql`true` : sql`workflow_id = ${workflowId}`;
  return sql<{ workflow_id: string; total_runs: string }>`(
    select workflow_id, sum(runs) as total_runs from run_counts
    where organization_id = ${organizationId} and day = '-infinity' and ${isThatOne}
    group by workflow_id
  )`.as<'kept'>(sql.ref('kept'));
}

export async function countWorkflows(
  { db }: StoreContext,
  organizationId: string,
): Promise<Record<WorkflowStatus, number>> {
  const counts = { active: 0, archived: 0 };
  if (!isRowId(organizationId)) return counts;
  const rows = await db
    .selectFrom('workflows')
    .select((of) => ['status', of.fn.countAll<string>().as('count')] as const)
    .where('organization_id', '=', organizationId)
    .groupBy('status')
    .execute();
  for (const { status, count } of rows) counts[status] = Number(count);
  return counts;
}

/** Moves a workflow to a folder; null removes it from its folder. Throws FOLDER_NOT_FOUND. */
export async function moveToFolder(
  context: StoreContext,
  organizationId: string,
  id: string,
  folderId: string | null,
): Promise<Workflow | undefined> {
  if (folderId !== null && !isRowId(folderId)) throw new GatewayError('FOLDER_NOT_FOUND');
  try {
    return await changeWorkflow(context, organizationId, id, { folder_id: folderId });
  } catch (error) {
    throw asUnfiled(error);
  }
}

function asUnfiled(error: unknown): unknown {
  if (violated(error) !== 'workflows_folder') return error;
  return new GatewayError('FOLDER_NOT_FOUND', {}, error);
}

export async function getWorkflow(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<Workflow | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .selectFrom('workflows')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : toWorkflow(row);
}

/** The workflow with the number of its runs. */
export async function getCountedWorkflow(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<ListedWorkflow | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .selectFrom('workflows')
    .leftJoin(keptCounts(organizationId, id), 'kept.workflow_id', 'workflows.id')
    .selectAll('workflows')
    .select(['kept.total_runs', publishedVersion, hasDraft])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toListed(row);
}

export async function findByUuid(
  { db }: StoreContext,
  uuid: string,
): Promise<Workflow | undefined> {
  const row = await db
    .selectFrom('workflows')
    .selectAll()
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  return row === undefined ? undefined : toWorkflow(row);
}

type AgentKey = { organizationId: string } & ({ uuid: string } | { id: string });

/** A workflow of the organization with the version of the first of `statuses` that it has, a draft before the published
 *  one, in one statement, for starts of calls and claims of campaigns. */
export async function findAgent(
  context: StoreContext,
  key: AgentKey,
  statuses: readonly ('draft' | 'published')[],
): Promise<{ workflow: Workflow; version: WorkflowVersion } | undefined> {
  if (!isAgentKey(key)) return undefined;
  const row = await agentRow(context, key, statuses).executeTakeFirst();
  return row && toAgent(context, row);
}

/** A workflow with its draft, or its published version, and the number of its runs, in one statement. */
export async function getShownWorkflow(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<{ workflow: Workflow; version: WorkflowVersion; totalRuns: number } | undefined> {
  const key = { organizationId, id };
  if (!isAgentKey(key)) return undefined;
  const row = await agentRow(context, key, ['draft', 'published'])
    .leftJoin(keptCounts(organizationId, id), 'kept.workflow_id', 'of.id')
    .select('kept.total_runs')
    .executeTakeFirst();
  return row && { ...toAgent(context, row), totalRuns: Number(row.total_runs ?? 0) };
}

function isAgentKey(key: AgentKey): boolean {
  return isRowId(key.organizationId) && (!('id' in key) || isRowId(key.id));
}

function agentRow(
  { db }: StoreContext,
  key: AgentKey,
  statuses: readonly ('draft' | 'published')[],
) {
  return db
    .selectFrom('workflows as of')
    .innerJoin('workflow_versions', 'workflow_versions.workflow_id', 'of.id')
    .selectAll('workflow_versions')
    .select(['of.organization_id', 'of.uuid', 'of.name', 'of.status as workflow_status'])
    .select(['of.disposition_codes', 'of.folder_id', 'of.created_at as workflow_created_at'])
    .where((row) => ('uuid' in key ? row('of.uuid', '=', key.uuid) : row('of.id', '=', key.id)))
    .where('of.organization_id', '=', key.organizationId)
    .where('workflow_versions.status', 'in', statuses)
    .orderBy('workflow_versions.status')
    .limit(1);
}

type AgentRow = NonNullable<Awaited<ReturnType<ReturnType<typeof agentRow>['executeTakeFirst']>>>;

function toAgent(
  context: StoreContext,
  row: AgentRow,
): { workflow: Workflow; version: WorkflowVersion } {
  const workflow = toWorkflow({
    ...row,
    id: row.workflow_id,
    status: row.workflow_status,
    created_at: row.workflow_created_at,
  });
  return { workflow, version: toVersion(context, row.organization_id, row) };
}

/** The workflow that owns a trigger path, live or archived. */
export async function findTrigger(
  { db }: StoreContext,
  path: string,
): Promise<{ workflow: Workflow; isActive: boolean } | undefined> {
  const row = await db
    .selectFrom('workflow_triggers')
    .innerJoin('workflows', 'workflows.id', 'workflow_triggers.workflow_id')
    .selectAll('workflows')
    .select('workflow_triggers.is_active')
    .where('path', '=', path)
    .executeTakeFirst();
  return row === undefined ? undefined : { workflow: toWorkflow(row), isActive: row.is_active };
}

/** Paths among `paths` that another workflow owns. */
export async function takenTriggers(
  { db }: StoreContext,
  paths: readonly string[],
  exceptWorkflowId: string | null,
): Promise<string[]> {
  if (paths.length === 0) return [];
  const rows = await db
    .selectFrom('workflow_triggers')
    .select('path')
    .where('path', 'in', paths)
    .$if(exceptWorkflowId !== null && isRowId(exceptWorkflowId), (query) =>
      query.where('workflow_id', '<>', exceptWorkflowId ?? ''),
    )
    .orderBy('path')
    .execute();
  return rows.map(({ path }) => path);
}

export async function changeWorkflow(
  { db }: StoreContext,
  organizationId: string,
  id: string,
  change: { name: string } | { status: WorkflowStatus } | { folder_id: string | null },
): Promise<Workflow | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .updateTable('workflows')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toWorkflow(row);
}

export async function addDisposition(
  { db }: StoreContext,
  id: string,
  disposition: string,
): Promise<void> {
  const code = plainText(disposition);
  if (!isRowId(id) || code === '' || code.length > DISPOSITION_CHARACTERS_MAX) return;
  await db
    .updateTable('workflows')
    .set({ disposition_codes: sql`array_append(disposition_codes, ${code})` })
    .where('id', '=', id)
    .where(sql<boolean>`not ${code} = any(disposition_codes)`)
    .where(sql<boolean>`cardinality(disposition_codes) < ${DISPOSITIONS_MAX}`)
    .execute();
}

function toWorkflow(
  row: Omit<Selectable<WorkflowTable>, 'user_id' | 'version_number_last'>,
): Workflow {
  return {
    id: row.id,
    organizationId: row.organization_id,
    uuid: row.uuid,
    name: row.name,
    status: row.status,
    dispositionCodes: row.disposition_codes,
    folderId: row.folder_id,
    createdAt: row.created_at,
  };
}
