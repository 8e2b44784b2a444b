// Workflows, their versions and triggers as one repository.

import type { WorkflowStatus } from '../../model/workflow.ts';
import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { ListedDispositions } from './listed-dispositions.ts';
import {
  callSecondsMax,
  changeDraft,
  createDraft,
  getByStatus,
  getInService,
  getVersion,
  getWithServices,
  listVersions,
  publishDraft,
  saveDraft,
} from './workflow-versions.ts';
import {
  changeWorkflow,
  countWorkflows,
  createWorkflow,
  findAgent,
  findByUuid,
  findTrigger,
  getCountedWorkflow,
  getShownWorkflow,
  getWorkflow,
  listWorkflows,
  moveToFolder,
  takenTriggers,
} from './workflows.ts';

export type WorkflowStore = ReturnType<typeof workflowStore>;

export function workflowStore(context: StoreContext) {
  const dispositions = new ListedDispositions(context);
  return withContext(context, {
    rename: (own, organizationId: string, id: string, name: string) =>
      changeWorkflow(own, organizationId, id, { name }),
    setStatus: (own, organizationId: string, id: string, status: WorkflowStatus) =>
      changeWorkflow(own, organizationId, id, { status }),
    published: (own, id: string) => getByStatus(own, id, 'published'),
    draft: (own, id: string) => getByStatus(own, id, 'draft'),
    draftOrPublished: (own, id: string) => getByStatus(own, id, 'draft', 'published'),
    create: createWorkflow,
    list: listWorkflows,
    count: countWorkflows,
    get: getWorkflow,
    findByUuid,
    findAgent,
    findTrigger,
    moveToFolder,
    getCounted: getCountedWorkflow,
    getShown: getShownWorkflow,
    saveDraft,
    changeDraft,
    createDraft,
    publish: publishDraft,
    versions: listVersions,
    inService: getInService,
    version: getVersion,
    callSeconds: callSecondsMax,
    withServices: getWithServices,
    takenTriggers,
    addDisposition: (_context, id: string, disposition: string) =>
      dispositions.add(id, disposition),
  });
}
