// Versions of agents that calls use, kept in this process. A version that is not a draft never changes, whichever process
// publishes the next one: what a call does after its start needs no read of its agent. Which version is in service is
// read for each call.

import type { WorkflowVersion } from '../../model/workflow.ts';
import type { StoreContext } from '../db/store-context.ts';
import { findVersion } from './workflow-versions.ts';

/** Kept versions: more than the agents that have calls at the same time. */
const VERSIONS_MAX = 200;
/** Their JSON together. As objects they take a few times as much memory. */
const BYTES_MAX = 8 * 1024 * 1024;

interface Kept {
  version: WorkflowVersion;
  bytes: number;
}

export class KeptVersions {
  readonly #context: StoreContext;
  /** By id, the least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** A version of the workflow; shared, and must not be changed. `status` may be older than the version's. */
  async get(workflowId: string, id: string): Promise<WorkflowVersion | undefined> {
    const kept = this.#kept.get(id);
    if (kept?.version.workflowId === workflowId) {
      this.#keep(id, kept);
      return kept.version;
    }
    const found = await findVersion(this.#context, workflowId, id);
    if (found !== undefined && found.version.status !== 'draft') this.#keep(id, found);
    return found?.version;
  }

  #keep(id: string, of: Kept): void {
    this.#remove(id);
    this.#kept.set(id, of);
    this.#bytes += of.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= VERSIONS_MAX && this.#bytes <= BYTES_MAX) break;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}
