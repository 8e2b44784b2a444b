// The dispositions that this process knows to be in the lists of their agents: nearly every call ends with one that is.
// Codes are never removed from a list.

import type { StoreContext } from '../db/store-context.ts';
import { addDisposition } from './workflows.ts';

/** Of the agents with calls at the same time; a hundred bytes each. Beyond it the first one is looked for again. */
const KNOWN_MAX = 5_000;

export class ListedDispositions {
  readonly #context: StoreContext;
  readonly #known = new Set<string>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** One that cannot be listed, as in a full list, is not tried again either. */
  async add(workflowId: string, disposition: string): Promise<void> {
    const key = `${workflowId} ${disposition}`;
    if (this.#known.has(key)) return;
    await addDisposition(this.#context, workflowId, disposition);
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}
