// Dials a run's call at its provider: watches it, stores the result, and closes the run if the provider refuses. The
// request is sent once, and once more after an unclear answer if the provider places a repeated dial only once.

import { codeOf, type ErrorCode, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsRefused, callsStarted } from '../../../metrics/metrics.ts';
import { RUN_CONTEXT_LIMITS } from '../../../model/json-limits.ts';
import type { Run } from '../../../model/run.ts';
import { callSecondsIn, type WorkflowVersion } from '../../../model/workflow.ts';
import { prepareSpeech } from '../../../speech/speech-plan.ts';
import { SharedReads } from '../../../std/batches.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { jsonExcess } from '../../../std/json-size.ts';
import type { Store } from '../../../store/store.ts';
import type { DialResult } from '../../../telephony/provider/provider.ts';
import { isUncertain } from '../../../telephony/provider/rest-failure.ts';
import type { ProviderHangUp } from '../../end/closing/provider-hang-up.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import type { CallServices } from '../setup/call-services.ts';
import { CALL_S_EXTRA, callbackUrls, RING_S } from '../setup/callback-urls.ts';
import type { AccountPace } from './dial-pace.ts';
import type { OutboundRoute } from './outbound-route.ts';

/** Deadline for the provider's answer to a dial. */
const DIAL_MS = 15_000;

/** Error codes after which the call may have been placed, or not. */
const UNCLEAR: ReadonlySet<string> = new Set([
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNCERTAIN',
  'PROVIDER_FAILED',
]);

/** Versions whose facts are cached: those of campaigns that dial at the same time. Few have services of their own. */
const PUBLISHED_MAX = 100;

interface RunDiallerDeps {
  store: Pick<Store, 'runs'>;
  dial: ProviderDial;
  pace: AccountPace;
  connect: Pick<ConnectServices, 'watchdog' | 'unconnected'>;
  log: Log;
}

/** Dials, watches, and closes the run if the provider refuses. */
export class RunDialler {
  readonly #deps: RunDiallerDeps;

  constructor(deps: RunDiallerDeps) {
    this.#deps = deps;
  }

  /** Dials. If it throws CALL_NOT_PLACED or CALL_UNCERTAIN, the run is stored and completed. */
  async dial(placement: DialRequestOfRun): Promise<void> {
    const { dial, pace, connect, log } = this.#deps;
    const { run, route } = placement;
    const { configuration, provider } = route;
    callsStarted.inc({ provider: provider.name, direction: 'outbound' });
    const call = { run, configuration, provider };
    connect.watchdog.dialled(call);
    try {
      await dial.record.created(placement);
      const hasWaited = await pace.turn(route);
      if (hasWaited && !(await this.#isWaiting(run))) return; // The run was hung up meanwhile.
      await dial.record.dialled(run, await dial.send(placement));
    } catch (error) {
      // The provider's answer to the dial is late or lost, but the call exists, here or in another process.
      if (!(await this.#isWaiting(run))) return;
      callsRefused.inc({ code: codeOf(error) ?? 'UNEXPECTED' });
      log.warn({ err: error, runId: run.id }, 'call not placed');
      await connect.unconnected.fail(call, error);
      const reason = error instanceof GatewayError ? error.message : 'unexpected error';
      throw notPlaced(run, { reason, code: codeOf(error) ?? null }, error);
    }
  }

  /** Whether the run is still initialized, and not adopted by another process. True also if the store cannot be read. */
  async #isWaiting({ id }: Run): Promise<boolean> {
    const { store, log } = this.#deps;
    try {
      const [current, owner] = await Promise.all([store.runs.find(id), store.runs.owner(id)]);
      if (owner?.isOwn === false) return false;
      return current === undefined || current.state === 'initialized';
    } catch (error) {
      log.error({ err: error, runId: id }, 'run not read');
      return true;
    }
  }
}

/** Error for a call that was not placed: CALL_UNCERTAIN if `code` says that it may have been. Its facts name the stored
 *  run, so that the client finds the outcome. */
export function notPlaced(
  { id, name }: Run,
  { reason, code }: { reason: string; code: ErrorCode | null },
  cause?: unknown,
): GatewayError {
  const facts = { reason, runId: id, runName: name };
  return new GatewayError(isUncertain(code) ? 'CALL_UNCERTAIN' : 'CALL_NOT_PLACED', facts, cause);
}

/** Facts about the agent that a dial needs. */
interface DialledAgent {
  /** Longest call of the agent, in seconds. */
  callS: number;
  /** The version, if it has services of its own. */
  version: WorkflowVersion | undefined;
}

interface ProviderDialDeps {
  record: DialRecord;
  store: Pick<Store, 'workflows'>;
  services: Pick<CallServices, 'speech'>;
  publicUrl: string;
  clock: Clock;
  log: Log;
}

/** Sends the dials of runs, and connects the services of their calls meanwhile. */
export class ProviderDial {
  readonly record: DialRecord;
  readonly #deps: ProviderDialDeps;
  /** Facts by version, least recently used first. */
  readonly #published = new Map<string, DialledAgent>();
  readonly #reads = new SharedReads<DialledAgent>();

  constructor(deps: ProviderDialDeps) {
    this.record = deps.record;
    this.#deps = deps;
  }

  /** The agent's facts. Dials without a version are a campaign's; a published version never changes, so its facts
   *  are cached. */
  async #agentOf({ run, version }: DialRequestOfRun): Promise<DialledAgent> {
    if (version !== undefined) return { callS: callSecondsIn(version.configurations), version };
    const { definitionId } = run;
    const agent =
      this.#published.get(definitionId) ??
      (await this.#reads.get(definitionId, () => this.#read(definitionId)));
    this.#published.delete(definitionId);
    this.#published.set(definitionId, agent);
    const [oldest] = this.#published.keys();
    if (this.#published.size > PUBLISHED_MAX && oldest !== undefined)
      this.#published.delete(oldest);
    return agent;
  }

  async #read(definitionId: string): Promise<DialledAgent> {
    const { workflows } = this.#deps.store;
    const [callS, version] = await Promise.all([
      workflows.callSeconds(definitionId),
      workflows.withServices(definitionId),
    ]);
    return { callS, version };
  }

  /** Connects, while the phone rings, to the services with which the call will begin. Never rejects. */
  async #connectServices(
    { id: runId, organizationId, definitionId }: Run,
    { version }: DialledAgent,
  ): Promise<void> {
    const { services, log } = this.#deps;
    try {
      const { configurations = {}, definition } = version ?? {};
      const owner = { runId, organizationId, configurations, ...(definition && { definition }) };
      const { plan } = await services.speech.planOf(owner);
      prepareSpeech(plan);
    } catch (error) {
      log.warn({ err: error, definitionId }, 'services not connected ahead of the call');
    }
  }

  /** Sends the dial. Throws CONTEXT_OVERSIZED before anything is sent, PROVIDER_*. */
  async send(placement: DialRequestOfRun): Promise<DialResult> {
    const { clock, publicUrl } = this.#deps;
    const { run, route, to } = placement;
    const { provider, configuration, from } = route;
    const excess = jsonExcess(run.initialContext, RUN_CONTEXT_LIMITS);
    if (excess !== undefined) throw new GatewayError('CONTEXT_OVERSIZED', { excess });
    const agent = await this.#agentOf(placement);
    void this.#connectServices(run, agent);
    const { idempotentDial, callS: limit } = provider.capabilities;
    const request = {
      runId: run.id,
      from: from === null ? null : provider.formatAddress(from),
      to: provider.formatAddress(to),
      ...callbackUrls(publicUrl, provider, run.id),
      ringS: RING_S,
      callS: Math.min(agent.callS + CALL_S_EXTRA, limit.max),
    };
    const deadline = deadlineSignal(clock, DIAL_MS, 'dial');
    const { signal } = deadline;
    const dial = () => provider.control.dial(configuration.credentials, request, signal);
    try {
      return await dial().catch((error: unknown) => {
        if (!idempotentDial || !UNCLEAR.has(codeOf(error) ?? '') || signal.aborted) throw error;
        this.#deps.log.warn({ err: error, runId: run.id }, 'dial sent again');
        return dial();
      });
    } finally {
      deadline.done();
    }
  }
}

export interface DialRequestOfRun {
  run: Run;
  route: OutboundRoute;
  /** The number as the client gave it. */
  to: string;
  /** Version of the run's agent. Default: the dial reads what it needs. */
  version?: WorkflowVersion;
  /** Whether the run was created just now, so that its log is empty. */
  isNew?: boolean;
}

interface DialRecordDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  hangUps: ProviderHangUp;
  log: Log;
}

/** Stores the results of dials: entries in the run's log, and the provider's id of the call in the run's row. */
export class DialRecord {
  readonly #deps: DialRecordDeps;

  constructor(deps: DialRecordDeps) {
    this.#deps = deps;
  }

  /** Opens the log of a new run before its call can come; `forget` it if nothing is placed. */
  async expect({ run }: DialRequestOfRun): Promise<void> {
    await this.#deps.events.open(run.id, { isNew: true });
  }

  /** Releases the log of a run that is to be removed. */
  forget({ run }: DialRequestOfRun): void {
    this.#deps.events.release(run.id);
  }

  /** Logs the first event of an outbound call. */
  async created({ run, route, to, isNew = false }: DialRequestOfRun): Promise<void> {
    const runLog = await this.#deps.events.open(run.id, { isNew });
    const { from } = route;
    const { name } = route.provider;
    runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
  }

  /** Stores the id of a call that rings. If the store fails at this moment, the start is no failure. A call that was
   *  hung up before the provider returned its id is hung up at the provider. */
  async dialled(run: Run, { callId, metadata }: DialResult): Promise<void> {
    const { store, hangUps, log } = this.#deps;
    try {
      const gatheredContext = { call_id: callId, ...metadata };
      const current = await store.runs.dialled({ runId: run.id, callId, gatheredContext });
      if (current?.state === 'completed') await hangUps.hangUpRun(current);
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'call id not stored, or call not hung up');
    }
  }

  /** Stores that it is unknown whether the call was placed, unless the call has come meanwhile. Never rejects. */
  async doubt(
    placement: DialRequestOfRun,
    fault: { code: string; message: string },
  ): Promise<void> {
    const { store, events, log } = this.#deps;
    const { id: runId } = placement.run;
    try {
      const run = await store.runs.find(runId);
      if (run?.state !== 'initialized') return;
      await this.created(placement);
      const runLog = await events.open(runId);
      runLog.append({ type: 'fault', ...fault, fatal: false }, 0);
    } catch (error) {
      log.error({ err: error, runId }, 'unclear dial not logged');
    }
  }
}
