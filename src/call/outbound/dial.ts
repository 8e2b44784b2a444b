// Dials a run's call at its provider. The request is sent once, and once more after an unclear answer where the
// provider places a repeated dial once. dial-record.ts stores what came of it.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { RUN_CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { Run } from '../../model/run.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import { prepareSpeech } from '../../speech/speech-plan.ts';
import { SharedReads } from '../../std/batches.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { jsonExcess } from '../../std/json-size.ts';
import type { Store } from '../../store/store.ts';
import type { DialResult } from '../../telephony/provider/provider.ts';
import type { CallServices } from '../setup/call-services.ts';
import { CALL_S_EXTRA, callbackUrls, RING_S } from '../setup/callback-urls.ts';
import type { DialRecord, DialRequestOfRun } from './dial-record.ts';

/** Deadline for the provider's answer to a dial. */
const DIAL_MS = 15_000;

/** The call may have been placed, or not. */
const UNCLEAR: ReadonlySet<string> = new Set([
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNCERTAIN',
  'PROVIDER_FAILED',
]);

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
  readonly #callSeconds = new SharedReads<number>();
  /** That have services of their own. */
  readonly #versions = new SharedReads<WorkflowVersion | undefined>();

  constructor(deps: ProviderDialDeps) {
    this.record = deps.record;
    this.#deps = deps;
  }

  /** How long a call of the version may talk. */
  #callSecondsOf(definitionId: string): Promise<number> {
    return this.#callSeconds.get(definitionId, () =>
      this.#deps.store.workflows.callSeconds(definitionId),
    );
  }

  /** While the phone rings, to the services with which the call will begin. Never rejects. */
  async #connectServices({ organizationId, definitionId }: Run): Promise<void> {
    const { services, store, log } = this.#deps;
    try {
      const version = await this.#versions.get(definitionId, () =>
        store.workflows.withServices(definitionId),
      );
      const { configurations = {}, definition } = version ?? {};
      const owner = { organizationId, configurations, ...(definition && { definition }) };
      const { plan } = await services.speech.planOf(owner);
      prepareSpeech(plan);
    } catch (error) {
      log.warn({ err: error, definitionId }, 'no connections ahead of the call');
    }
  }

  /** Throws CONTEXT_OVERSIZED before anything is sent, PROVIDER_*. */
  async send({ run, route, to, callS }: DialRequestOfRun): Promise<DialResult> {
    const { clock, publicUrl } = this.#deps;
    const { provider, configuration, from } = route;
    const excess = jsonExcess(run.initialContext, RUN_CONTEXT_LIMITS);
    if (excess !== undefined) throw new GatewayError('CONTEXT_OVERSIZED', { excess });
    void this.#connectServices(run);
    const agentS = callS ?? (await this.#callSecondsOf(run.definitionId));
    const { idempotentDial, callS: limit } = provider.capabilities;
    const request = {
      runId: run.id,
      from: from === null ? null : provider.formatAddress(from),
      to: provider.formatAddress(to),
      ...callbackUrls(publicUrl, provider, run.id),
      ringS: RING_S,
      callS: Math.min(agentS + CALL_S_EXTRA, limit.max),
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
