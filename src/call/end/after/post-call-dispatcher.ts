// Dispatcher of the work after calls (reviews, then webhooks), on every node. The due work is in the store, so that a
// killed process loses none.

import { deliveries, deliveryOldestSeconds } from '../../../metrics/metrics.ts';
import { ClaimLoop } from '../../../std/claim-loop.ts';
import { JobLoop } from '../../../std/job-loop.ts';
import type { Random } from '../../../std/random.ts';
import type { PostCallJob } from '../../../store/deliveries/post-call-jobs.ts';
import type { ClaimedDelivery } from '../../../store/deliveries/webhook-deliveries.ts';
import { POST_CALL_LEASE_MS, type PostCallJobDeps, runPostCallJob } from './post-call-job.ts';
import { ATTEMPTS_MAX, type DeliverDeps, deliverWebhook } from './webhook-delivery.ts';

const LOOK_MS = 1_000;
/** Concurrent jobs and deliveries. Reviews wait for models, deliveries for receivers: neither costs this process
 *  much. */
const AFTERWORK_SLOTS = 16;
const DELIVERY_SLOTS = 32;
/** Slots that one organization may use at once, so that its slow receivers do not delay other organizations. */
const SLOTS_PER_ORGANIZATION = 8;
/** Lease of a claimed delivery. Longer than a send and the statements around it. */
const DELIVERY_LEASE_MS = 60_000;
const MEASURE_MS = 15_000;

type PostCallDispatcherDeps = PostCallJobDeps & DeliverDeps & { random: Random };

export class PostCallDispatcher {
  readonly #deps: PostCallDispatcherDeps;
  readonly #afterworks: ClaimLoop<PostCallJob>;
  readonly #deliveries: ClaimLoop<ClaimedDelivery>;
  readonly #measuring: JobLoop;

  constructor(deps: PostCallDispatcherDeps) {
    this.#deps = deps;
    const { clock, random, log, store } = deps;
    const common = {
      clock,
      random,
      log,
      everyMs: LOOK_MS,
      slotsPerOwner: SLOTS_PER_ORGANIZATION,
      isFollowed: (work: { isFollowed: boolean }) => work.isFollowed,
    };
    this.#afterworks = new ClaimLoop<PostCallJob>({
      ...common,
      name: 'afterwork',
      slots: AFTERWORK_SLOTS,
      claim: (limit, except) =>
        store.afterworks.claim({ limit, except, leaseMs: POST_CALL_LEASE_MS }),
      ownerOf: ({ organizationId }) => organizationId,
      perform: async (work, signal) => {
        if (await runPostCallJob(deps, work, signal)) this.#deliveries.wake();
      },
      giveBack: (work) => store.afterworks.giveBack(work),
    });
    this.#deliveries = new ClaimLoop<ClaimedDelivery>({
      ...common,
      name: 'deliveries',
      slots: DELIVERY_SLOTS,
      claim: (limit, except) => this.#claimDeliveries(limit, except),
      ownerOf: ({ organizationId }) => organizationId,
      perform: (delivery, signal) => deliverWebhook(deps, delivery, signal),
      giveBack: ({ id, claims }) => store.deliveries.release(id, claims),
    });
    this.#measuring = new JobLoop({
      clock,
      everyMs: MEASURE_MS,
      run: () => this.#measure(),
      onError: (error) => log.debug({ err: error }, 'waiting webhooks not counted'),
    });
  }

  start(): void {
    this.#afterworks.start();
    this.#deliveries.start();
    void this.#measuring.start();
  }

  /** Looks for due work at once: a run was completed in this process. */
  wake(): void {
    this.#afterworks.wake();
  }

  /** Claims no more work; work in progress may finish within a few seconds. */
  async stop(): Promise<void> {
    this.#measuring.cancel();
    await Promise.all([this.#afterworks.stop(), this.#deliveries.stop()]);
  }

  /** Claims due deliveries. A delivery whose last attempt was interrupted by a kill gets no further attempt. */
  async #claimDeliveries(limit: number, except: readonly string[]): Promise<ClaimedDelivery[]> {
    const { store, log } = this.#deps;
    const claim = { limit, except, leaseMs: DELIVERY_LEASE_MS, attemptsMax: ATTEMPTS_MAX };
    const claimed = await store.deliveries.claim(claim);
    for (const { id, runId, state } of claimed) {
      if (state !== 'dead_letter') continue;
      deliveries.inc({ result: 'dead_letter' });
      log.warn({ deliveryId: id, runId }, 'webhook abandoned: its last attempt was interrupted');
    }
    return claimed.filter(({ state }) => state === 'sending');
  }

  async #measure(): Promise<void> {
    const { clock, store } = this.#deps;
    const oldest = await store.deliveries.oldestWaiting();
    const ageMs = oldest === undefined ? 0 : clock.now() - oldest.getTime();
    deliveryOldestSeconds.set(Math.max(0, ageMs) / 1_000);
  }
}
