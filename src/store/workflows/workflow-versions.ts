// The numbered versions of a workflow: exactly one published, at most one draft, numbers never used again. Changes
// to one workflow are serialised by its row's lock. Secrets in the content are sealed. A trigger path is live while
// the published version or the draft has it; it belongs to its workflow for ever. Source: contract §5.2.

import { isDeepStrictEqual } from 'node:util';
import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  callSecondsIn,
  SERVICE_OVERRIDES,
  type WorkflowDefinition,
  type WorkflowVersion,
} from '../../model/workflow.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { WorkflowVersionTable } from '../db/tables.ts';
import { fieldsOf, openContent, sealContent } from './sealed-content.ts';

export interface WorkflowContent {
  definition: WorkflowDefinition;
  configurations: Record<string, unknown>;
  templateContextVariables: Record<string, unknown>;
}

type DraftPatch = Partial<WorkflowContent> & { triggerPaths?: readonly string[] };
type Row = Selectable<WorkflowVersionTable>;

interface DraftChange {
  patch: DraftPatch;
  /** Whether other data from which the patch is derived is unchanged. Default: there is none. */
  isStill?: (tx: TransactionContext) => Promise<boolean>;
}

/** Repetitions of a change, each as long as the checks of keys. Another client must have changed the draft or the
 *  organization's services within it. */
const CHANGE_TRIES_MAX = 5;

/** The draft, created from the published version if there is none. Throws WORKFLOW_NOT_FOUND. */
export async function createDraft(context: StoreContext, id: string): Promise<WorkflowVersion> {
  return changeVersions(context, id, (tx) => draftRow(context, tx, id));
}

/** Changes the draft, which is created from the published version if there is none. Throws WORKFLOW_NOT_FOUND,
 *  WORKFLOW_CONFLICT. */
export async function saveDraft(
  context: StoreContext,
  id: string,
  patch: DraftPatch,
): Promise<WorkflowVersion> {
  return changeVersions(context, id, async (tx, organizationId) => {
    const draft = await draftRow(context, tx, id);
    return patchDraft(context, tx, { organizationId, draft, patch });
  });
}

/** Saves what `change` makes of the draft, or of the published version if there is none. `change` may take long, and is
 *  called again if another client has changed its input meanwhile, so no change is lost. Throws what `change` throws,
 *  WORKFLOW_NOT_FOUND, WORKFLOW_CONFLICT, STORE_UNAVAILABLE. */
export async function changeDraft(
  context: StoreContext,
  id: string,
  change: (stored: WorkflowVersion | undefined) => Promise<DraftChange>,
): Promise<void> {
  for (let tries = 0; tries < CHANGE_TRIES_MAX; tries++) {
    const stored = await getByStatus(context, id, 'draft', 'published');
    const { patch, isStill: isOthersStill = () => Promise.resolve(true) } = await change(stored);
    if (Object.keys(patch).length === 0) return;
    let isStill = false;
    await changeVersions(context, id, async (tx, organizationId) => {
      const draft = await draftRow(context, tx, id);
      isStill =
        hasContentOf(stored, toVersion(context, organizationId, draft)) &&
        (await isOthersStill(tx));
      return isStill ? patchDraft(context, tx, { organizationId, draft, patch }) : draft;
    });
    if (isStill) return;
  }
  throw new GatewayError('STORE_UNAVAILABLE');
}

function hasContentOf(stored: WorkflowVersion | undefined, current: WorkflowVersion): boolean {
  const { definition, configurations } = current;
  return (
    stored !== undefined &&
    isDeepStrictEqual([stored.definition, stored.configurations], [definition, configurations])
  );
}

async function patchDraft(
  context: StoreContext,
  tx: TransactionContext,
  { organizationId, draft, patch }: { organizationId: string; draft: Row; patch: DraftPatch },
): Promise<Row> {
  const change = {
    ...changedContent(context, { organizationId, draft, patch }),
    ...(patch.templateContextVariables !== undefined && {
      template_context_variables: jsonText(patch.templateContextVariables),
    }),
    ...(patch.triggerPaths !== undefined && { trigger_paths: [...patch.triggerPaths] }),
  };
  if (Object.keys(change).length === 0) return draft;
  const row = await tx
    .updateTable('workflow_versions')
    .set(change)
    .where('id', '=', draft.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await syncTriggers(tx, draft.workflow_id);
  return row;
}

/** Publishes the draft; the former published version becomes archived. Throws WORKFLOW_NOT_FOUND, WORKFLOW_NO_DRAFT. */
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
    return row;
  });
}

/** The workflow's versions, newest first. */
export async function listVersions(
  context: StoreContext,
  id: string,
  page: { limit: number; offset: number },
): Promise<WorkflowVersion[]> {
  if (!isRowId(id)) return [];
  const rows = await ownedVersions(context)
    .where('workflow_id', '=', id)
    .orderBy('version_number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map((row) => toVersion(context, row.owner, row));
}

/** The version with the first of `statuses` that exists: a draft before the published one. */
export async function getByStatus(
  context: StoreContext,
  id: string,
  ...statuses: ('draft' | 'published')[]
): Promise<WorkflowVersion | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await ownedVersions(context)
    .where('workflow_id', '=', id)
    .where('workflow_versions.status', 'in', statuses)
    .orderBy('workflow_versions.status')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toVersion(context, row.owner, row);
}

/** The published version of a workflow that is active. */
export async function getInService(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<WorkflowVersion | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await ownedVersions(context)
    .where('workflow_id', '=', id)
    .where('workflows.organization_id', '=', organizationId)
    .where('workflows.status', '=', 'active')
    .where('workflow_versions.status', '=', 'published')
    .executeTakeFirst();
  return row === undefined ? undefined : toVersion(context, row.owner, row);
}

/** A version with the bytes of its JSON. */
export async function findVersion(
  context: StoreContext,
  id: string,
  definitionId: string,
): Promise<{ version: WorkflowVersion; bytes: number } | undefined> {
  if (!isRowId(id) || !isRowId(definitionId)) return undefined;
  const row = await ownedVersions(context)
    .select(
      sql<number>`octet_length(definition::text) + octet_length(configurations::text)
        + octet_length(template_context_variables::text)`.as('bytes'),
    )
    .where('workflow_id', '=', id)
    .where('workflow_versions.id', '=', definitionId)
    .executeTakeFirst();
  return row && { version: toVersion(context, row.owner, row), bytes: row.bytes };
}

/** The version's longest call in seconds, without reading its graph, for a dial. */
export async function callSecondsMax({ db }: StoreContext, id: string): Promise<number> {
  if (!isRowId(id)) return callSecondsIn({});
  const row = await db
    .selectFrom('workflow_versions')
    .select(sql<unknown>`configurations -> 'max_call_duration'`.as('seconds'))
    .where('id', '=', id)
    .executeTakeFirst();
  return callSecondsIn({ max_call_duration: row?.seconds });
}

const hasServices = sql<boolean>`coalesce(${sql.join(
  SERVICE_OVERRIDES.map((name) => sql`configurations -> ${name}`),
)}) is not null`;
/** SQL condition for graphs that may name services. Most have none of these words, and need not be parsed. */
const hasNodeServices = sql<boolean>`case
  when definition::text ~ '"(language|voice|model_overrides)"' then jsonb_path_exists(
    definition::jsonb,
    '$.nodes[*].data ? (exists(@.language) || exists(@.voice) || exists(@.model_overrides))')
  else false end`;

/** A version that names services of its own, for all nodes or for some; undefined for another one, whose graph is not
 *  read. */
export async function getWithServices(
  context: StoreContext,
  id: string,
): Promise<WorkflowVersion | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await ownedVersions(context)
    .where('workflow_versions.id', '=', id)
    .where(sql<boolean>`(${hasServices} or ${hasNodeServices})`)
    .executeTakeFirst();
  return row === undefined ? undefined : toVersion(context, row.owner, row);
}

/** Makes the paths of the published version and the draft live, and no other path of the workflow. Throws
 *  WORKFLOW_CONFLICT if another workflow has one of them. */
export async function syncTriggers(tx: TransactionContext, workflowId: string): Promise<void> {
  const versions = await tx
    .selectFrom('workflow_versions')
    .select('trigger_paths')
    .where('workflow_id', '=', workflowId)
    .where('status', 'in', ['published', 'draft'])
    .execute();
  // Sorted, so that two workflows that lock the same paths do not deadlock.
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

/** The version in clear. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
export function toVersion(
  { secrets }: StoreContext,
  organizationId: string,
  row: Row,
): WorkflowVersion {
  const own = { organizationId, secrets };
  const { definition, configurations, sealed_fields: sealed } = row;
  return {
    id: row.id,
    workflowId: row.workflow_id,
    versionNumber: row.version_number,
    status: row.status,
    definition: openContent(definition, sealed, { ...own, column: 'definition' }),
    configurations: openContent(configurations, sealed, { ...own, column: 'configurations' }),
    templateContextVariables: row.template_context_variables,
    createdAt: row.created_at,
    publishedAt: row.published_at,
  };
}

/** Definition and settings as columns of a row. */
export function sealedContent(
  { secrets }: StoreContext,
  organizationId: string,
  content: Pick<WorkflowContent, 'definition' | 'configurations'>,
) {
  const own = { organizationId, secrets };
  const definition = sealContent(content.definition, { ...own, column: 'definition' });
  const settings = sealContent(content.configurations, { ...own, column: 'configurations' });
  return {
    definition: definition.text,
    configurations: settings.text,
    sealed_fields: [...definition.sealedFields, ...settings.sealedFields],
  };
}

/** The columns of a draft that a patch changes. */
function changedContent(
  { secrets }: StoreContext,
  {
    organizationId,
    draft,
    patch,
  }: { organizationId: string; draft: Row; patch: Partial<WorkflowContent> },
) {
  const own = { organizationId, secrets };
  const changes: { definition?: string; configurations?: string; sealed_fields?: string[] } = {};
  let sealedFields = draft.sealed_fields;
  for (const column of ['definition', 'configurations'] as const) {
    const content = patch[column];
    if (content === undefined) continue;
    const former = fieldsOf(column, sealedFields);
    const sealed = sealContent(content, { ...own, column });
    changes[column] = sealed.text;
    sealedFields = [
      ...sealedFields.filter((field) => !former.includes(field)),
      ...sealed.sealedFields,
    ];
    changes.sealed_fields = sealedFields;
  }
  return changes;
}

/** Versions with the organization that owns them. */
function ownedVersions({ db }: StoreContext) {
  return db
    .selectFrom('workflow_versions')
    .innerJoin('workflows', 'workflows.id', 'workflow_versions.workflow_id')
    .selectAll('workflow_versions')
    .select('workflows.organization_id as owner');
}

/** Runs `change` while the workflow is locked. */
async function changeVersions(
  context: StoreContext,
  id: string,
  change: (tx: TransactionContext, organizationId: string) => Promise<Row>,
): Promise<WorkflowVersion> {
  if (!isRowId(id)) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  return context.db.transaction().execute(async (tx) => {
    const workflow = await tx
      .selectFrom('workflows')
      .select('organization_id')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
    const owner = workflow.organization_id;
    return toVersion(context, owner, await change(tx, owner));
  });
}

async function draftRow(context: StoreContext, tx: TransactionContext, id: string): Promise<Row> {
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
      sealed_fields: published.sealed_fields,
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
