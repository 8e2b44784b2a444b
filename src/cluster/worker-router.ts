// The desk of a gateway with several workers. A call is given to the worker with the fewest when its webhook
// asks what to do with it, and stays there: its plan, its first words and its media token are made where
// it is going to talk. What is told of it later goes after it. Calls of PBXs and all that starts calls
// stay here, at the connections to the PBXs.

import type { CallService, StartCall, StartedCall, TestCall } from '../call/call-service.ts';
import type { CallControl } from '../call/control/call-control.ts';
import type { DigitsWanted } from '../call/control/send-digits.ts';
import { codeOf } from '../errors/gateway-error.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { Store } from '../store/store.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';
import type { PooledWorker, WorkerPool } from './worker-pool.ts';

export class WorkerRouter implements CallService {
  readonly #store: Pick<Store, 'runs'>;
  readonly #own: CallControl;
  readonly #crew: WorkerPool;

  constructor(store: Pick<Store, 'runs'>, own: CallControl, crew: WorkerPool) {
    this.#store = store;
    this.#own = own;
    this.#crew = crew;
  }

  get activeCalls(): number {
    return this.#own.activeCalls + this.#crew.activeCalls;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#own.start(request);
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#own.startTest(request);
  }

  async sendDigits(wanted: DigitsWanted): Promise<void> {
    const { organizationId, runId } = wanted;
    const run = await this.#store.runs.get(organizationId, runId);
    const holder = run === undefined ? undefined : await this.#holder(runId);
    // Not tried again elsewhere: keys would be pressed twice.
    await (holder ?? this.#own).sendDigits(wanted);
  }

  async hangUp(wanted: { organizationId: string; runId: string }): Promise<Run> {
    const { organizationId, runId } = wanted;
    const run = await this.#store.runs.get(organizationId, runId);
    const holder = run === undefined ? undefined : await this.#holder(runId);
    if (holder !== undefined) {
      const isDone = await attempt(() => holder.hangUp(wanted).then(() => true));
      const after = isDone && (await this.#store.runs.get(organizationId, runId));
      if (after) return after;
    }
    return this.#own.hangUp(wanted);
  }

  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const worker = this.#idlest();
    return (
      (worker && (await attempt(() => worker.inbound(request, workflowId)))) ??
      this.#own.inbound(request, workflowId)
    );
  }

  async answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    // Asked again, the one who has the plan answers again.
    if (this.#own.hasAnswered(runId)) return this.#own.answer(name, runId, request);
    const holder = (await this.#holder(runId)) ?? this.#idlest();
    if (holder === undefined) return this.#own.answer(name, runId, request);
    await this.#own.releaseCall(name, runId, request);
    return (
      (await attempt(() => holder.answer(name, runId, request))) ??
      this.#own.answer(name, runId, request)
    );
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const holder = await this.#holder(runId);
    return (
      (holder && (await attempt(() => holder.event(name, runId, request)))) ??
      this.#own.event(name, runId, request)
    );
  }

  #idlest(): PooledWorker | undefined {
    return this.#own.isDraining ? undefined : this.#crew.leastLoaded(this.#own.calls);
  }

  /** Undefined if it is this process, or none of ours. */
  async #holder(runId: string): Promise<PooledWorker | undefined> {
    if (this.#own.holds(runId)) return undefined;
    const owner = await this.#store.runs.owner(runId);
    return owner === undefined || owner.isOwn ? undefined : this.#crew.byNode(owner.node);
  }
}

/** Undefined if the worker is gone, or too slow: then we do it. Throws what it throws. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'WORKER_GONE' && code !== 'TIMED_OUT' && code !== 'QUEUE_FULL') throw error;
    return undefined;
  }
}
