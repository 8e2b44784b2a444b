// A campaign's calls for the dispatcher in the API process: plans them there; a call worker dials and holds them. A
// dial is sent to one worker once; if its reply is lost, the provider is asked.

import type {
  BegunAttempt,
  CampaignCallService,
  Placed,
} from '../call/start/outbound/campaign-calls.ts';
import {
  type CampaignPlanDeps,
  CampaignPlans,
  type CampaignRoute,
  callerOf,
  type Fate,
} from '../call/start/outbound/campaign-plans.ts';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Run } from '../model/run.ts';
import type { ClaimedAttempt } from '../store/campaigns/dial-attempts.ts';
import { PBX_WORKER } from './ipc-message.ts';
import type { WorkerPool } from './worker-pool.ts';

export class CampaignRouter extends CampaignPlans implements CampaignCallService {
  readonly #log: Log;
  readonly #pbx: ReadonlySet<string>;
  readonly #workers: WorkerPool;

  /** `pbx`: names of the providers whose calls go over a PBX. */
  constructor(plans: CampaignPlanDeps, workers: WorkerPool, pbx: readonly string[]) {
    super(plans);
    this.#log = plans.log;
    this.#pbx = new Set(pbx);
    this.#workers = workers;
  }

  get takesCalls(): boolean {
    return this.#workers.takesCalls;
  }

  async place(
    route: CampaignRoute,
    claim: ClaimedAttempt,
    { run, waitMs }: BegunAttempt,
  ): Promise<Placed> {
    const isPbx = this.#pbx.has(route.provider.name);
    const worker = isPbx
      ? this.#workers.forPbx(route.configuration.id)
      : this.#workers.leastLoaded();
    if (worker === undefined) return 'put-off';
    try {
      return await worker.place({
        attemptId: claim.attemptId,
        runId: run.id,
        organizationId: run.organizationId,
        configurationId: route.configuration.id,
        from: callerOf(route, claim),
        to: claim.phoneNumber,
        campaignId: route.campaign.id,
        ratePerSecond: route.campaign.ratePerSecond,
        waitMs,
      });
    } catch (error) {
      const code = codeOf(error) ?? '';
      this.#log.warn({ err: error, runId: run.id }, 'no worker has answered a dial');
      // The worker refuses before it dials, or got no request.
      return code === 'QUEUE_FULL' || code.startsWith('STORE_') ? 'put-off' : 'in-doubt';
    }
  }

  /** Only the worker with the connection can ask about calls of a PBX that opened it. */
  override async outcomeAfterCrash(run: Run): Promise<Fate> {
    if (!this.#pbx.has(run.mode)) return super.outcomeAfterCrash(run);
    const worker = this.#workers.pbxWorker();
    if (worker === undefined) throw new GatewayError('WORKER_GONE', { worker: PBX_WORKER });
    return worker.outcomeAfterCrash(run.id);
  }
}
