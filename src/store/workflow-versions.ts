// The numbered versions of a workflow: exactly one published, at most one draft, numbers never used
// again. Changes to one workflow stand in line at its row. A trigger path is live while the published
// version or the draft has it; it stays its workflow's for ever. Source: contract §5.2.

import type { Selectable } from 'kysely';
import { GatewayError } from '../errors.ts';
import type { WorkflowVersion } from '../model/workflow.ts';
import type { StoreContext, Transacting } from './context.ts';
import type { WorkflowVersionTable } from './schema.ts';
import type { WorkflowStore } from './store.ts';
import { isRowId, jsonText } from './stored-values.ts';

type Row = Selectable<WorkflowVersionTable>;

/** The draft, made from the published version if there is none. Throws WORKFLOW_NOT_FOUND. */
export async function createDraft(context: StoreContext, id: string): Promise<WorkflowVersion> {
  return changeVersions(context, id, async (tx) => toVersion(await draftRow(context, tx, id)));
}

/** Throws WORKFLOW_NOT_FOUND, WORKFLOW_CONFLICT. */
export async function saveDraft(
  context: StoreContext,
  id: string,
  patch: Parameters<WorkflowStore['saveDraft']>[1],
): Promise<WorkflowVersion> {
  return changeVersions(context, id, async (tx) => {
    const draft = await draftRow(context, tx, id);
    const change = {
      ...(patch.definition !== undefined && { definition: jsonText(patch.definition) }),
      ...(patch.configurations !== undefined && {
        configurations: jsonText(patch.configurations),
      }),
      ...(patch.templateContextVariables !== undefined && {
        template_context_variables: jsonText(patch.templateContextVariables),
      }),
      ...(patch.triggerPaths !== undefined && { trigger_paths: [...patch.triggerPaths] }),
    };
    if (Object.keys(change).length === 0) return toVersion(draft);
    const row = await tx
      .updateTable('workflow_versions')
      .set(change)
      .where('id', '=', draft.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await syncTriggers(tx, id);
    return toVersion(row);
  });
}

/** Throws WORKFLOW_NOT_FOUND, WORKFLOW_NO_DRAFT. */
export async function publishDraft(context: StoreContext, id: string): Promise<WorkflowVersion> {
  return changeVersions(context, id, async (tx) => {
    const draft = await versionRow(tx, id, 'draft');
    if (draft === undefined) throw new GatewayError('WORKFLOW_NO_DRAFT');
    await tx
      .updateTable('workflow_versions')
      .set({ status: 'archived' })
      .where('workflow_id', '=', id)
      .where('status', '=', 'published')
      .execute();
    const row = await tx
      .updateTable('workflow_versions')
      .set({ status: 'published', published_at: new Date(context.clock.now()) })
      .where('id', '=', draft.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await syncTriggers(tx, id);
    return toVersion(row);
  });
}

export async function listVersions(
  { db }: StoreContext,
  id: string,
  page: { limit: number; offset: number },
): Promise<WorkflowVersion[]> {
  if (!isRowId(id)) return [];
  const rows = await db
    .selectFrom('workflow_versions')
    .selectAll()
    .where('workflow_id', '=', id)
    .orderBy('version_number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map(toVersion);
}

export async function getByStatus(
  { db }: StoreContext,
  id: string,
  status: 'draft' | 'published',
): Promise<WorkflowVersion | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await versionRow(db, id, status);
  return row === undefined ? undefined : toVersion(row);
}

export async function getVersion(
  { db }: StoreContext,
  id: string,
  definitionId: string,
): Promise<WorkflowVersion | undefined> {
  if (!isRowId(id) || !isRowId(definitionId)) return undefined;
  const row = await db
    .selectFrom('workflow_versions')
    .selectAll()
    .where('workflow_id', '=', id)
    .where('id', '=', definitionId)
    .executeTakeFirst();
  return row === undefined ? undefined : toVersion(row);
}

/** Makes the paths of the published version and the draft live, all others of the workflow not.
 *  Throws WORKFLOW_CONFLICT if another workflow has one of them. */
export async function syncTriggers(tx: Transacting, workflowId: string): Promise<void> {
  const versions = await tx
    .selectFrom('workflow_versions')
    .select('trigger_paths')
    .where('workflow_id', '=', workflowId)
    .where('status', 'in', ['published', 'draft'])
    .execute();
  // Sorted: two workflows that want the same paths must not wait for each other.
  const paths = [...new Set(versions.flatMap((version) => version.trigger_paths))].sort();
  await tx
    .updateTable('workflow_triggers')
    .set({ is_active: false })
    .where('workflow_id', '=', workflowId)
    .where('is_active', '=', true)
    .execute();
  if (paths.length === 0) return;
  const ours = await tx
    .insertInto('workflow_triggers')
    .values(paths.map((path) => ({ path, workflow_id: workflowId, is_active: true })))
    .onConflict((conflict) =>
      conflict
        .column('path')
        .doUpdateSet({ is_active: true })
        .whereRef('workflow_triggers.workflow_id', '=', 'excluded.workflow_id'),
    )
    .returning('path')
    .execute();
  const taken = paths.filter((path) => !ours.some((row) => row.path === path));
  if (taken.length > 0) {
    const problems = `trigger path already used: ${taken.join(', ')}`;
    throw new GatewayError('WORKFLOW_CONFLICT', { problems });
  }
}

export function toVersion(row: Row): WorkflowVersion {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    versionNumber: row.version_number,
    status: row.status,
    definition: row.definition,
    configurations: row.configurations,
    templateContextVariables: row.template_context_variables,
    createdAt: row.created_at,
    publishedAt: row.published_at,
  };
}

/** Runs `change` while nobody else changes this workflow. */
async function changeVersions(
  context: StoreContext,
  id: string,
  change: (tx: Transacting) => Promise<WorkflowVersion>,
): Promise<WorkflowVersion> {
  if (!isRowId(id)) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  return context.db.transaction().execute(async (tx) => {
    const workflow = await tx
      .selectFrom('workflows')
      .select('id')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
    return change(tx);
  });
}

async function draftRow(context: StoreContext, tx: Transacting, id: string): Promise<Row> {
  const draft = await versionRow(tx, id, 'draft');
  if (draft !== undefined) return draft;
  const { version_number_last } = await tx
    .updateTable('workflows')
    .set((of) => ({ version_number_last: of('version_number_last', '+', 1) }))
    .where('id', '=', id)
    .returning('version_number_last')
    .executeTakeFirstOrThrow();
  const published = await versionRow(tx, id, 'published');
  if (published === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return tx
    .insertInto('workflow_versions')
    .values({
      workflow_id: id,
      version_number: version_number_last,
      status: 'draft',
      definition: jsonText(published.definition),
      configurations: jsonText(published.configurations),
      template_context_variables: jsonText(published.template_context_variables),
      trigger_paths: published.trigger_paths,
      created_at: new Date(context.clock.now()),
      published_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function versionRow(
  db: StoreContext['db'],
  id: string,
  status: 'draft' | 'published',
): Promise<Row | undefined> {
  return db
    .selectFrom('workflow_versions')
    .selectAll()
    .where('workflow_id', '=', id)
    .where('status', '=', status)
    .executeTakeFirst();
}
