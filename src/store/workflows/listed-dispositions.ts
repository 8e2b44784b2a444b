// Cache of dispositions that are in the lists of their agents, as those of nearly all calls are. Codes are never
// removed from a list.

import type { StoreContext } from '../db/store-context.ts';
import { addDisposition } from './workflows.ts';

/** Cached dispositions: those of agents with calls at the same time, a hundred bytes each. Beyond, the first one is
 *  removed. */
const KNOWN_MAX = 5_000;

export class ListedDispositions {
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
