// A provider's callback about one of our runs: call status, or answering machine detection. Stored once, in any
// order and despite repeated delivery; only progress has an effect. Source: contract §7.6.

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
import { deadlineSignal } from '../../std/deadline.ts';
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
} from '../closing/unconnected-calls.ts';
import type { EventLog } from '../log/event-log.ts';
import { stamp } from '../log/transcript.ts';
import { hangsUpOnMachines } from '../setup/answering-machine.ts';
import type { CallRegistry } from './call-registry.ts';
import type { WebhookVerifier } from './webhook-verifier.ts';

/** The provider waits for our reply meanwhile. */
const CONFIRM_MS = 4_000;
/** The media of a call that the provider reports as ended close by themselves within this time. */
const MEDIA_CLOSES_MS = 3_000;

export type CallStep = Omit<Extract<ProviderEvent, { kind: 'status' }>, 'kind'>;

export interface ProviderCall {
  run: Run;
  configuration: TelephonyConfiguration;
  provider: HostedProvider;
}

export interface ProviderEventsDeps {
  store: Pick<Store, 'runs' | 'telephony'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  events: EventLog;
  verifier: WebhookVerifier;
  registry: CallRegistry;
  unconnected: UnconnectedCalls;
  clock: Clock;
  log: Log;
}

/** What became of an event. */
export interface TakenEvent {
  reply: WebhookReply;
  /** A call that was answered and that only a command connects to our media. */
  toConnect?: { call: ProviderCall; callId: string } | undefined;
}

export class ProviderEvents {
  readonly #deps: ProviderEventsDeps;

  constructor(deps: ProviderEventsDeps) {
    this.#deps = deps;
  }

  /** Finds the run's call and verifies the request. Undefined if the request is signed by an account that
   *  does not own that run. Throws WEBHOOK_SIGNATURE, whether there is such a run or not: the answer to an
   *  unsigned request reveals no id. */
  async verify(
    name: ProviderName,
    runId: string,
    request: ProviderRequest,
  ): Promise<ProviderCall | undefined> {
    const provider = this.#deps.providers.byName(name);
    if (provider === undefined || !isHosted(provider)) return undefined;
    const { webhook } = provider;
    const { store, verifier } = this.#deps;
    const isSigned = ({ credentials }: TelephonyConfiguration): boolean =>
      verifier.isSigned(provider, request, credentials);
    // The same look-ups for every id, so that they take as long.
    const run = await store.runs.find(runId);
    const { organizationId, configurationId } = { ...NO_RUN, ...run };
    const configuration = await store.telephony.getConfiguration(
      organizationId,
      configurationId ?? NO_RUN.configurationId,
    );
    const account = webhook.accountOf(request);
    const ofAccount = await store.telephony.listOfAccount(name, account ?? '');
    if (run !== undefined && configuration?.provider === name && isSigned(configuration)) {
      await verifier.refuseReplay(provider, request);
      return { run, configuration, provider };
    }
    if (ofAccount.some(isSigned)) return undefined;
    webhooks.inc({ provider: name, result: 'signature' });
    throw new GatewayError('WEBHOOK_SIGNATURE');
  }

  /** The call and its id, which comes from its webhook in case the answer to our dial was lost. Throws
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

  /** An event of a route that names no run: the run of its call, among the configurations of its account. Undefined if
   *  there is none. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED. */
  async runOfAccountEvent(
    name: ProviderName,
    request: ProviderRequest,
  ): Promise<string | undefined> {
    const provider = this.#deps.providers.byName(name);
    if (provider === undefined || !isHosted(provider)) return undefined;
    const { store, verifier } = this.#deps;
    const { webhook } = provider;
    const ofAccount = await store.telephony.listOfAccount(name, webhook.accountOf(request) ?? '');
    const signed = ofAccount.filter(({ credentials }) =>
      verifier.isSigned(provider, request, credentials),
    );
    if (signed.length === 0) throw new GatewayError('WEBHOOK_SIGNATURE');
    const event = webhook.parse(request);
    if (!('callId' in event)) return undefined;
    for (const { id } of signed) {
      const run = await store.runs.findByProviderCall(id, event.callId);
      if (run !== undefined) return run.id;
    }
    return undefined;
  }

  async take(request: {
    name: ProviderName;
    runId: string;
    request: ProviderRequest;
  }): Promise<TakenEvent> {
    const call = await this.verify(request.name, request.runId, request.request);
    if (call === undefined) {
      webhooks.inc({ provider: request.name, result: 'unknown_run' });
      return { reply: IGNORED };
    }
    const { webhook, capabilities } = call.provider;
    const reply = webhook.transferDocument?.(request.request) ?? webhook.acknowledge();
    const sent = webhook.parse(request.request);
    const event = capabilities.webhookProof === 'full' ? sent : await this.#confirmed(call, sent);
    if (event === undefined) {
      webhooks.inc({ provider: request.name, result: 'unconfirmed' });
      return { reply };
    }
    if (event.kind === 'status') await this.takeStatus(call, event);
    if (event.kind === 'answered-by') await this.#takeAnsweredBy(call, event);
    webhooks.inc({ provider: request.name, result: 'taken' });
    const isAnswered = event.kind === 'status' && event.status === 'in-progress';
    if (!isAnswered || capabilities.answerStyle !== 'command') return { reply };
    const { run } = call;
    if (run.callType !== 'outbound' || run.state !== 'initialized') return { reply };
    return { reply, toConnect: await this.withCallId(call, request.request) };
  }

  /** The event as far as the provider confirms it over REST, where the webhook proves less. Undefined if it does not,
   *  or confirms nothing of that kind. A provider that cannot be asked sends the event again after the error. Throws
   *  PROVIDER_*. */
  async #confirmed(call: ProviderCall, event: ProviderEvent): Promise<ProviderEvent | undefined> {
    if (event.kind !== 'status') return event.kind === 'other' ? event : undefined;
    const { run, configuration, provider } = call;
    const { callId, status } = event;
    if (run.providerCallId !== null && run.providerCallId !== callId) return undefined;
    if (run.state === 'completed') return undefined;
    const { signal, done } = deadlineSignal(this.#deps.clock, CONFIRM_MS, 'confirm a status');
    try {
      const { credentials } = configuration;
      const found = await provider.control.getCall(credentials, callId, signal);
      if (found === undefined || found.status !== status) {
        const facts = { runId: run.id, status, found: found?.status ?? 'none' };
        this.#deps.log.warn(facts, 'status not confirmed by the provider');
      }
      if (found === undefined) {
        // A provider may forget a call with its end; its id is known to the provider and to us alone.
        const isEnd = isTerminal(status) && run.providerCallId === callId;
        return isEnd ? { ...event, durationS: null, raw: { confirmed_status: 'gone' } } : undefined;
      }
      const raw = { confirmed_status: found.status };
      return { ...event, status: found.status, durationS: found.durationS, raw };
    } finally {
      done();
    }
  }

  /** Handles a status of a call, from a webhook or from a PBX. */
  async takeStatus(call: UnconnectedCall, event: CallStep): Promise<void> {
    const { run } = call;
    const isNew = await this.#deps.store.runs.appendCallback(run.id, event.dedupeKey, {
      status: event.status,
      timestamp: stamp(this.#deps.clock.now()),
      call_id: event.callId,
      duration: event.durationS,
      sequence: event.sequence ?? null,
      raw: event.raw,
    });
    if (isNew && run.providerCallId === null) {
      await this.#deps.store.runs.patch(run.id, { providerCallId: event.callId });
    }
    // Another leg of the call may come and go.
    const isOurs = run.providerCallId === null || run.providerCallId === event.callId;
    if (!isOurs || run.state === 'completed') return;
    await this.#noteStatus(run.id, event);
    await this.#followStatus(run, event);
    if (!isTerminal(event.status)) return;
    // A repeated delivery gets here as well: the first one may have failed half-way.
    await this.#takeTerminal(call, event.status);
  }

  /** A client reads the provider's own word for how far the call has come, where the dial's answer had one. Of
   *  callbacks out of order the furthest counts. */
  async #followStatus(run: Run, { status }: CallStep): Promise<void> {
    const known = run.gatheredContext['provider_status'];
    if (known === undefined || known === status) return;
    const before = callStatus.safeParse(known).data;
    if (before !== undefined && !isStatusTransitionAllowed(status, before)) return;
    await this.#deps.store.runs.patch(run.id, { gatheredContext: { provider_status: status } });
  }

  /** Into the log of a call that this process runs, if it is a step forward: another process numbers the
   *  events of its own calls. */
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

  /** With media, the close of the socket ends the call; if the close is lost, this ends the call after a moment. */
  async #takeTerminal(call: UnconnectedCall, status: TerminalStatus): Promise<void> {
    const { id } = call.run;
    const session = this.#deps.registry.session(id);
    if (session?.isAnswered === false) {
      void session.end(unconnectedReason(status), 'provider');
      return;
    }
    if (!this.#deps.registry.connected(id)) {
      if (await this.#talksElsewhere(call.run)) return; // That process detects it by its media.
      await this.#deps.unconnected.end(call, { reason: unconnectedReason(status), by: 'provider' });
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
    const fact = { type: 'call.answered-by', answeredBy: event.answeredBy } as const;
    const session = this.#deps.registry.session(run.id);
    session?.note(fact);
    if (session === undefined) (await this.#deps.events.open(run.id)).append(fact, 0);
    else if (event.machine && hangsUpOnMachines(session.plan)) {
      void session.end('voicemail_detected', 'gateway');
    }
  }
}

/** No row has these ids. */
const NO_RUN = { organizationId: '0', configurationId: '0' };

const IGNORED: WebhookReply = {
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify({ status: 'ignored', reason: 'unknown_run' }),
};
