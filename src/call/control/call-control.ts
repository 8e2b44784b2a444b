// The call room's front: what the API and the media server ask for, and draining before a stop.

import { GatewayError } from '../../errors/gateway-error.ts';
import { callsRefused } from '../../metrics/metrics.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { ProviderRequest, WebhookReply } from '../../telephony/provider/provider.ts';
import type { MediaAdmission, MediaPath } from '../../transport/websocket/media-server.ts';
import type { CallService, StartCall, StartedCall, TestCall } from '../call-service.ts';
import { TextChats } from '../chat/text-chat.ts';
import { CallRegistry, type UnconnectedCall } from '../connect/call-registry.ts';
import { abandonCall, GATEWAY_STOPPED } from '../connect/end-unconnected.ts';
import { admitMediaSocket } from '../connect/media-admission.ts';
import { startMediaWatchdog } from '../connect/media-watchdog.ts';
import { answerProviderCall } from '../connect/prepare-call.ts';
import { handleProviderEvent, verifiedCall, withCallId } from '../connect/provider-event.ts';
import { answerInbound, refuseInbound } from '../inbound/inbound-webhook.ts';
import { CampaignCalls } from '../outbound/campaign-calls.ts';
import { IdempotentStarts } from '../outbound/idempotent-starts.ts';
import { PbxConnections } from '../pbx/pbx-connections.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { hangUpRun } from './hang-up.ts';
import { OverloadControl } from './overload-control.ts';
import { type DigitsWanted, sendDigits } from './send-digits.ts';

/** How often a draining process looks whether its calls are over. */
const DRAIN_LOOK_MS = 100;

export class CallControl implements CallService {
  readonly #deps: CallDeps;
  readonly #roster = new CallRegistry();
  readonly #starts: IdempotentStarts;
  #draining = false;
  /** Calls that are being placed, or whose webhook is being answered. */
  #starting = 0;
  readonly #admission: OverloadControl | undefined;

  readonly campaignCalls: CampaignCalls;
  readonly textChats: TextChats;
  readonly pbxLines: PbxConnections;

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.#starts = new IdempotentStarts(deps, this.#roster);
    this.campaignCalls = new CampaignCalls(deps, this.#roster, () => this.#refusal() === undefined);
    this.textChats = new TextChats(deps);
    this.pbxLines = new PbxConnections(deps, this.#roster, () => this.#refusal());
    if (deps.load === undefined) return;
    const counts = () => ({ talking: this.activeCalls, all: this.#allCalls });
    const onLoop = (busy: number) => deps.mediaClock.setLoad(busy);
    this.#admission = new OverloadControl({ ...deps, ...deps.load, counts, onLoop });
  }

  get activeCalls(): number {
    return this.#roster.activeCalls;
  }

  /** Those that ring, wait for their media or talk. */
  get calls(): number {
    const { activeCalls, pendingCalls } = this.#roster;
    return activeCalls + pendingCalls + this.#starting;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#start(() => this.#starts.start(request));
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#start(() => this.#starts.startTest(request));
  }

  async #start(start: () => Promise<Run>): Promise<StartedCall> {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      callsRefused.inc({ code: refusal.code });
      throw refusal;
    }
    const run = await this.#counted(start);
    return { runId: run.id, runName: run.name };
  }

  /** A call counts from the moment that somebody sees to it. */
  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#starting += 1;
    try {
      return await work();
    } finally {
      this.#starting -= 1;
    }
  }

  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run> {
    return hangUpRun(this.#deps, this.#roster, wanted);
  }

  sendDigits(wanted: DigitsWanted): Promise<void> {
    return sendDigits(this.#deps, this.#roster, wanted);
  }

  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const refusal = this.#refusal();
    if (refusal !== undefined) return refuseInbound(this.#deps, request, refusal);
    return this.#counted(() => answerInbound(this.#deps, this.#roster, request, workflowId));
  }

  async answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const verified = await verifiedCall(this.#deps, name, runId, request);
    if (verified === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const call = await withCallId(this.#deps, verified, request);
    if (call.run.state !== 'initialized') return call.provider.webhook.reject('error');
    // Another process has dialled it.
    if (!this.#roster.has(runId)) startMediaWatchdog(this.#deps, this.#roster, call);
    try {
      return await answerProviderCall(this.#deps, this.#roster, call);
    } catch (error) {
      this.#deps.log.error({ err: error, runId }, 'call not answered');
      return call.provider.webhook.reject('error');
    }
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return handleProviderEvent(this.#deps, this.#roster, { name, runId, request });
  }

  /** A media socket asks to be let in (transport's `authorize`). */
  admit(path: MediaPath, headers: Record<string, string | undefined>): Promise<MediaAdmission> {
    return admitMediaSocket(this.#deps, this.#roster, path, headers);
  }

  /** Takes no new call and waits for the running ones; after `limitMs` they are ended. */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    const { clock, log, events } = this.#deps;
    const deadline = clock.monotonicMs() + limitMs;
    log.info({ calls: this.activeCalls }, 'draining');
    while (this.#allCalls > 0) {
      if (clock.monotonicMs() >= deadline) break;
      await new Promise<void>((resolve) => clock.after(DRAIN_LOOK_MS, resolve));
    }
    const left = this.#roster.sessions();
    await Promise.all([
      ...left.map((session) => session.end('system_cancelled', 'gateway')),
      ...this.#roster.unconnected().map((call) => this.#giveUp(call)),
    ]);
    await this.pbxLines.stop();
    await this.textChats.stop();
    this.#admission?.stop();
    await events.flush();
  }

  get #allCalls(): number {
    return this.calls + this.pbxLines.busy;
  }

  /** Why no new call is taken now, if none is. */
  #refusal(): GatewayError | undefined {
    if (this.#draining) return new GatewayError('GATEWAY_DRAINING');
    return this.#admission?.isAccepting === false
      ? new GatewayError('GATEWAY_OVERLOADED')
      : undefined;
  }

  /** Never rejects. */
  async #giveUp(call: UnconnectedCall): Promise<void> {
    try {
      await abandonCall(this.#deps, this.#roster, { ...call, fault: GATEWAY_STOPPED });
    } catch (error) {
      this.#deps.log.error({ err: error, runId: call.run.id }, 'unconnected call not closed');
    }
  }
}
