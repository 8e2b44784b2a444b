// Counts of campaigns, with a cache for completed ones: they do not change, so a page of a hundred large campaigns
// counts only the running ones.

import type { CampaignCounts } from '../../model/campaign.ts';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { countContacts } from './contacts.ts';

/** Some 300 bytes each. */
const KEPT_MAX = 2_000;

export class CampaignCountsCache {
  readonly #context: StoreContext;
  /** The least recently used first. */
  readonly #kept = new Map<string, CampaignCounts>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async of(ids: readonly string[]): Promise<Map<string, CampaignCounts>> {
    const known = new Map<string, CampaignCounts>();
    for (const id of ids) {
      const counts = this.#kept.get(id);
      if (counts !== undefined) known.set(id, counts);
    }
    const others = ids.filter((id) => isRowId(id) && !known.has(id));
    // Read before the counts: a campaign that ends in between may have been counted too early.
    const completed = await this.#completedOf(others);
    const counted = others.length === 0 ? known : await countContacts(this.#context, others);
    for (const id of completed) this.#keep(id, counted.get(id));
    for (const [id, counts] of known) this.#keep(id, counts);
    return new Map([...known, ...counted]);
  }

  async #completedOf(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#context.db
      .selectFrom('campaigns')
      .select('id')
      .where('id', 'in', ids)
      .where('state', '=', 'completed')
      .execute();
    return rows.map(({ id }) => id);
  }

  #keep(id: string, counts: CampaignCounts | undefined): void {
    if (counts === undefined) return;
    this.#kept.delete(id);
    this.#kept.set(id, counts);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}
