// Workflows and their versions as clients get them. Source: contract §5.1 to §5.3.

import type { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ListedWorkflow, Workflow, WorkflowVersion } from '../../model/workflow.ts';
import { publicDefinition } from '../../workflow/graph/public-definition.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { isoTime, isoTimeOrNull } from '../http/values.ts';
import { maskDefinition, maskSettings } from './masked-keys.ts';
import type { workflowListItem, workflowOut, workflowVersionOut } from './workflow-schema.ts';

/** A workflow of the organization. Throws WORKFLOW_NOT_FOUND, also for one of another organization. */
export async function workflowOf(
  deps: ApiDeps,
  organizationId: string,
  id: string,
): Promise<Workflow> {
  const workflow = await deps.store.workflows.get(organizationId, id);
  if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  return workflow;
}

/** A workflow with its draft, or else its published version, in one statement. Throws WORKFLOW_NOT_FOUND, also for
 *  one of another organization. */
export async function shownAgentOf(
  deps: ApiDeps,
  organizationId: string,
  id: string,
): Promise<{ workflow: Workflow; version: WorkflowVersion }> {
  const key = { organizationId, id };
  const found = await deps.store.workflows.findAgent(key, ['draft', 'published']);
  if (found === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  return found;
}

/** A workflow in a reply. `isLoadable`: in a form that a client's builder can load (public-definition.ts). */
export function workflowOnWire(
  workflow: Workflow,
  version: WorkflowVersion | undefined,
  { totalRuns, isLoadable = false }: { totalRuns: number; isLoadable?: boolean },
): z.infer<typeof workflowOut> {
  return {
    id: workflow.id,
    name: workflow.name,
    status: workflow.status,
    created_at: isoTime(workflow.createdAt),
    workflow_definition:
      version === undefined
        ? {}
        : maskDefinition(publicDefinition(version.definition, { isLoadable })),
    current_definition_id: version?.id ?? null,
    template_context_variables: version?.templateContextVariables ?? {},
    call_disposition_codes: { disposition_codes: workflow.dispositionCodes },
    total_runs: totalRuns,
    workflow_configurations: maskSettings(version?.configurations ?? {}),
    version_number: version?.versionNumber ?? null,
    version_status: version?.status ?? null,
    workflow_uuid: workflow.uuid,
  };
}

export function listedOnWire(workflow: ListedWorkflow): z.infer<typeof workflowListItem> {
  return {
    id: workflow.id,
    name: workflow.name,
    status: workflow.status,
    created_at: isoTime(workflow.createdAt),
    total_runs: workflow.totalRuns,
    folder_id: workflow.folderId,
    published_version: workflow.publishedVersion,
    has_draft: workflow.hasDraft,
    workflow_uuid: workflow.uuid,
  };
}

export function versionOnWire(version: WorkflowVersion): z.infer<typeof workflowVersionOut> {
  return {
    id: version.id,
    version_number: version.versionNumber,
    status: version.status,
    created_at: isoTime(version.createdAt),
    published_at: isoTimeOrNull(version.publishedAt),
    workflow_json: maskDefinition(publicDefinition(version.definition)),
    workflow_configurations: maskSettings(version.configurations),
    template_context_variables: version.templateContextVariables,
  };
}
