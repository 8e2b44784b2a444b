// Callers of hosted providers who wait for a place. A provider with documents plays one and asks again; one with commands
// is looked after by any gateway in turn. Neither depends on the process that let the caller in.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { ProviderName } from '../../../model/provider.ts';
import { newTransferId } from '../../../model/transfer-id.ts';
import type { Clock } from '../../../std/clock.ts';
import { JobLoop } from '../../../std/job-loop.ts';
import type { Random } from '../../../std/random.ts';
import type { Store } from '../../../store/store.ts';
import {
  type HostedProvider,
  isHosted,
  type ProviderRequest,
  type TelephonyProvider,
  type WebhookReply,
} from '../../../telephony/provider/provider.ts';
import type { UnconnectedCall } from '../../end/closing/unconnected-calls.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import type { ProviderCall } from '../call-confirmation.ts';
import { callbackUrls, RING_S, transferUrls, WAITING_SOUND_PATH } from '../setup/callback-urls.ts';
import { StoreWait } from '../store-wait.ts';
import { patienceOf, type WaitingLine, type WaitStep } from '../waiting-line.ts';

/** Interval in which a gateway looks for calls that are due, and that at which each is due. */
const LOOK_MS = 1_000;
export const DUE_MS = 1_500;
/** Looks after which callers who have left are looked for, and the time for which they were not seen. */
const SWEEP_LOOKS = 10;
const UNSEEN_MS = 30_000;
/** Time for the words at the end of a call, by character and besides. */
const WORDS_MS = 90;
const WORDS_MS_MIN = 1_500;

export interface HostedWaitsDeps {
  store: Pick<Store, 'runs' | 'waitingCalls' | 'reportedCalls'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  line: WaitingLine;
  connect: Pick<
    ConnectServices,
    'registry' | 'watchdog' | 'preparation' | 'actions' | 'providerEvents'
  >;
  publicUrl: string;
  random: Random;
  clock: Clock;
  log: Log;
}

type ConfiguredCall = UnconnectedCall & Pick<ProviderCall, 'configuration'>;
type HostedCall = ProviderCall & { provider: HostedProvider };
type Step<Kind extends WaitStep['kind']> = Extract<WaitStep, { kind: Kind }>;

export class HostedWaits {
  readonly #deps: HostedWaitsDeps;
  readonly #loop: JobLoop;
  #looks = 0;

  constructor(deps: HostedWaitsDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => deps.log.warn({ err: error }, 'waiting calls not looked after'),
    });
  }

  /** Looks after calls whose providers do not ask, and ends those whose callers have left. */
  start(): void {
    this.#loop.startAfter(LOOK_MS);
  }

  stop(): void {
    this.#loop.cancel();
  }

  /** Answers the webhook of a call that has joined the line, or a repeated one. Throws as `CallPreparation.answer`. */
  async begin(call: HostedCall): Promise<WebhookReply> {
    const step = await this.#deps.line.step(call.run.id);
    return this.#reply(call, step);
  }

  /** Answers a provider that asks again. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  async asked(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { connect, providers, line } = this.#deps;
    const provider = providers.byName(name);
    if (provider === undefined || !isHosted(provider)) throw new GatewayError('RUN_NOT_FOUND');
    const wait = new StoreWait(this.#deps, provider);
    const call = await wait.repeat(() => connect.providerEvents.verify(name, runId, request));
    if (call === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const step = await wait.repeat(() => line.step(runId));
    return this.#reply({ ...call, provider }, step);
  }

  async #reply(call: HostedCall, step: WaitStep): Promise<WebhookReply> {
    switch (step.kind) {
      case 'admitted':
        return this.#connect(call);
      case 'wait':
        return this.#wait(call, step);
      case 'forward':
        return this.#forward(call, step);
      case 'timeout':
        return this.#dismiss(call, step.policy.goodbye);
      case 'gone':
        return this.#again(call);
    }
  }

  /** Connects the call with the agent. */
  async #connect(call: HostedCall): Promise<WebhookReply> {
    const { store, connect } = this.#deps;
    const run = await store.runs.find(call.run.id);
    if (run?.state !== 'initialized') return hangUpReply(call.provider);
    const { providerCallId } = run;
    if (providerCallId === null) return hangUpReply(call.provider);
    const ready = { ...call, run, isWaiting: true };
    connect.watchdog.answered(ready);
    return connect.preparation.answer(ready, providerCallId);
  }

  /** A call that does not wait any more asks again: it has got its place from a process that could not reply. */
  async #again(call: HostedCall): Promise<WebhookReply> {
    const { store, connect } = this.#deps;
    const run = await store.runs.find(call.run.id);
    if (run?.state !== 'initialized' || connect.registry.connected(run.id))
      return hangUpReply(call.provider);
    return this.#connect(call);
  }

  async #wait(call: HostedCall, step: Step<'wait'>): Promise<WebhookReply> {
    const { line, connect, publicUrl } = this.#deps;
    const { run, provider, configuration } = call;
    const { policy, isAnnounced, isAnswered } = step;
    const isCommand = provider.capabilities.answerStyle === 'command';
    // A command that answers plays nothing yet.
    const isHeard = isAnnounced && (isAnswered || !isCommand);
    const urls = callbackUrls(publicUrl, provider, run.id);
    const action = provider.webhook.wait({
      runId: run.id,
      callId: run.providerCallId ?? '',
      isAnswered,
      announcement: isHeard
        ? { words: policy.announcement, audio: policy.announcement_audio }
        : undefined,
      waitingAudio: policy.waiting_audio ?? publicUrl + WAITING_SOUND_PATH,
      askUrl: urls.waitUrl,
      statusUrl: urls.statusUrl,
    });
    let isDone = true;
    const reply = await connect.actions.perform(action, configuration.credentials, () => {
      isDone = false;
      return Promise.resolve();
    });
    // A command that failed is sent again.
    if (isDone && (isHeard || !isAnswered))
      await line.noteAnswered(run.id, { isAnnounced: isHeard });
    return reply;
  }

  async #forward(call: HostedCall, step: Step<'forward'>): Promise<WebhookReply> {
    const { line, connect, random, publicUrl, log } = this.#deps;
    const { run, provider, configuration } = call;
    const { to, policy, isAnswered } = step;
    const transferId = newTransferId(run.id, 'cold', random);
    try {
      const action = provider.webhook.forward({
        runId: run.id,
        callId: run.providerCallId ?? '',
        isAnswered,
        to: provider.formatAddress(to),
        callerId: provider.formatAddress(String(run.initialContext['called_number'] ?? '')),
        ringS: RING_S,
        resultUrl: transferUrls(publicUrl, provider, transferId).resultUrl,
      });
      let fault: unknown;
      const reply = await connect.actions.perform(action, configuration.credentials, (error) => {
        fault = error;
        return Promise.resolve();
      });
      if (fault !== undefined) throw fault;
      await line.end(call, { outcome: 'forwarded', by: 'provider' });
      return reply;
    } catch (error) {
      if (codeOf(error)?.startsWith('PROVIDER_') !== true) throw error;
      log.warn({ err: error, runId: run.id }, 'waiting call not sent to its fallback number');
      return this.#dismiss(call, policy.goodbye);
    }
  }

  /** Says goodbye, and ends the call. */
  async #dismiss(call: HostedCall, words: string): Promise<WebhookReply> {
    const { store, line, connect, clock, log } = this.#deps;
    const { run, provider, configuration } = call;
    const action = provider.webhook.dismiss(run.providerCallId ?? '', words);
    if (action.command === undefined) {
      await line.end(call, { outcome: 'timeout', by: 'provider' });
      return action.reply;
    }
    const reply = await connect.actions.perform(action, configuration.credentials);
    const wordsMs = WORDS_MS_MIN + words.length * WORDS_MS;
    // If the process ends before, another one says it again.
    await store.waitingCalls.defer(run.id, wordsMs + DUE_MS);
    clock.after(wordsMs, () => {
      line.end(call, { outcome: 'timeout', by: 'gateway' }).catch((error: unknown) => {
        log.warn({ err: error, runId: run.id }, 'waiting call not ended');
      });
    });
    return reply;
  }

  async #look(): Promise<void> {
    const { waitingCalls } = this.#deps.store;
    const due = await waitingCalls.claimDue(DUE_MS);
    await Promise.all(due.map((runId) => this.#lookAfter(runId)));
    this.#looks += 1;
    if (this.#looks % SWEEP_LOOKS === 0) await this.#sweep();
  }

  async #lookAfter(runId: string): Promise<void> {
    const { store, line, log } = this.#deps;
    try {
      const call = await this.#callOf(runId);
      if (call === undefined || !isHosted(call.provider)) return;
      const step = await line.step(runId);
      if (step.kind === 'gone') return;
      if (step.kind === 'wait' && step.ahead > 0)
        await store.waitingCalls.defer(runId, patienceOf(step.ahead) * DUE_MS);
      await this.#reply({ ...call, provider: call.provider }, step);
    } catch (error) {
      log.warn({ err: error, runId }, 'waiting call not looked after');
    }
  }

  /** Ends calls that nobody has looked after for long: their callers have hung up. */
  async #sweep(): Promise<void> {
    const { store, line } = this.#deps;
    for (const { id } of await store.waitingCalls.claimUnseen(UNSEEN_MS)) {
      const call = await this.#callOf(id);
      if (call !== undefined) await line.end(call, { outcome: 'abandoned', by: 'gateway' });
    }
  }

  async #callOf(runId: string): Promise<ConfiguredCall | undefined> {
    const { store, providers } = this.#deps;
    const { run, configuration } = (await store.reportedCalls.find(runId)) ?? {};
    const provider = configuration && providers.byName(configuration.provider);
    if (run === undefined || configuration === undefined || provider === undefined)
      return undefined;
    return { run, configuration, provider };
  }
}

function hangUpReply({ webhook }: HostedProvider): WebhookReply {
  return webhook.endAfterMedia?.() ?? webhook.acknowledge();
}
