// Dials a run's call at its provider: the request, and the entries in the run's log and row. Sent once, and once more
// after an unclear answer where the provider places a repeated dial once.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { RUN_CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { Run } from '../../model/run.ts';
import { prepareSpeech } from '../../speech/speech-plan.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { jsonExcess } from '../../std/json-size.ts';
import type { Store } from '../../store/store.ts';
import type { DialResult } from '../../telephony/provider/provider.ts';
import type { ProviderHangUp } from '../closing/provider-hang-up.ts';
import type { EventLog } from '../log/event-log.ts';
import type { CallServices } from '../setup/call-services.ts';
import { CALL_S_EXTRA, callbackUrls, RING_S } from '../setup/callback-urls.ts';
import type { OutboundRoute } from './outbound-route.ts';

/** Deadline for the provider's answer to a dial. */
const DIAL_MS = 15_000;

/** The call may have been placed, or not. */
const UNCLEAR: ReadonlySet<string> = new Set([
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNCERTAIN',
  'PROVIDER_FAILED',
]);

export interface DialRequestOfRun {
  run: Run;
  route: OutboundRoute;
  /** The number as the client gave it. */
  to: string;
}

export interface ProviderDialDeps {
  store: Pick<Store, 'runs' | 'workflows'>;
  events: EventLog;
  hangUps: ProviderHangUp;
  services: Pick<CallServices, 'speech'>;
  publicUrl: string;
  clock: Clock;
  log: Log;
}

export class ProviderDial {
  readonly #deps: ProviderDialDeps;

  constructor(deps: ProviderDialDeps) {
    this.#deps = deps;
  }

  /** Throws CONTEXT_OVERSIZED before anything is sent, PROVIDER_*. */
  async send({ run, route, to }: DialRequestOfRun): Promise<DialResult> {
    const { clock, publicUrl, services } = this.#deps;
    const { provider, configuration, from } = route;
    const excess = jsonExcess(run.initialContext, RUN_CONTEXT_LIMITS);
    if (excess !== undefined) throw new GatewayError('CONTEXT_OVERSIZED', { excess });
    // A version with services of its own opens its connections when the call is planned.
    const owner = { organizationId: run.organizationId, configurations: {} };
    void services.speech.planOf(owner).then(({ plan }) => prepareSpeech(plan));
    const callS = await this.#deps.store.workflows.callSeconds(run.definitionId);
    const { idempotentDial, callS: limit } = provider.capabilities;
    const request = {
      runId: run.id,
      from: from === null ? null : provider.formatAddress(from),
      to: provider.formatAddress(to),
      ...callbackUrls(publicUrl, provider, run.id),
      ringS: RING_S,
      callS: Math.min(callS + CALL_S_EXTRA, limit.max),
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

  /** The first event of an outbound call. */
  async noteCreated({ run, route, to }: DialRequestOfRun): Promise<void> {
    const runLog = await this.#deps.events.open(run.id);
    const { from } = route;
    const { name } = route.provider;
    runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
  }

  /** Stores the provider's id of the call: see the function of that name. */
  noteDialled(run: Run, dialled: DialResult): Promise<void> {
    return noteDialled(this.#deps, run, dialled);
  }

  /** It is not known whether the call was placed. Stores nothing if the call has come meanwhile. Never rejects. */
  async noteDoubt(
    placement: DialRequestOfRun,
    fault: { code: string; message: string },
  ): Promise<void> {
    const { store, events, log } = this.#deps;
    const { id: runId } = placement.run;
    try {
      const run = await store.runs.find(runId);
      if (run?.state !== 'initialized') return;
      await this.noteCreated(placement);
      const runLog = await events.open(runId);
      runLog.append({ type: 'fault', ...fault, fatal: false }, 0);
    } catch (error) {
      log.error({ err: error, runId }, 'doubt about a call not in its log');
    }
  }
}

/** The phone rings: a store that fails just now does not make the start a failure. A call that was hung up
 *  before the provider returned its id is hung up there. */
export async function noteDialled(
  { store, hangUps, log }: Pick<ProviderDialDeps, 'store' | 'hangUps' | 'log'>,
  run: Run,
  { callId, metadata }: DialResult,
): Promise<void> {
  try {
    const current = await store.runs.patch(run.id, {
      providerCallId: callId,
      gatheredContext: { call_id: callId, ...metadata },
    });
    if (current?.state === 'completed') await hangUps.hangUpRun(current);
  } catch (error) {
    log.error({ err: error, runId: run.id }, 'call id not stored, or the line not hung up');
  }
}
