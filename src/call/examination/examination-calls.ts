// Examination calls of this process: starts one for an organization, finds the call of a webhook or a media socket, and
// keeps the findings and the capture until the client has fetched them.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { LineTest } from '../../model/line-watch.ts';
import type { ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { Store } from '../../store/store.ts';
import { addressOutcome } from '../../telephony/doctor/address-checks.ts';
import { dialledAddress } from '../../telephony/provider/phone-address.ts';
import {
  type HostedProvider,
  isHosted,
  type ProviderRequest,
} from '../../telephony/provider/provider.ts';
import type { RestExchange } from '../../telephony/provider/rest-client.ts';
import { CLOSE } from '../../transport/media-socket.ts';
import type { MediaPath } from '../../transport/media-token.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { MediaAdmission } from '../../transport/websocket/media-server.ts';
import { CallActions } from '../start/call-actions.ts';
import type { OutboundRoute, OutboundRoutes } from '../start/outbound/outbound-route.ts';
import { WebhookVerifier } from '../webhooks/webhook-verifier.ts';
import { CallCapture } from './call-capture.ts';
import { CaptureRedaction } from './capture-redaction.ts';
import { EchoAgent } from './echo-agent.ts';
import { type AgentLines, ExaminationAgent } from './examination-agent.ts';
import { ExaminationCall } from './examination-call.ts';
import type { ExaminationStep } from './examination-steps.ts';
import type { ExaminationOrder } from './examined-leg.ts';
import { type EndedTestCall, lineTestOf } from './line-examination.ts';
import { Moment } from './moment.ts';

/** Concurrent calls of all organizations. */
const CALLS_MAX = 4;
/** Finished calls that are kept. Each capture has up to a megabyte. */
const KEPT_MAX = 20;
const KEPT_MS_MAX = 600_000;
/** A client polls every second. If it has not polled for this time, its call is hung up. */
const CLIENT_MS_MAX = 20_000;
/** Random bytes of a call's id: 64 bits cannot be guessed. */
const ID_BYTES = 8;
/** Deadline of a stop: hang-ups take a second. */
const CLOSE_MS_MAX = 4_000;

export interface ExaminationWish {
  organizationId: string;
  configurationId: string;
  /** The number as the client wrote it. */
  phoneNumber: string;
  /** Caller id; null: the default caller, else any number of the configuration. */
  fromPhoneNumberId: string | null;
}

export interface ExaminationReport {
  id: string;
  isRunning: boolean;
  /** Whether no step failed. */
  isFaultless: boolean;
  steps: readonly ExaminationStep[];
}

export interface ExaminationCallsDeps {
  store: Pick<Store, 'telephony' | 'webhookNonces' | 'runs' | 'accounts'>;
  routes: Pick<OutboundRoutes, 'find'>;
  /** Creates a provider whose requests are observed. Undefined for a PBX. */
  createProvider: (
    name: ConfiguredProviderName,
    onExchange: (exchange: RestExchange) => void,
  ) => HostedProvider | undefined;
  /** Renders the agent's speech. Throws TTS_*. */
  speak: () => Promise<AgentLines>;
  gateway: { publicUrl: string; version: string };
  isDraining: () => boolean;
  tokens: MediaTokenStore;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Makes what the agent needs, before the dial. Throws TTS_*. */
type PrepareAgent = () => Promise<ExaminationOrder['createAgent']>;

interface Kept {
  call: ExaminationCall;
  configurationId: string;
  capture: CallCapture;
  askedMs: number;
  endedMs: number | undefined;
}

export class ExaminationCalls {
  readonly #deps: ExaminationCallsDeps;
  readonly #actions: CallActions;
  readonly #verifier: WebhookVerifier;
  readonly #calls = new Map<string, Kept>();
  /** Organizations whose call is being started. */
  readonly #starting = new Set<string>();

  constructor(deps: ExaminationCallsDeps) {
    const { clock, log, store } = deps;
    this.#deps = deps;
    this.#actions = new CallActions({ clock, log });
    this.#verifier = new WebhookVerifier({ store, clock, log });
  }

  /** Starts a call. If it throws, no phone has rung. Throws CONFIGURATION_*, CALLER_ID_NOT_FOUND,
   *  NUMBER_NOT_DIALABLE, EXAMINATION_CALL_UNSUPPORTED, PUBLIC_URL_UNFIT, EXAMINATION_CALL_RUNNING,
   *  CALL_LIMIT_REACHED, GATEWAY_DRAINING, QUEUE_FULL, TTS_*. */
  async start(wish: ExaminationWish): Promise<ExaminationReport> {
    const kept = await this.#start(wish, async () => {
      const lines = await this.#deps.speak();
      return (means) => new ExaminationAgent({ ...means, lines });
    });
    this.#watch(kept);
    return reportOf(kept.call);
  }

  /** Places a test call of a watched line to a number that answers and echoes. Settles with what it found. Throws as
   *  `start`, and GATEWAY_OVERLOADED if this process stood still meanwhile. */
  async testLine(
    wish: ExaminationWish,
    { testsKeys, signal }: { testsKeys: boolean; signal: AbortSignal },
  ): Promise<LineTest> {
    let agent: EchoAgent | undefined;
    const { call } = await this.#start(wish, () =>
      Promise.resolve((means) => {
        agent = new EchoAgent({
          ...means,
          sendDigits: testsKeys && means.digitsIn ? means.sendDigits : undefined,
        });
        return agent;
      }),
    );
    const cut = (): void => call.hangUp();
    signal.addEventListener('abort', cut, { once: true });
    await call.ended;
    signal.removeEventListener('abort', cut);
    if (agent?.fault !== undefined) throw agent.fault;
    const { steps, dialFault, finalStatus } = call;
    const ended: EndedTestCall = { steps: steps.found, dialFault, finalStatus };
    return lineTestOf(ended, agent?.test);
  }

  async #start(wish: ExaminationWish, prepare: PrepareAgent): Promise<Kept> {
    const { organizationId } = wish;
    this.#refuseIfDraining();
    this.#forgetOld();
    const open = [...this.#calls.values()].filter(({ call }) => !call.isOver);
    const isBusy = open.some(({ call }) => call.order.organizationId === organizationId);
    if (isBusy || this.#starting.has(organizationId)) {
      throw new GatewayError('EXAMINATION_CALL_RUNNING');
    }
    if (open.length + this.#starting.size >= CALLS_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'examination calls' });
    }
    this.#starting.add(organizationId);
    try {
      return await this.#begin(wish, prepare);
    } finally {
      this.#starting.delete(organizationId);
    }
  }

  /** The call's report. Undefined if the call does not belong to this organization and configuration, or was
   *  removed. */
  report(of: {
    organizationId: string;
    configurationId: string;
    id: string;
  }): ExaminationReport | undefined {
    const kept = this.#kept(of);
    if (kept === undefined) return undefined;
    kept.askedMs = this.#deps.clock.monotonicMs();
    return reportOf(kept.call);
  }

  hangUp(of: { organizationId: string; configurationId: string; id: string }): void {
    this.#kept(of)?.call.hangUp();
  }

  /** The call's capture as JSON lines. Undefined as for `report`. */
  capture(of: { organizationId: string; configurationId: string; id: string }): string | undefined {
    return this.#kept(of)?.capture.text;
  }

  // Look-ups for webhooks and media sockets.

  /** The examination call with this id; undefined if there is none. */
  ofRun(provider: ProviderName, id: string): ExaminationCall | undefined {
    const call = this.#calls.get(id)?.call;
    return call?.order.provider.name === provider ? call : undefined;
  }

  /** The examination call of an event that names no run. */
  ofEvent(name: ProviderName, request: ProviderRequest): ExaminationCall | undefined {
    for (const { call } of this.#calls.values()) {
      const { provider } = call.order;
      if (provider.name !== name || call.isOver) continue;
      if (call.callId !== undefined && callIdOf(provider, request) === call.callId) return call;
    }
    return undefined;
  }

  admit(path: MediaPath, headers: Record<string, string | undefined>): Promise<MediaAdmission> {
    const call = this.#calls.get(path.runId)?.call;
    if (call !== undefined) return call.admit(path, headers);
    return Promise.resolve({ refuse: CLOSE.unauthorized, reason: 'token' });
  }

  isExpected(path: MediaPath): boolean {
    return this.#deps.tokens.isDue(path);
  }

  /** Throws GATEWAY_DRAINING. */
  #refuseIfDraining(): void {
    if (this.#deps.isDraining()) throw new GatewayError('GATEWAY_DRAINING');
  }

  /** Hangs up what still runs; settles when all are over, or after four seconds. */
  async close(): Promise<void> {
    const calls = [...this.#calls.values()].map(({ call }) => call);
    for (const call of calls) call.hangUp();
    const over = new Moment<true>();
    void Promise.all(calls.map(({ ended }) => ended)).then(() => over.settle(true));
    await over.within(this.#deps.clock, CLOSE_MS_MAX, new Promise(() => undefined));
  }

  async #begin(wish: ExaminationWish, prepare: PrepareAgent): Promise<Kept> {
    const { store, routes, gateway } = this.#deps;
    const { organizationId, configurationId, fromPhoneNumberId } = wish;
    const route = await routes.find({ organizationId, configurationId, fromPhoneNumberId });
    if (!isHosted(route.provider)) throw new GatewayError('EXAMINATION_CALL_UNSUPPORTED');
    const { verdict, message, advice } = addressOutcome(gateway.publicUrl);
    if (verdict === 'fail') {
      throw new GatewayError('PUBLIC_URL_UNFIT', { reason: `${message} ${advice ?? ''}` });
    }
    const rules = { hasExtensions: false, callerId: route.from };
    const address = dialledAddress(wish.phoneNumber, rules);
    if ('reason' in address) {
      throw new GatewayError('NUMBER_NOT_DIALABLE', { why: address.reason });
    }
    const limit = await store.accounts.concurrentCallLimit(organizationId);
    const { total } = await store.runs.activeCalls(organizationId, { limit: 1, offset: 0 });
    if (total >= limit) throw new GatewayError('CALL_LIMIT_REACHED');
    return this.#dial(wish, { route, to: address.to, createAgent: await prepare() });
  }

  async #dial(
    { organizationId, configurationId }: ExaminationWish,
    {
      route,
      to,
      createAgent,
    }: { route: OutboundRoute; to: string; createAgent: ExaminationOrder['createAgent'] },
  ): Promise<Kept> {
    const { store, createProvider, gateway, clock, random, log } = this.#deps;
    const { publicUrl, version } = gateway;
    const { credentials } = route.configuration;
    const numbers = await store.telephony.listNumbers(configurationId);
    const id = `examination-${random.bytes(ID_BYTES).toString('hex')}`;
    const redaction = new CaptureRedaction({
      credentials,
      publicUrl,
      numbers: [...numbers.map(({ addressNormalized }) => addressNormalized), to],
    });
    redaction.addSecret(id, 'redacted-run-id');
    const about = { provider: route.provider.name, gateway: version };
    const capture = new CallCapture({ clock, redaction, about });
    const provider = createProvider(route.configuration.provider, (exchange) =>
      capture.rest(exchange),
    );
    if (provider === undefined) throw new GatewayError('EXAMINATION_CALL_UNSUPPORTED');
    // Speech may have taken seconds; a call dialled after the drain would not be hung up.
    this.#refuseIfDraining();
    const order = { id, organizationId, provider, credentials, createAgent, publicUrl };
    const call = new ExaminationCall(
      {
        capture,
        tokens: this.#deps.tokens,
        actions: this.#actions,
        verifier: this.#verifier,

        clock,
        log: log.child({ examinationId: id }),
        addSecret: (value, placeholder) => redaction.addSecret(value, placeholder),
      },
      {
        ...order,
        from: route.from === null ? null : provider.formatAddress(route.from),
        to: provider.formatAddress(to),
      },
    );
    const kept: Kept = { call, configurationId, capture, askedMs: 0, endedMs: undefined };
    this.#calls.set(id, kept);
    void call.ended.then(() => {
      kept.endedMs = clock.monotonicMs();
    });
    return kept;
  }

  /** Hangs up when the client has left. */
  #watch(kept: Kept): void {
    const { clock } = this.#deps;
    kept.askedMs = clock.monotonicMs();
    const look = (): void => {
      if (kept.call.isOver) return;
      if (clock.monotonicMs() - kept.askedMs > CLIENT_MS_MAX) kept.call.hangUp();
      else clock.after(CLIENT_MS_MAX / 4, look);
    };
    look();
  }

  #kept(of: { organizationId: string; configurationId: string; id: string }): Kept | undefined {
    const kept = this.#calls.get(of.id);
    if (kept?.endedMs !== undefined && this.#isOld(kept.endedMs)) return undefined;
    const isTheirs =
      kept?.call.order.organizationId === of.organizationId &&
      kept.configurationId === of.configurationId;
    return isTheirs ? kept : undefined;
  }

  #forgetOld(): void {
    const over = [...this.#calls].flatMap(([id, { endedMs }]) =>
      endedMs === undefined ? [] : [{ id, endedMs }],
    );
    const excess = over.length - KEPT_MAX + 1;
    over.forEach(({ id, endedMs }, nth) => {
      if (nth < excess || this.#isOld(endedMs)) this.#calls.delete(id);
    });
  }

  #isOld(endedMs: number): boolean {
    return this.#deps.clock.monotonicMs() - endedMs > KEPT_MS_MAX;
  }
}

function reportOf(call: ExaminationCall): ExaminationReport {
  const { found, isFaultless } = call.steps;
  return { id: call.order.id, isRunning: !call.isOver, isFaultless, steps: found };
}

/** The call id in a webhook. Undefined for a request that cannot be parsed: the routes of runs refuse it. */
function callIdOf({ webhook }: HostedProvider, request: ProviderRequest): string | undefined {
  try {
    const event = webhook.parse(request);
    return 'callId' in event ? event.callId : undefined;
  } catch {
    return undefined; // The service of runs answers the request.
  }
}
