// What the dispatcher keeps in memory to decide when and how much to dial: free calls of organizations, providers that
// fail, and the lead of claims.

import type { CampaignRoute } from '../call/start/outbound/campaign-plans.ts';
import { LEAD_MS_MAX } from '../call/start/outbound/dial-pace.ts';
import type { Log } from '../log.ts';
import { DIAL_FAULTS_MAX } from '../model/campaign.ts';
import type { Clock } from '../std/clock.ts';
import type { ClaimedAttempt } from '../store/campaigns/dial-attempts.ts';
import type { Store } from '../store/store.ts';

export interface CallCapacity {
  /** Concurrent calls of the organization. */
  limit: number;
  /** Free calls of the organization; a claim subtracts its calls. */
  free: number;
}

/** Number of calls that organizations may still start during one round: read from the store once for each, less the
 *  claims. Other processes claim meanwhile; the limit itself is enforced when a call starts. */
export class CallCapacityOfTick {
  readonly #store: Pick<Store, 'accounts' | 'contacts'>;
  readonly #byOrganization = new Map<string, CallCapacity>();

  constructor(store: Pick<Store, 'accounts' | 'contacts'>) {
    this.#store = store;
  }

  async of(organizationId: string): Promise<CallCapacity> {
    const known = this.#byOrganization.get(organizationId);
    if (known !== undefined) return known;
    const { accounts, contacts } = this.#store;
    const limit = await accounts.concurrentCallLimit(organizationId);
    const calls = { limit, free: await contacts.freeSlots(organizationId, limit) };
    this.#byOrganization.set(organizationId, calls);
    return calls;
  }
}

/** Counts consecutive dials that a provider fails. The store holds the count and makes campaigns wait; the memory here
 *  saves a store request for each answered dial. */
export class FailingProviders {
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

/** Pause for a provider at its limit: shortest and longest. */
const PAUSE_MS = { first: 250, most: 60_000 };

/** Pauses of configurations whose provider has no capacity for another call. A pause doubles each time, until a call is
 *  placed. */
export class ProviderPauses {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By configuration: the end of its pause, and the length of the next one. */
  readonly #pauses = new Map<string, { untilMs: number; nextMs: number }>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  isPaused(configurationId: string): boolean {
    const pause = this.#pauses.get(configurationId);
    return pause !== undefined && pause.untilMs > this.#clock.monotonicMs();
  }

  /** Begins a pause. Returns its length; undefined if there is one, as several dials were in progress. */
  pause(configurationId: string): number | undefined {
    if (this.isPaused(configurationId)) return undefined;
    const ms = this.#pauses.get(configurationId)?.nextMs ?? PAUSE_MS.first;
    this.note(configurationId, ms);
    return ms;
  }

  /** Notes a pause that another gateway has begun. */
  note(configurationId: string, ms: number): void {
    const pauseMs = Math.min(PAUSE_MS.most, ms);
    const untilMs = this.#clock.monotonicMs() + pauseMs;
    const known = this.#pauses.get(configurationId);
    if (known !== undefined && known.untilMs >= untilMs) return;
    const nextMs = Math.max(Math.min(PAUSE_MS.most, pauseMs * 2), known?.nextMs ?? 0);
    this.#pauses.set(configurationId, { untilMs, nextMs });
  }

  end(configurationId: string): void {
    this.#pauses.delete(configurationId);
  }
}

/** Weight of the newest measurement in a falling lead; a longer one counts at once. */
const NEWEST = 0.05;

/** Lead of a claim: how long before its turn it is begun. As long as beginnings take at the moment, and as long again for
 *  what the call worker reads before its request. Zero if the store answers at once. */
export class DialLead {
  #ms = 0;

  /** The lead in milliseconds, 0 to 500. */
  get ms(): number {
    return this.#ms;
  }

  /** Notes that a beginning took `ms`. */
  took(ms: number): void {
    const wanted = Math.min(LEAD_MS_MAX, 2 * ms);
    this.#ms = Math.max(wanted, this.#ms + (wanted - this.#ms) * NEWEST);
  }
}
