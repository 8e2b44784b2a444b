// Status reports of providers that sign none of them: anyone may send them. A report only causes a request to the
// provider about a call whose id it has, after the reply: the reply and its delay are the same for every run, known or
// not.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { webhooks } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import type { HostedProvider, ProviderRequest } from '../../telephony/provider/provider.ts';
import type { CallConfirmation, CallStep, ProviderCall } from '../start/call-confirmation.ts';

/** Reports in progress at once, of all calls; more are dropped. */
const REPORTS_MAX = 200;
/** Reports in progress at once for one run: a sender that knows one call must not use up the limit of all others. A
 *  call has about ten state changes. */
const OF_RUN_MAX = 8;
/** Attempts to handle a report: the provider does not send it again after our reply. */
const ATTEMPTS_MAX = 3;
/** Pause before the second attempt; the next pause is twice as long. */
const PAUSE_MS = 2_000;

export interface UnprovenReportsDeps {
  store: Pick<Store, 'reportedCalls'>;
  confirmation: CallConfirmation;
  onStatus: (call: ProviderCall, step: CallStep) => Promise<void>;
  clock: Clock;
  log: Log;
}

export class UnprovenReports {
  readonly #deps: UnprovenReportsDeps;
  #following = 0;
  readonly #ofRun = new Map<string, number>();

  constructor(deps: UnprovenReportsDeps) {
    this.#deps = deps;
  }

  /** Handles a report after the reply. Never throws. */
  take(provider: HostedProvider, runId: string, request: ProviderRequest): void {
    const { name } = provider;
    const ofRun = this.#ofRun.get(runId) ?? 0;
    if (this.#following >= REPORTS_MAX || ofRun >= OF_RUN_MAX) {
      webhooks.inc({ provider: name, result: 'dropped' });
      return;
    }
    this.#following += 1;
    this.#ofRun.set(runId, ofRun + 1);
    this.#follow(provider, runId, request)
      .then((result) => webhooks.inc({ provider: name, result }))
      .catch((error: unknown) => {
        webhooks.inc({ provider: name, result: 'unconfirmed' });
        this.#deps.log.warn({ err: error, runId }, 'report about a call not followed');
      })
      .finally(() => {
        this.#following -= 1;
        const left = (this.#ofRun.get(runId) ?? 1) - 1;
        if (left > 0) this.#ofRun.set(runId, left);
        else this.#ofRun.delete(runId);
      });
  }

  async #follow(
    provider: HostedProvider,
    runId: string,
    request: ProviderRequest,
  ): Promise<'taken' | 'unconfirmed'> {
    const event = provider.webhook.parse(request);
    if (event.kind !== 'status') return 'unconfirmed';
    const call = await this.#callOf(provider, runId, event.callId);
    const step = call && (await this.#confirmed(call, event));
    if (call === undefined || step === undefined) return 'unconfirmed';
    await this.#deps.onStatus(call, step);
    return 'taken';
  }

  /** The call of a report; undefined unless the sender knows the id of the run's call, which cannot be guessed. */
  async #callOf(
    provider: HostedProvider,
    runId: string,
    callId: string,
  ): Promise<ProviderCall | undefined> {
    const { store } = this.#deps;
    const { run, configuration } = (await store.reportedCalls.find(runId)) ?? {};
    if (run === undefined || run.providerCallId !== callId) return undefined;
    if (configuration?.provider !== provider.name) return undefined;
    return { run, configuration, provider };
  }

  async #confirmed(
    call: ProviderCall,
    event: CallStep & { kind: 'status' },
  ): Promise<CallStep | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#deps.confirmation.confirmed(call, event);
      } catch (error) {
        const isOurs = codeOf(error)?.startsWith('PROVIDER_') === true;
        // A call whose request budget is used up stays so for longer than a pause.
        const mayAsk = this.#deps.confirmation.mayAsk({ ...call, callId: event.callId });
        if (!isOurs || !mayAsk || attempt === ATTEMPTS_MAX) throw error;
      }
      await this.#pause(PAUSE_MS * 2 ** (attempt - 1));
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.clock.after(ms, resolve);
    });
  }
}
