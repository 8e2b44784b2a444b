// Counts consecutive dials that a provider fails. The store holds the count and makes campaigns wait; the memory here
// saves a store request for each answered dial.

import type { CampaignRoute } from '../call/start/outbound/campaign-plans.ts';
import type { Log } from '../log.ts';
import { DIAL_FAULTS_MAX } from '../model/campaign.ts';
import type { ClaimedAttempt } from '../store/campaigns/dial-attempts.ts';
import type { Store } from '../store/store.ts';

export class ProviderFaults {
  readonly #store: Pick<Store, 'contacts'>;
  readonly #log: Log;
  /** Configurations whose provider has failed a dial of this process since it last answered one. */
  readonly #failing = new Set<string>();

  constructor({ store, log }: { store: Pick<Store, 'contacts'>; log: Log }) {
    this.#store = store;
    this.#log = log;
  }

  /** Counts a failed dial. Throws STORE_UNAVAILABLE. */
  async failed({ campaign, configuration }: CampaignRoute): Promise<void> {
    const { id: configurationId } = configuration;
    this.#failing.add(configurationId);
    const faults = await this.#store.contacts.providerFailed(configurationId, campaign.id);
    if (faults !== DIAL_FAULTS_MAX) return;
    this.#log.warn({ configurationId, faults }, 'provider fails all dials: campaigns wait for it');
  }

  /** Resets the count: any answer shows that the provider works. Throws STORE_UNAVAILABLE. */
  async answered({ configuration }: CampaignRoute, claim: ClaimedAttempt): Promise<void> {
    const { id: configurationId } = configuration;
    if (claim.providerFaults === 0 && !this.#failing.has(configurationId)) return;
    const hasEnded = await this.#store.contacts.providerAnswered(configurationId);
    this.#failing.delete(configurationId);
    if (hasEnded) this.#log.info({ configurationId }, 'provider answers again: campaigns go on');
  }
}
