// Handles a provider's callback about one of our runs: call status or answering machine detection. Each event is stored
// once, in any order and despite repeated delivery; only progress has an effect. Source: contract §7.6.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { webhooks } from '../../metrics/metrics.ts';
import {
  callStatus,
  isStatusTransitionAllowed,
  isTerminal,
  type ProviderName,
  type TerminalStatus,
} from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import {
  type HostedProvider,
  isHosted,
  type ProviderEvent,
  type ProviderRequest,
  type TelephonyProvider,
  type WebhookReply,
} from '../../telephony/provider/provider.ts';
import {
  type UnconnectedCall,
  type UnconnectedCalls,
  unconnectedReason,
} from '../end/closing/unconnected-calls.ts';
import type { EventLog } from '../events/event-log.ts';
import { stamp } from '../events/transcript.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallConfirmation, CallStep, ProviderCall } from '../start/call-confirmation.ts';
import type { CallPreparation } from '../start/call-preparation.ts';
import type { MediaWatchdog } from '../start/media-watchdog.ts';
import { StoreWait } from '../start/store-wait.ts';
import type { WaitingLine } from '../start/waiting-line.ts';
import { UnprovenReports } from './unproven-reports.ts';
import type { WebhookVerifier } from './webhook-verifier.ts';

/** The media of a call that the provider reports as ended close by themselves within this time. */
const MEDIA_CLOSES_MS = 3_000;

export interface ProviderEventsDeps {
  store: Pick<Store, 'runs' | 'telephony' | 'reportedCalls'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  events: EventLog;
  /** Checks a webhook's signature. */
  verifier: WebhookVerifier;
  /** Asks the provider about a webhook that it does not sign. */
  confirmation: CallConfirmation;
  registry: CallRegistry;
  preparation: Pick<CallPreparation, 'openMedia'>;
  unconnected: UnconnectedCalls;
  watchdog: Pick<MediaWatchdog, 'answered'>;
  /** Callers who wait for a place. */
  line: Pick<WaitingLine, 'end'>;
  clock: Clock;
  log: Log;
}

/** A call whose webhook waits for the answer. */
export type WaitingCall = ProviderCall & { wait?: StoreWait };

/** Result of an event. */
export interface TakenEvent {
  reply: WebhookReply;
  /** An answered call that only a command connects to our media. */
  toConnect?: { call: ProviderCall; callId: string } | undefined;
}

export class ProviderEvents {
  readonly #deps: ProviderEventsDeps;
  readonly #reports: UnprovenReports;

  constructor(deps: ProviderEventsDeps) {
    this.#deps = deps;
    const { store, confirmation, clock, log } = deps;
    this.#reports = new UnprovenReports({
      store,
      confirmation,
      clock,
      log,
      onStatus: (call, step) => this.takeStatus(call, step),
    });
  }

  /** Finds the run's call and verifies the request. Undefined if the request is signed by an account that
   *  does not own that run. Throws WEBHOOK_SIGNATURE, whether there is such a run or not: the answer to an
   *  unsigned request reveals no id. */
  async verify(
    name: ProviderName,
    runId: string,
    request: ProviderRequest,
  ): Promise<ProviderCall | undefined> {
    const provider = this.#hosted(name);
    if (provider === undefined) return undefined;
    const found = await this.#find(provider, runId, request);
    if (found !== 'unproven') return found;
    throw unsigned(name);
  }

  /** The call of a webhook that asks for media, verified, with its id. Waits for the store, as the callee does. Throws
   *  RUN_NOT_FOUND, and as `verify` and `withCallId` do. */
  async answered(
    name: ProviderName,
    runId: string,
    request: ProviderRequest,
  ): Promise<{ call: WaitingCall; callId: string }> {
    const provider = this.#hosted(name);
    if (provider === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const wait = new StoreWait(this.#deps, provider);
    const verified = await wait.repeat(() => this.verify(name, runId, request));
    // A call that a command connects has no answer URL: its status asks for media.
    if (verified?.provider.capabilities.answerStyle !== 'document') {
      throw new GatewayError('RUN_NOT_FOUND');
    }
    const { call, callId } = await wait.repeat(() => this.withCallId(verified, request));
    return { call: { ...call, wait }, callId };
  }

  #hosted(name: ProviderName): HostedProvider | undefined {
    const provider = this.#deps.providers.byName(name);
    return provider !== undefined && isHosted(provider) ? provider : undefined;
  }

  /** Finds the run's call as `verify` does, for any request. */
  async #find(
    provider: HostedProvider,
    runId: string,
    request: ProviderRequest,
  ): Promise<ProviderCall | 'unproven' | undefined> {
    const { webhook, name } = provider;
    const { store, verifier } = this.#deps;
    const isSigned = ({ credentials }: TelephonyConfiguration): boolean =>
      verifier.isSigned(provider, request, credentials);
    // Unproven requests cause the same look-ups for every id, so that they take as long.
    const { run, configuration } = (await store.reportedCalls.find(runId)) ?? {};
    const isOfRun = webhook.isOfRun?.(request, runId) !== false;
    if (
      run !== undefined &&
      configuration?.provider === name &&
      isSigned(configuration) &&
      isOfRun
    ) {
      await verifier.refuseReplay(provider, request);
      return { run, configuration, provider };
    }
    const account = webhook.accountOf(request);
    const ofAccount = await store.telephony.listOfAccount(provider.name, account ?? '');
    return ofAccount.some(isSigned) ? undefined : 'unproven';
  }

  /** The call with its id. The webhook gives the id in case the answer to our dial was lost. Throws
   *  WEBHOOK_MALFORMED. */
  async withCallId(
    call: ProviderCall,
    request: ProviderRequest,
  ): Promise<{ call: ProviderCall; callId: string }> {
    const event = call.provider.webhook.parse(request);
    const { run } = call;
    if (run.providerCallId !== null) return { call, callId: run.providerCallId };
    if (!('callId' in event)) throw new GatewayError('WEBHOOK_MALFORMED');
    const { callId } = event;
    const patched = await this.#deps.store.runs.patch(run.id, {
      providerCallId: callId,
      gatheredContext: { call_id: callId },
    });
    return { call: patched === undefined ? call : { ...call, run: patched }, callId };
  }

  /** The run of an event from a route that names no run: found by the event's call among the configurations of its
   *  account. Undefined if there is none. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED. */
  async runOfAccountEvent(
    name: ProviderName,
    request: ProviderRequest,
  ): Promise<string | undefined> {
    const provider = this.#hosted(name);
    if (provider === undefined) return undefined;
    const { store, verifier } = this.#deps;
    const { webhook } = provider;
    const ofAccount = await store.telephony.listOfAccount(
      provider.name,
      webhook.accountOf(request) ?? '',
    );
    const isReport = webhook.isReport?.(request) === true;
    const senders = ofAccount.filter(
      ({ credentials }) => isReport || verifier.isSigned(provider, request, credentials),
    );
    if (senders.length === 0 && !isReport) throw new GatewayError('WEBHOOK_SIGNATURE');
    const event = webhook.parse(request);
    if (!('callId' in event)) return undefined;
    for (const { id } of senders) {
      const run = await store.runs.findByProviderCall(id, event.callId);
      if (run !== undefined) return run.id;
    }
    return undefined;
  }

  /** Handles a callback. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED, and PROVIDER_* where the provider must be
   *  asked: it then sends the event again. */
  async take(sent: {
    name: ProviderName;
    runId: string;
    request: ProviderRequest;
  }): Promise<TakenEvent> {
    const { name, runId, request } = sent;
    const provider = this.#hosted(name);
    const call = provider && (await this.#find(provider, runId, request));
    if (provider === undefined || call === undefined) {
      webhooks.inc({ provider: name, result: 'unknown_run' });
      return { reply: IGNORED };
    }
    const { webhook, capabilities } = provider;
    if (call === 'unproven') {
      if (webhook.isReport?.(request) !== true) throw unsigned(name);
      this.#reports.take(provider, runId, request);
      return { reply: webhook.acknowledge() };
    }
    const reply = webhook.transferDocument?.(request) ?? webhook.acknowledge();
    const event = await this.#eventOf(call, request);
    if (event === undefined) {
      webhooks.inc({ provider: name, result: 'unconfirmed' });
      return { reply };
    }
    await this.#follow(call, event);
    webhooks.inc({ provider: name, result: 'taken' });
    const isAnswered = event.kind === 'status' && event.status === 'in-progress';
    if (!isAnswered || capabilities.answerStyle !== 'command') return { reply };
    const { run } = call;
    const isOurs = run.providerCallId === null || run.providerCallId === event.callId;
    if (!isOurs || run.callType !== 'outbound' || run.state !== 'initialized') return { reply };
    return { reply, toConnect: await this.withCallId(call, request) };
  }

  async #follow(call: ProviderCall, event: ProviderEvent): Promise<void> {
    if (event.kind === 'status') await this.takeStatus(call, event);
    if (event.kind === 'answered-by') await this.#takeAnsweredBy(call, event);
    if (event.kind === 'media-failed') await this.#takeMediaFailed(call, event);
  }

  /** The event as far as it is proven or the provider confirms it. Throws WEBHOOK_MALFORMED, PROVIDER_*. */
  async #eventOf(call: ProviderCall, request: ProviderRequest): Promise<ProviderEvent | undefined> {
    const { webhook, capabilities } = call.provider;
    const event = webhook.parse(request);
    if (capabilities.webhookProof === 'full' || event.kind === 'other') return event;
    if (event.kind !== 'status') return undefined;
    return this.#deps.confirmation.confirmed(call, event);
  }

  /** Handles a status of a call, from a webhook or from a PBX. */
  async takeStatus(call: UnconnectedCall, event: CallStep): Promise<void> {
    const { run } = call;
    // A status of another leg of the call is not followed.
    const isOurs = run.providerCallId === null || run.providerCallId === event.callId;
    const isFollowed = isOurs && run.state !== 'completed';
    const entry = {
      status: event.status,
      timestamp: stamp(this.#deps.clock.now()),
      call_id: event.callId,
      duration: event.durationS,
      sequence: event.sequence ?? null,
      raw: event.raw,
    };
    const isNew = await this.#deps.store.runs.appendCallback(
      run.id,
      event.dedupeKey,
      entry,
      isFollowed ? furtherStatus(run, event) : undefined,
    );
    if (isNew && run.providerCallId === null) {
      await this.#deps.store.runs.patch(run.id, { providerCallId: event.callId });
    }
    if (!isFollowed) return;
    await this.#noteStatus(run.id, event);
    if (isNew && event.status === 'in-progress') this.#watchAnswered(call);
    if (!isTerminal(event.status)) return;
    // A repeated delivery also gets here: the first one may have failed half-way.
    await this.#takeTerminal(call, event.status);
  }

  /** Watches an answered call for its media: no other callback may come, and no request for its answer. */
  #watchAnswered(call: UnconnectedCall): void {
    const { registry, watchdog } = this.#deps;
    const { id, callType, state } = call.run;
    const isWaiting = callType === 'outbound' && state === 'initialized' && registry.has(id);
    if (isWaiting && !registry.connected(id)) watchdog.answered(call);
  }

  /** Logs a forward step of a call that this process runs. Another process numbers the events of its own calls. */
  async #noteStatus(runId: string, event: CallStep): Promise<void> {
    if (!this.#deps.registry.has(runId)) return;
    const runLog = await this.#deps.events.open(runId);
    const { status, providerStatus, callId, durationS, raw } = event;
    const last = runLog.events.findLast(({ body }) => body.type === 'call.status')?.body;
    if (last?.type === 'call.status' && !isStatusTransitionAllowed(status, last.status)) return;
    const fact = { status, providerStatus, callId, durationS, raw };
    const body = { type: 'call.status', ...fact } as const;
    const session = this.#deps.registry.session(runId);
    if (session === undefined) runLog.append(body, 0);
    else session.note(body);
  }

  /** Ends a call that the provider reports as over. With media, the close of the socket ends the call; if the close
   *  is lost, this ends the call after MEDIA_CLOSES_MS. */
  async #takeTerminal(call: UnconnectedCall, status: TerminalStatus): Promise<void> {
    const { id } = call.run;
    const session = this.#deps.registry.session(id);
    if (session?.isAnswered === false) {
      void session.end(unconnectedReason(status), 'provider');
      return;
    }
    if (!this.#deps.registry.connected(id)) {
      if (await this.#talksElsewhere(call.run)) return; // That process sees its media end.
      if (call.run.state === 'initialized' && call.run.callType === 'inbound') {
        const left = { outcome: 'abandoned', by: 'provider' } as const;
        if (await this.#deps.line.end(call, left)) return;
      }
      await this.#deps.unconnected.end(call, {
        reason: unconnectedReason(status),
        by: 'provider',
      });
      return;
    }
    this.#deps.clock.after(MEDIA_CLOSES_MS, () => {
      void this.#deps.registry.session(id)?.end('user_hangup', 'provider');
    });
  }

  async #talksElsewhere(run: Run): Promise<boolean> {
    if (run.state !== 'running') return false;
    return (await this.#deps.store.runs.owner(run.id))?.isOwn === false;
  }

  /** Handles failed media. A connected call ends with its media; a call that never had any would wait for them in
   *  silence. */
  async #takeMediaFailed(
    call: ProviderCall,
    event: Extract<ProviderEvent, { kind: 'media-failed' }>,
  ): Promise<void> {
    const { run, provider } = call;
    const { store, registry, preparation, unconnected, clock } = this.#deps;
    await store.runs.appendCallback(run.id, event.dedupeKey, {
      status: 'media-failed',
      timestamp: stamp(clock.now()),
      call_id: event.callId,
      reason: event.reason,
    });
    const isOurs = run.providerCallId === null || run.providerCallId === event.callId;
    if (!isOurs || run.state !== 'initialized' || registry.connected(run.id)) return;
    // The media were opened to a process that is gone. The process that goes on with the call requests media again.
    const isLeft = run.callType === 'inbound' && !registry.has(run.id);
    if (isLeft || preparation.openMedia(run.id)) return;
    const facts = { provider: provider.name, action: 'open-media', reason: event.reason };
    const fault = new GatewayError('PROVIDER_REFUSED', facts);
    await unconnected.fail({ ...call, run: { ...run, providerCallId: event.callId } }, fault);
  }

  async #takeAnsweredBy(
    { run }: ProviderCall,
    event: Extract<ProviderEvent, { kind: 'answered-by' }>,
  ): Promise<void> {
    const isNew = await this.#deps.store.runs.appendCallback(run.id, event.dedupeKey, {
      status: 'answered-by',
      timestamp: stamp(this.#deps.clock.now()),
      call_id: event.callId,
      answered_by: event.answeredBy,
    });
    if (!isNew || run.state === 'completed') return;
    const session = this.#deps.registry.session(run.id);
    if (session !== undefined) {
      session.answeredBy(event.answeredBy);
      return;
    }
    const fact = { type: 'call.answered-by', answeredBy: event.answeredBy } as const;
    (await this.#deps.events.open(run.id)).append(fact, 0);
  }
}

type ReportedStatus = Parameters<Store['runs']['appendCallback']>[3];

/** The status to store as `provider_status`, where the dial's answer had one: the provider's own word for the call's
 *  progress, read by clients. Of callbacks out of order or at the same moment, the furthest counts. */
function furtherStatus(run: Run, { status }: CallStep): ReportedStatus {
  const known = run.gatheredContext['provider_status'];
  if (known === undefined || known === status) return undefined;
  const notAfter = callStatus.options.filter((last) => !isStatusTransitionAllowed(status, last));
  return notAfter.some((last) => last === known) ? undefined : { status, notAfter };
}

function unsigned(provider: ProviderName): GatewayError {
  webhooks.inc({ provider, result: 'signature' });
  return new GatewayError('WEBHOOK_SIGNATURE');
}

const IGNORED: WebhookReply = {
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify({ status: 'ignored', reason: 'unknown_run' }),
};
