// Routes calls from the API process, which holds none, to the worker that holds a call or will get it. A new call of a
// hosted provider goes to the worker with the fewest calls and stays there, with its plan, its first words and its
// media token. A call over a PBX begins at a worker that may dial there. What concerns a call of another gateway goes to
// that gateway's worker; if it cannot be reached, one of this gateway asks the provider.

import type { CallService } from '../call/call-service.ts';
import type { DigitsWanted } from '../call/session/send-digits.ts';
import { refuseInbound } from '../call/start/inbound/inbound-webhook.ts';
import { findConfiguration, OutboundRoutes } from '../call/start/outbound/outbound-route.ts';
import {
  readStartFacts,
  type StartFacts,
  type StartFactsDeps,
} from '../call/start/outbound/start-call.ts';
import type { StartCall, StartedCall, TestCall } from '../call/start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from '../call/start/setup/web-call.ts';
import { StoreWait } from '../call/start/store-wait.ts';
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
import { messageBytes, PBX_WORKER } from './ipc-message.ts';
import { ASK_MS_MAX, type PooledWorker, type WorkerPool } from './worker-pool.ts';

/** Longest wait for a worker. A worker that died is restarted in less; providers wait longer for their answer. */
const THERE_MS_MAX = 4_000;
/** Time after which a second worker gets a webhook: a plan takes tenths of a second, so the first one may be stuck. */
const ASK_ANOTHER_MS = 4_000;
/** Largest context that is sent without a check before. To receive a larger one takes two processes and the event
 *  loop of a worker with calls several milliseconds, more than reading agent and configuration. Few contexts are as
 *  large. */
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
  readonly #configurations = new SharedReads<{ id: string; provider: ProviderName }>();
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
    // An earlier request with the key may have started the call, whatever its agent is by now.
    const isChecked = request.idempotencyKey === null && isLarge(request.initialContext);
    if (isChecked) await readStartFacts(this.#factsDeps, request);
    return this.#start(request, (worker) => worker.start(request));
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#start(request, (worker) => worker.startTest(request));
  }

  /** Starts a call from a browser at one worker, whose token leads the browser there. */
  async startWeb(request: WebCall): Promise<StartedWebCall> {
    return (await this.#anyWorker()).startWeb(request);
  }

  /** Starts a call at one worker, without a second attempt at another: a phone might ring twice. */
  async #start(
    request: StartCall | TestCall,
    start: (worker: PooledWorker) => Promise<StartedCall>,
  ): Promise<StartedCall> {
    const { organizationId, idempotencyKey } = request;
    const pbx = await this.#pbxOf(request);
    // A large context does not fit into a message between gateways.
    const isLocal = 'initialContext' in request && isLarge(request.initialContext);
    const where = isLocal ? 'here' : 'anywhere';
    const over = pbx === undefined ? undefined : this.#deps.workers.forPbx(pbx, where);
    const next = over ?? (await (pbx === undefined ? this.#anyWorker() : this.#pbxWorker()));
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

  /** The configuration of the PBX that the call goes over; undefined: it goes over none. The worker reports what
   *  prevents the call. With one worker there is no choice, and nothing is read. */
  async #pbxOf(
    wish: Pick<StartCall, 'organizationId' | 'configurationId'>,
  ): Promise<string | undefined> {
    if (this.#deps.workers.isSingle) return undefined;
    try {
      const { organizationId, configurationId } = wish;
      const { id, provider } = await this.#configurations.get(
        `${organizationId} ${configurationId}`,
        () => findConfiguration(this.#deps, wish),
      );
      return this.#isPbx(provider) ? id : undefined;
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return undefined;
    }
  }

  async sendDigits(wanted: DigitsWanted): Promise<void> {
    const { organizationId, runId } = wanted;
    const run = await this.#deps.store.runs.get(organizationId, runId);
    const holder = run === undefined ? undefined : await this.#holder(runId);
    try {
      // Sent to one worker only: otherwise digits would be sent twice.
      await (holder ?? (await this.#fallback(run))).sendDigits(wanted);
    } catch (error) {
      // Only the gateway with the call can send them.
      if (codeOf(error) !== 'DIGITS_UNSUPPORTED') throw error;
      throw new GatewayError('CALL_ELSEWHERE', {}, error);
    }
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

  /** Answers an inbound webhook. A second worker may be asked: a call of a provider gets one run, however often it
   *  is requested. */
  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const { providers, log } = this.#deps;
    const reply = await this.#byOneOf(
      [async () => this.#deps.workers.forInbound() ?? this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.inbound(request, workflowId),
    );
    if (reply !== undefined) return reply;
    log.warn('no worker has answered an inbound call');
    return refuseInbound({ providers }, request, new GatewayError('GATEWAY_OVERLOADED'));
  }

  /** Answers the run's call again at one worker only, which may have the call although its reply is lost; at none if
   *  a repeated webhook has already brought the call to one. Throws WORKER_GONE, TIMED_OUT, QUEUE_FULL. */
  async answerAgain(runId: string): Promise<boolean> {
    if ((await this.#holder(runId)) !== undefined) return true;
    return (await this.#anyWorker()).answerAgain(runId);
  }

  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#ofHolder(name, runId, (worker) => worker.answer(name, runId, request));
  }

  /** Answers a provider that asks after a call's media. The process that had them may be alive and about to close the
   *  call; if it does not answer, another one goes on with the call. */
  resume(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#ofHolder(name, runId, (worker) => worker.resume(name, runId, request));
  }

  /** Answers a provider that asks after a waiting call, which no process holds. */
  async wait(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const provider = this.#deps.providers.byName(name);
    if (provider === undefined || !isHosted(provider)) throw new GatewayError('RUN_NOT_FOUND');
    const reply = await this.#byOneOf(
      [async () => this.#deps.workers.forInbound() ?? this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.wait(name, runId, request),
    );
    return reply ?? provider.webhook.reject('error', null).reply;
  }

  /** The reply of the worker with the run's call, or of any other one; in the provider's words if none answers. */
  async #ofHolder(
    name: ProviderName,
    runId: string,
    ask: (worker: PooledWorker) => Promise<WebhookReply>,
  ): Promise<WebhookReply> {
    const provider = this.#deps.providers.byName(name);
    if (provider === undefined || !isHosted(provider)) throw new GatewayError('RUN_NOT_FOUND');
    const holder = await new StoreWait(this.#deps, provider).repeat(() => this.#taker(runId));
    const reply = await this.#byOneOf(
      [async () => holder ?? this.#anyWorker(), () => this.#anyWorker()],
      ask,
    );
    return reply ?? provider.webhook.reject('error', null).reply;
  }

  /** Goes on with the call of a dead process at one worker only. Throws WORKER_GONE, TIMED_OUT, QUEUE_FULL. */
  async resumeLeft(runId: string): Promise<boolean> {
    if ((await this.#holder(runId)) !== undefined) return true;
    return (await this.#anyWorker()).resumeLeft(runId);
  }

  /** Handles an event without a run. Any worker finds the run; the one with its call gets the event. */
  async accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply> {
    const any: readonly [Choice, Choice] = [() => this.#anyWorker(), () => this.#anyWorker()];
    if (!this.#deps.workers.isSingle) {
      const found = await this.#byOneOf(any, (worker) => worker.runOfAccountEvent(name, request));
      if (found === undefined) throw this.#unanswered();
      return this.event(name, found.runId, request);
    }
    const reply = await this.#byOneOf(any, (worker) => worker.accountEvent(name, request));
    if (reply === undefined) throw this.#unanswered();
    return reply;
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const holder = await this.#taker(runId);
    const reply = await this.#byOneOf(
      [async () => holder ?? this.#anyWorker(), () => this.#anyWorker()],
      (worker) => worker.event(name, runId, request),
    );
    if (reply === undefined) throw this.#unanswered();
    return reply;
  }

  /** Why no worker has answered an event: none is running, or those that run are too slow. */
  #unanswered(): GatewayError {
    if (this.#deps.workers.leastLoaded() === undefined) return gone();
    return new GatewayError('TIMED_OUT', { what: 'an event of a call', ms: ASK_MS_MAX });
  }

  /** Asks the first choice, and the second if the first is gone, or is late and another worker: a busy worker does
   *  not answer sooner for a repeated request. Undefined if none answers in time. */
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
    // `answer` reports a failure, now or later.
    answer.catch(() => undefined);
    try {
      return await withDeadline(this.#deps.clock, ASK_ANOTHER_MS, 'a webhook', answer);
    } catch (error) {
      if (codeOf(error) === 'TIMED_OUT') return 'late';
      throw error;
    }
  }

  /** A worker that can reach the provider of a call that no known worker holds. */
  #fallback(run: Run | undefined): Promise<PooledWorker> {
    const name = providerName.safeParse(run?.mode);
    return name.success && this.#isPbx(name.data) ? this.#pbxWorker() : this.#anyWorker();
  }

  #isPbx(name: ProviderName): boolean {
    return this.#deps.providers.pbx.some((provider) => provider.name === name);
  }

  /** The worker for a webhook about a run. With one worker there is no choice, and nothing is read. */
  #taker(runId: string): Promise<PooledWorker | undefined> {
    const { workers } = this.#deps;
    return workers.isSingle ? this.#pbxWorker() : this.#holder(runId);
  }

  /** The worker that holds a call, of whichever gateway. `id`: of a run or of a transfer. Undefined if no worker that can
   *  be reached holds it. */
  async #holder(runId: string): Promise<PooledWorker | undefined> {
    const owner = await this.#deps.store.runs.owner(runOfId(runId));
    return owner && this.#deps.workers.byNode(owner.node);
  }

  /** Any running worker. Throws WORKER_GONE. */
  async #anyWorker(): Promise<PooledWorker> {
    const { workers } = this.#deps;
    const now = workers.leastLoaded();
    if (now !== undefined) return now;
    await workers.untilThere(THERE_MS_MAX);
    const then = workers.leastLoaded();
    if (then === undefined) throw gone();
    return then;
  }

  /** The worker with the PBX connections. Throws WORKER_GONE. */
  async #pbxWorker(): Promise<PooledWorker> {
    const { workers } = this.#deps;
    if (workers.pbxWorker() === undefined) await workers.untilThere(THERE_MS_MAX);
    const worker = workers.pbxWorker();
    if (worker === undefined) throw gone();
    return worker;
  }
}

/** Selects a worker. Throws WORKER_GONE. */
type Choice = () => Promise<PooledWorker>;

function isLarge(context: StartCall['initialContext']): boolean {
  return messageBytes(context, CONTEXT_UNCHECKED_BYTES_MAX) === undefined;
}

function gone(): GatewayError {
  return new GatewayError('WORKER_GONE', { worker: PBX_WORKER });
}

/** The worker's answer. Undefined if the worker is gone or too slow: another one is then asked. Throws the worker's
 *  errors. */
async function attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'WORKER_GONE' && code !== 'TIMED_OUT' && code !== 'QUEUE_FULL') throw error;
    return undefined;
  }
}
