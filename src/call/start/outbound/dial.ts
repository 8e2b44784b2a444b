// Dials a run's call at its provider. The request is sent once, and once more after an unclear answer if the provider
// places a repeated dial only once. dial-record.ts stores the result.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
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
import type { CallServices } from '../setup/call-services.ts';
import { CALL_S_EXTRA, callbackUrls, RING_S } from '../setup/callback-urls.ts';
import type { DialRecord, DialRequestOfRun } from './dial-record.ts';

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

/** Facts about the agent that a dial needs. */
interface DialledAgent {
  /** Longest call of the agent, in seconds. */
  callS: number;
  /** The version, if it has services of its own. */
  version: WorkflowVersion | undefined;
}

export interface ProviderDialDeps {
  record: DialRecord;
  store: Pick<Store, 'workflows'>;
  services: Pick<CallServices, 'speech'>;
  publicUrl: string;
  clock: Clock;
  log: Log;
}

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
