// Call control: the entry to the call folders for the API and the media server, and draining before a stop.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { callsRefused } from '../../metrics/metrics.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { Store } from '../../store/store.ts';
import type { ProviderRequest, WebhookReply } from '../../telephony/provider/provider.ts';
import type { MediaAdmission, MediaPath } from '../../transport/websocket/media-server.ts';
import type { CallService, StartCall, StartedCall, TestCall } from '../call-service.ts';
import type { TextChats } from '../chat/text-chat.ts';
import { GATEWAY_STOPPED, type UnconnectedCall } from '../closing/unconnected-calls.ts';
import type { ProviderCall } from '../connect/call-confirmation.ts';
import type { ConnectServices } from '../connect/connect-services.ts';
import type { InboundWebhooks } from '../inbound/inbound-webhook.ts';
import type { EventLog } from '../log/event-log.ts';
import type { CampaignCalls } from '../outbound/campaign-calls.ts';
import type { IdempotentStarts } from '../outbound/idempotent-starts.ts';
import type { PbxConnections } from '../pbx/pbx-connections.ts';
import type { CallIntake } from './call-intake.ts';
import type { HangUpRequests } from './hang-up.ts';
import { type DigitsDeps, type DigitsWanted, sendDigits } from './send-digits.ts';

/** No run has this id. */
const NO_RUN = '0';

export interface CallControlDeps {
  intake: CallIntake;
  connect: ConnectServices;
  /** Requests of clients. */
  clients: { starts: IdempotentStarts; hangUps: HangUpRequests; digits: DigitsDeps };
  inbound: InboundWebhooks;
  /** Background jobs and other parts. */
  services: { campaignCalls: CampaignCalls; textChats: TextChats; pbxLines: PbxConnections };
  events: EventLog;
  log: Log;
}

export class CallControl implements CallService {
  readonly campaignCalls: CampaignCalls;
  readonly textChats: TextChats;
  readonly pbxLines: PbxConnections;
  readonly #deps: CallControlDeps;

  constructor(deps: CallControlDeps) {
    this.#deps = deps;
    const { campaignCalls, textChats, pbxLines } = deps.services;
    this.campaignCalls = campaignCalls;
    this.textChats = textChats;
    this.pbxLines = pbxLines;
    deps.events.onTaken = (runIds) => this.#endTaken(runIds);
  }

  get activeCalls(): number {
    return this.#deps.connect.registry.activeCalls;
  }

  /** Calls that ring, wait for their media or talk. */
  get calls(): number {
    return this.#deps.intake.calls;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#start(() => this.#deps.clients.starts.start(request));
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#start(() => this.#deps.clients.starts.startTest(request));
  }

  async #start(start: () => Promise<Run>): Promise<StartedCall> {
    const { intake } = this.#deps;
    const refusal = intake.refusal();
    if (refusal !== undefined) {
      callsRefused.inc({ code: refusal.code });
      throw refusal;
    }
    const run = await intake.counted(start);
    return { runId: run.id, runName: run.name };
  }

  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run> {
    return this.#deps.clients.hangUps.hangUp(wanted);
  }

  sendDigits(wanted: DigitsWanted): Promise<void> {
    return sendDigits(this.#deps.clients.digits, wanted);
  }

  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const { intake, inbound } = this.#deps;
    const refusal = intake.refusal();
    if (refusal !== undefined) return inbound.refuse(request, refusal);
    return intake.counted(() => inbound.answer(request, workflowId));
  }

  async answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { providerEvents } = this.#deps.connect;
    const verified = await providerEvents.verify(name, runId, request);
    if (verified === undefined) throw new GatewayError('RUN_NOT_FOUND');
    return this.#connect(await providerEvents.withCallId(verified, request));
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { providerEvents } = this.#deps.connect;
    const { reply, toConnect } = await providerEvents.take({ name, runId, request });
    return toConnect === undefined ? reply : this.#connect(toConnect);
  }

  async accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply> {
    const { providerEvents } = this.#deps.connect;
    const runId = await providerEvents.runOfAccountEvent(name, request);
    return this.event(name, runId ?? NO_RUN, request);
  }

  /** Connects an answered call that we placed to its media. */
  async #connect({ call, callId }: { call: ProviderCall; callId: string }): Promise<WebhookReply> {
    const { watchdog, preparation, actions } = this.#deps.connect;
    const { run, provider, configuration } = call;
    const { credentials } = configuration;
    const refuse = () => actions.perform(provider.webhook.reject('error', callId), credentials);
    if (run.state !== 'initialized') return refuse();
    watchdog.answered(call);
    try {
      return await preparation.answer(call, callId);
    } catch (error) {
      this.#deps.log.error({ err: error, runId: run.id }, 'call not answered');
      return refuse();
    }
  }

  /** A media socket asks for admission (transport's `authorize`). */
  admit(path: MediaPath, headers: Record<string, string | undefined>): Promise<MediaAdmission> {
    return this.#deps.connect.admissions.admit(path, headers);
  }

  /** Others may have taken calls of this process, which seemed dead to them. Never rejects. */
  async endTakenCalls(store: Pick<Store, 'runs'>): Promise<void> {
    const { connect, log } = this.#deps;
    const { registry } = connect;
    const ids = [
      ...registry.sessions().map(({ plan }) => plan.run.id),
      ...registry.unconnected().map(({ run }) => run.id),
    ];
    try {
      this.#endTaken(await store.runs.taken(ids));
    } catch (error) {
      log.error({ err: error }, 'calls that others have taken not looked up');
    }
  }

  /** The run is closed by who took it; the call ends here as well. */
  #endTaken(runIds: readonly string[]): void {
    const { connect, log } = this.#deps;
    for (const runId of runIds) {
      const session = connect.registry.session(runId);
      connect.registry.removeUnconnected(runId);
      if (session === undefined) continue;
      log.warn({ runId }, 'another process has taken this call, which ends here');
      void session.end('unexpected_error', 'gateway');
    }
  }

  /** Takes no new call and waits for the running ones; after `limitMs` they are ended. */
  async drain(limitMs: number): Promise<void> {
    const { intake, connect, events } = this.#deps;
    await intake.drain(limitMs);
    const left = connect.registry.sessions();
    await Promise.all([
      ...left.map((session) => session.end('system_cancelled', 'gateway')),
      ...connect.registry.unconnected().map((call) => this.#giveUp(call)),
    ]);
    await this.pbxLines.stop();
    await this.textChats.stop();
    intake.stop();
    await events.flush();
  }

  /** Never rejects. */
  async #giveUp(call: UnconnectedCall): Promise<void> {
    const { connect, log } = this.#deps;
    try {
      await connect.unconnected.abandon(call, GATEWAY_STOPPED);
    } catch (error) {
      log.error({ err: error, runId: call.run.id }, 'unconnected call not closed');
    }
  }
}
