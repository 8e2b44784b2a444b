// Routes calls from the API process, which holds none, to the worker that holds a call or will get it. A new call
// of a hosted provider goes to the worker with the fewest calls and stays there: its plan, its first words and its
// media token are made there. Calls of PBXs begin at the worker that holds the PBX connections.

import type { CallService, StartCall, StartedCall, TestCall } from '../call/call-service.ts';
import type { DigitsWanted } from '../call/control/send-digits.ts';
import { refuseInbound } from '../call/inbound/inbound-webhook.ts';
import { findConfiguration, OutboundRoutes } from '../call/outbound/outbound-route.ts';
import {
  readStartFacts,
  type StartFacts,
  type StartFactsDeps,
} from '../call/outbound/start-call.ts';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { type ProviderName, providerName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { runOfId } from '../model/transfer-id.ts';
import { SharedReads } from '../std/batches.ts';
import type { Clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import type { Random } from '../std/random.ts';
import type { Store } from '../store/store.ts';
import {
  isHosted,
  type ProviderRequest,
  type WebhookReply,
} from '../telephony/provider/provider.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import { PBX_WORKER } from './ipc-message.ts';
import { messageBytes } from './message-size.ts';
import type { PooledWorker, WorkerPool } from './worker-pool.ts';

/** A worker that died is restarted in less; providers wait longer for their answer. */
const THERE_MS_MAX = 4_000;
/** A plan takes tenths of a second: a worker that has not answered a webhook by then may be stuck. */
const ASK_ANOTHER_MS = 4_000;
/** Of a context: a larger one takes two processes and the event loop of a worker with calls several milliseconds to
 *  receive, more than agent and configuration take to read. Few contexts are as large. */
const CONTEXT_UNCHECKED_BYTES_MAX = 32_768;

export interface WorkerRouterDeps {
  store: Pick<Store, 'runs' | 'telephony'> & StartFactsDeps['store'];
  providers: Providers;
  workers: WorkerPool;
  clock: Clock;
  log: Log;
  random: Random;
}

export class WorkerRouter implements CallService {
  readonly #deps: WorkerRouterDeps;
  /** Starts in progress, by organization and key: a repeated request waits at the same worker. */
  readonly #starting = new Map<string, PooledWorker>();
  readonly #configurations = new SharedReads<{ provider: ProviderName }>();
  readonly #factsDeps: StartFactsDeps;

  constructor(deps: WorkerRouterDeps) {
    this.#deps = deps;
    const routes = new OutboundRoutes(deps);
    this.#factsDeps = { store: deps.store, routes, facts: new SharedReads<StartFacts>() };
  }

  get activeCalls(): number {
    return this.#deps.workers.activeCalls;
  }

  async start(request: StartCall): Promise<StartedCall> {
    // With a key an earlier request may have started the call, whatever its agent is now.
    const isChecked = request.idempotencyKey === null && isLarge(request.initialContext);
    if (isChecked) await readStartFacts(this.#factsDeps, request);
    return this.#start(request, (worker) => worker.start(request));
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#start(request, (worker) => worker.startTest(request));
  }

  /** Not repeated at another worker: a phone might ring twice. */
  async #start(
    request: StartCall | TestCall,
    start: (worker: PooledWorker) => Promise<StartedCall>,
  ): Promise<StartedCall> {
    const { organizationId, idempotencyKey } = request;
    const next = (await this.#isOverPbx(request))
      ? await this.#pbxWorker()
      : await this.#anyWorker();
    const key = idempotencyKey === null ? undefined : `${organizationId} ${idempotencyKey}`;
    const first = key === undefined ? undefined : this.#starting.get(key);
    if (first !== undefined || key === undefined) return start(first ?? next);
    this.#starting.set(key, next);
    try {
      return await start(next);
    } finally {
      this.#starting.delete(key);
    }
  }

  /** The worker reports what prevents the call. With one worker there is no choice, and nothing is read. */
  async #isOverPbx(wish: Pick<StartCall, 'organizationId' | 'configurationId'>): Promise<boolean> {
    if (this.#deps.workers.isSingle) return false;
    try {
      const { organizationId, configurationId } = wish;
      const { provider } = await this.#configurations.get(
        `${organizationId} ${configurationId}`,
        () => findConfiguration(this.#deps, wish),
      );
      return this.#isPbx(provider);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return false;
    }
  }

  async sendDigits(wanted: DigitsWanted): Promise<void> {
    const { organizationId, runId } = wanted;
    const run = await this.#deps.store.runs.get(organizationId, runId);
    // Not repeated at another worker: digits would be sent twice.
    await (await this.#holderOrFallback(run, runId)).sendDigits(wanted);
  }

  async hangUp(wanted: { organizationId: string; runId: string }): Promise<Run> {
    const { organizationId, runId } = wanted;
    const { runs } = this.#deps.store;
    const run = await runs.get(organizationId, runId);
    if (run === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const holder = await this.#holder(runId);
    const isDone = holder && (await attempt(() => holder.hangUp(wanted).then(() => true)));
    if (isDone !== true) await (await this.#fallback(run)).hangUp(wanted);
    return (await runs.get(organizationId, runId)) ?? run;
  }

  /** A second worker may be asked: a provider's call gets one run, however often it is requested. */
  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const { providers, log } = this.#deps;
    const reply = await this.#byOneOf(
      [() => this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.inbound(request, workflowId),
    );
    if (reply !== undefined) return reply;
    log.warn('no worker has answered an inbound call');
    return refuseInbound({ providers }, request, new GatewayError('GATEWAY_OVERLOADED'));
  }

  /** By one worker alone, which may have the call although its reply is lost; by none where a repeated webhook has
   *  brought the call to one already. Throws WORKER_GONE, TIMED_OUT, QUEUE_FULL. */
  async answerAgain(runId: string): Promise<boolean> {
    if ((await this.#holder(runId)) !== undefined) return true;
    return (await this.#anyWorker()).answerAgain(runId);
  }

  async answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const holder = await this.#taker(runId);
    const reply = await this.#byOneOf(
      [async () => holder ?? this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.answer(name, runId, request),
    );
    if (reply !== undefined) return reply;
    const provider = this.#deps.providers.byName(name);
    if (provider === undefined || !isHosted(provider)) throw new GatewayError('RUN_NOT_FOUND');
    return provider.webhook.reject('error', null).reply;
  }

  /** Any worker finds the run; the one with its call gets the event. */
  async accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply> {
    const reply = await this.#byOneOf(
      [() => this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.accountEvent(name, request),
    );
    if (reply === undefined) throw gone();
    return reply;
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const holder = await this.#taker(runId);
    const reply = await this.#byOneOf(
      [async () => holder ?? this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.event(name, runId, request),
    );
    if (reply === undefined) throw gone();
    return reply;
  }

  /** By the first choice; by the second as well if that is gone, or late and another worker: a busy worker does not
   *  answer sooner for a repeated request. Undefined if none answers in time. */
  async #byOneOf<T extends object>(
    [first, second]: readonly [Choice, Choice],
    ask: (worker: PooledWorker) => Promise<T>,
  ): Promise<T | undefined> {
    const one = await attempt(first);
    const answer = one === undefined ? undefined : attempt(() => ask(one));
    const early = await this.#orLate(answer);
    if (early !== undefined && early !== 'late') return early;
    const other = await attempt(second);
    if (other === undefined || (other === one && early === 'late')) return answer;
    return (await attempt(() => ask(other))) ?? answer;
  }

  async #orLate<T>(answer: Promise<T> | undefined): Promise<T | 'late' | undefined> {
    if (answer === undefined) return undefined;
    // A failure is `answer`'s to report, now or later.
    answer.catch(() => undefined);
    try {
      return await withDeadline(this.#deps.clock, ASK_ANOTHER_MS, 'a webhook', answer);
    } catch (error) {
      if (codeOf(error) === 'TIMED_OUT') return 'late';
      throw error;
    }
  }

  async #holderOrFallback(run: Run | undefined, runId: string): Promise<PooledWorker> {
    const holder = run === undefined ? undefined : await this.#holder(runId);
    return holder ?? this.#fallback(run);
  }

  /** For a call that no worker of ours holds: the workers that can reach its provider. */
  #fallback(run: Run | undefined): Promise<PooledWorker> {
    const name = providerName.safeParse(run?.mode);
    return name.success && this.#isPbx(name.data) ? this.#pbxWorker() : this.#anyWorker();
  }

  #isPbx(name: ProviderName): boolean {
    return this.#deps.providers.pbx.some((provider) => provider.name === name);
  }

  /** For a webhook about a run. With one worker there is no choice, and nothing is read. */
  #taker(runId: string): Promise<PooledWorker | undefined> {
    const { workers } = this.#deps;
    return workers.isSingle ? this.#pbxWorker() : this.#holder(runId);
  }

  /** `id`: of a run or of a transfer. Undefined if it is none of ours. */
  async #holder(runId: string): Promise<PooledWorker | undefined> {
    const owner = await this.#deps.store.runs.owner(runOfId(runId));
    return owner && this.#deps.workers.byNode(owner.node);
  }

  /** Throws WORKER_GONE. */
  async #anyWorker(): Promise<PooledWorker> {
    const { workers } = this.#deps;
    const now = workers.leastLoaded();
    if (now !== undefined) return now;
    await workers.untilThere(THERE_MS_MAX);
    const then = workers.leastLoaded();
    if (then === undefined) throw gone();
    return then;
  }

  /** Throws WORKER_GONE. */
  async #pbxWorker(): Promise<PooledWorker> {
    const { workers } = this.#deps;
    if (workers.pbxWorker() === undefined) await workers.untilThere(THERE_MS_MAX);
    const worker = workers.pbxWorker();
    if (worker === undefined) throw gone();
    return worker;
  }
}

/** Throws WORKER_GONE. */
type Choice = () => Promise<PooledWorker>;

function isLarge(context: StartCall['initialContext']): boolean {
  return messageBytes(context, CONTEXT_UNCHECKED_BYTES_MAX) === undefined;
}

function gone(): GatewayError {
  return new GatewayError('WORKER_GONE', { worker: PBX_WORKER });
}

/** Undefined if the worker is gone, or too slow: then another one is asked. Throws the worker's errors. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'WORKER_GONE' && code !== 'TIMED_OUT' && code !== 'QUEUE_FULL') throw error;
    return undefined;
  }
}
