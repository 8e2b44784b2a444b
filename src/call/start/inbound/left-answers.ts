// Answers inbound calls of a process that was killed after it had replied to their webhook and before the provider
// accepted the command that answers them. The phone still rings: the equal command is sent again, and the call goes on.
// The provider carries out one of equal commands; everything it needs was stored before the reply.

import type { Log } from '../../../log.ts';
import { isTerminal, type ProviderName, providerName } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { Store } from '../../../store/store.ts';
import {
  type HostedProvider,
  isHosted,
  type TelephonyProvider,
} from '../../../telephony/provider/provider.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import type { InboundRuns } from './inbound-run.ts';

/** Oldest call that is answered again, from its webhook on: no network lets a phone ring for much longer than a
 *  minute. */
export const LEFT_ANSWER_AGE_MS_MAX = 60_000;
/** Deadline of the look-up at the provider, since the caller waits. Without an answer the command is sent. */
const LOOK_MS_MAX = 2_000;

/** Whether a run may be a call that still rings and that only a command answers, judged by the run alone. */
export function isLeftAnswer(
  run: Run,
  { providers, nowMs }: { providers: ProviderNames; nowMs: number },
): boolean {
  const { state, callType, providerCallId, createdAt } = run;
  if (state !== 'initialized' || callType !== 'inbound' || providerCallId === null) return false;
  // A clock that was put back makes no call too old.
  if (nowMs - createdAt.getTime() >= LEFT_ANSWER_AGE_MS_MAX) return false;
  return commandProvider(providers, run.mode) !== undefined;
}

/** The part of the provider registry that finds a provider by name. */
export interface ProviderNames {
  byName(name: ProviderName): TelephonyProvider | undefined;
}

export interface LeftAnswersDeps {
  store: Pick<Store, 'runs' | 'telephony'>;
  providers: ProviderNames;
  runs: InboundRuns;
  connect: Pick<ConnectServices, 'registry' | 'watchdog' | 'preparation'>;
  clock: Clock;
  log: Log;
}

interface LeftCall {
  run: Run;
  callId: string;
  configuration: TelephonyConfiguration;
  provider: HostedProvider;
}

export class LeftAnswers {
  readonly #deps: LeftAnswersDeps;

  constructor(deps: LeftAnswersDeps) {
    this.#deps = deps;
  }

  /** Sends the command that answers the run's call again; this process owns the run from then on. Returns false if
   *  there is nothing to answer: the run is to be closed. Throws as `CallPreparation.answer` does. */
  async answerAgain(runId: string): Promise<boolean> {
    const { connect, log } = this.#deps;
    const call = await this.#callOf(runId);
    if (call === undefined) return false;
    if (connect.registry.has(runId)) return true;
    if (await this.#isOver(call)) return false;
    if (connect.registry.has(runId)) return true; // The webhook was repeated meanwhile.
    const { run, callId, provider } = call;
    log.warn({ runId, provider: provider.name }, 'inbound call of a killed process answered again');
    const { caller_number: from, called_number: to } = run.initialContext;
    // The killed process may not have stored this event.
    const facts = { provider: provider.name, from: String(from ?? ''), to: String(to ?? '') };
    await this.#deps.runs.noteCreated(runId, facts);
    connect.watchdog.answered(call);
    await connect.preparation.answer(call, callId);
    return true;
  }

  async #callOf(runId: string): Promise<LeftCall | undefined> {
    const { store, providers, clock } = this.#deps;
    const run = await store.runs.find(runId);
    if (run === undefined || !isLeftAnswer(run, { providers, nowMs: clock.now() }))
      return undefined;
    const { organizationId, configurationId, providerCallId: callId } = run;
    const configuration =
      configurationId === null
        ? undefined
        : await store.telephony.getConfiguration(organizationId, configurationId);
    const provider = commandProvider(providers, configuration?.provider);
    if (callId === null || configuration === undefined || provider === undefined) return undefined;
    return { run, callId, configuration, provider };
  }

  /** Whether the caller has hung up meanwhile. */
  async #isOver({ run, callId, configuration, provider }: LeftCall): Promise<boolean> {
    const { signal, done } = deadlineSignal(this.#deps.clock, LOOK_MS_MAX, 'look up the call');
    try {
      const found = await provider.control.getCall(configuration.credentials, callId, signal);
      return found === undefined || isTerminal(found.status);
    } catch (error) {
      this.#deps.log.warn({ err: error, runId: run.id }, 'call not looked up at the provider');
      return false;
    } finally {
      done();
    }
  }
}

function commandProvider(
  providers: ProviderNames,
  name: string | undefined,
): HostedProvider | undefined {
  const known = providerName.safeParse(name).data;
  const provider = known === undefined ? undefined : providers.byName(known);
  if (provider === undefined || !isHosted(provider)) return undefined;
  return provider.capabilities.answerStyle === 'command' ? provider : undefined;
}
