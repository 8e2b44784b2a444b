// Workflows, versions and triggers as the one repository that the other rooms see.

import type { StoreContext } from '../db/store-context.ts';
import type { WorkflowStore } from './workflow-store.ts';
import {
  createDraft,
  getByStatus,
  getInService,
  getVersion,
  listVersions,
  publishDraft,
  saveDraft,
} from './workflow-versions.ts';
import {
  addDisposition,
  changeWorkflow,
  countWorkflows,
  createWorkflow,
  findByUuid,
  findTrigger,
  getWorkflow,
  listWorkflows,
  moveToFolder,
  takenTriggers,
  totalRuns,
} from './workflows.ts';

export function workflowStore(context: StoreContext): WorkflowStore {
  return {
    create: (...from) => createWorkflow(context, ...from),
    list: (...from) => listWorkflows(context, ...from),
    count: (organizationId) => countWorkflows(context, organizationId),
    get: (...from) => getWorkflow(context, ...from),
    findByUuid: (uuid) => findByUuid(context, uuid),
    findTrigger: (path) => findTrigger(context, path),
    rename: (organizationId, id, name) => changeWorkflow(context, organizationId, id, { name }),
    setStatus: (organizationId, id, status) =>
      changeWorkflow(context, organizationId, id, { status }),
    moveToFolder: (...from) => moveToFolder(context, ...from),
    totalRuns: (id) => totalRuns(context, id),
    saveDraft: (id, patch) => saveDraft(context, id, patch),
    createDraft: (id) => createDraft(context, id),
    publish: (id) => publishDraft(context, id),
    versions: (id, page) => listVersions(context, id, page),
    published: (id) => getByStatus(context, id, 'published'),
    inService: (...from) => getInService(context, ...from),
    draft: (id) => getByStatus(context, id, 'draft'),
    version: (id, definitionId) => getVersion(context, id, definitionId),
    takenTriggers: (...from) => takenTriggers(context, ...from),
    addDisposition: (id, disposition) => addDisposition(context, id, disposition),
  };
}
