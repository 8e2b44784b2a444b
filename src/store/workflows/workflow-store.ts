// Workflows, their versions and triggers as the rest of the gateway sees them.

import type {
  Workflow,
  WorkflowDefinition,
  WorkflowStatus,
  WorkflowVersion,
} from '../../model/workflow.ts';

export interface WorkflowContent {
  definition: WorkflowDefinition;
  configurations: Record<string, unknown>;
  templateContextVariables: Record<string, unknown>;
}

export interface WorkflowStore {
  /** Version 1, published. Throws WORKFLOW_CONFLICT if a trigger path is taken, FOLDER_NOT_FOUND. */
  create(
    owner: { organizationId: string; userId: string },
    input: {
      name: string;
      triggerPaths: readonly string[];
      /** Default: none. */
      folderId?: string | null;
    } & WorkflowContent,
  ): Promise<{ workflow: Workflow; version: WorkflowVersion }>;
  /** Oldest first; of more than five thousand the newest. */
  list(
    organizationId: string,
    statuses: readonly WorkflowStatus[],
  ): Promise<(Workflow & { totalRuns: number })[]>;
  count(organizationId: string): Promise<Record<WorkflowStatus, number>>;
  get(organizationId: string, id: string): Promise<Workflow | undefined>;
  findByUuid(uuid: string): Promise<Workflow | undefined>;
  /** The workflow that owns a trigger path, live or archived. */
  findTrigger(path: string): Promise<{ workflow: Workflow; isActive: boolean } | undefined>;
  rename(organizationId: string, id: string, name: string): Promise<Workflow | undefined>;
  setStatus(
    organizationId: string,
    id: string,
    status: WorkflowStatus,
  ): Promise<Workflow | undefined>;
  /** Null takes it out of its folder. Throws FOLDER_NOT_FOUND. */
  moveToFolder(
    organizationId: string,
    id: string,
    folderId: string | null,
  ): Promise<Workflow | undefined>;
  totalRuns(id: string): Promise<number>;
  /** Writes into the draft, made from the published version if there is none. */
  saveDraft(
    id: string,
    patch: Partial<WorkflowContent> & { triggerPaths?: readonly string[] },
  ): Promise<WorkflowVersion>;
  /** The draft, made if there is none. */
  createDraft(id: string): Promise<WorkflowVersion>;
  /** Throws WORKFLOW_NO_DRAFT. The former published version becomes archived. */
  publish(id: string): Promise<WorkflowVersion>;
  /** Newest first. */
  versions(id: string, page: { limit: number; offset: number }): Promise<WorkflowVersion[]>;
  published(id: string): Promise<WorkflowVersion | undefined>;
  /** The published version of a workflow that is active. */
  inService(organizationId: string, id: string): Promise<WorkflowVersion | undefined>;
  draft(id: string): Promise<WorkflowVersion | undefined>;
  version(id: string, definitionId: string): Promise<WorkflowVersion | undefined>;
  /** Paths among `paths` that another workflow owns. */
  takenTriggers(paths: readonly string[], exceptWorkflowId: string | null): Promise<string[]>;
  addDisposition(id: string, disposition: string): Promise<void>;
}
