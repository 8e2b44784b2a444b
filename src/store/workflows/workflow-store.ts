// Workflows, their versions and triggers as one repository.

import type { WorkflowStatus } from '../../model/workflow.ts';
import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { KeptVersions } from './kept-versions.ts';
import {
  callSecondsMax,
  changeDraft,
  createDraft,
  getByStatus,
  getInService,
  getWithServices,
  listVersions,
  publishDraft,
  saveDraft,
} from './workflow-versions.ts';
import {
  addDisposition,
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
  const kept = new KeptVersions(context);
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
    version: (_context, id: string, definitionId: string) => kept.get(id, definitionId),
    callSeconds: callSecondsMax,
    withServices: getWithServices,
    takenTriggers,
    addDisposition: (_context, id: string, disposition: string) =>
      dispositions.add(id, disposition),
  });
}

/** Cached dispositions: those of agents with calls at the same time, a hundred bytes each. Beyond, the first one is
 *  removed. */
const KNOWN_MAX = 5_000;

/** Cache of dispositions that are in the lists of their agents, as those of nearly all calls
 *  are. Codes are never removed from a list. */
class ListedDispositions {
  readonly #context: StoreContext;
  readonly #known = new Set<string>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Adds a disposition to the agent's list. One that cannot be listed, as in a full list, is not tried again
   *  either. */
  async add(workflowId: string, disposition: string): Promise<void> {
    const key = `${workflowId} ${disposition}`;
    if (this.#known.has(key)) return;
    await addDisposition(this.#context, workflowId, disposition);
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}
