// Call control: the entry to the call folders for the API and the media server, and draining before a stop.

import { z } from 'zod';
import { callsRefused } from '../metrics/metrics.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { isTransferId } from '../model/transfer-id.ts';
import type { Clock } from '../std/clock.ts';
import type { Store } from '../store/store.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';
import type { MediaPath } from '../transport/media-token.ts';
import type { MediaAdmission } from '../transport/websocket/media-server.ts';
import type { CallService } from './call-service.ts';
import type { TextChats } from './chat/text-chat.ts';
import type { CallResumptions } from './end/call-resumption.ts';
import type { HangUpRequests } from './end/hang-up.ts';
import type { RemainingCalls } from './end/remaining-calls.ts';
import type { ConnectServices } from './media/connect-services.ts';
import type { DigitRequests, DigitsWanted } from './session/send-digits.ts';
import type { AdoptedCall } from './start/call-adoption.ts';
import type { CallIntake } from './start/call-intake.ts';
import type { InboundWebhooks } from './start/inbound/inbound-webhook.ts';
import type { LeftAnswers } from './start/inbound/left-answers.ts';
import type { PbxConnections } from './start/inbound/pbx-connections.ts';
import type { PbxShares } from './start/inbound/pbx-shares.ts';
import type { WebCalls } from './start/inbound/web-calls.ts';
import type { CampaignCalls } from './start/outbound/campaign-calls.ts';
import type { IdempotentStarts } from './start/outbound/idempotent-starts.ts';
import type { StrandedStarts } from './start/outbound/stranded-starts.ts';
import type { StartCall, StartedCall, TestCall } from './start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from './start/setup/web-call.ts';
import type { HostedWaits } from './start/waiting/hosted-waits.ts';
import type { PbxWaits } from './start/waiting/pbx-waits.ts';

interface WorkOfProcess {
  /** One process of a gateway has the PBXs. */
  hasPbxs: boolean;
  /** Whether other gateways may use the database. Default: false. */
  isShared?: boolean;
}

/** Longest time that the other processes' calls of PBXs may take longer than ours: they end at the same time. */
const MEMBERS_MS_MAX = 5_000;
/** A run id that never exists. */
const NO_RUN = '0';

export interface CallControlDeps {
  intake: CallIntake;
  connect: ConnectServices;
  starts: IdempotentStarts;
  hangUps: HangUpRequests;
  digits: DigitRequests;
  inboundWebhooks: InboundWebhooks;
  hostedWaits: HostedWaits;
  pbxWaits: PbxWaits;
  leftAnswers: LeftAnswers;
  campaignCalls: CampaignCalls;
  textChats: TextChats;
  pbxLines: PbxConnections;
  pbxShares: PbxShares;
  clock: Clock;
  strandedStarts: StrandedStarts;
  webCalls: WebCalls;
  remaining: RemainingCalls;
  resumptions: CallResumptions;
}

export class CallControl implements CallService {
  readonly campaignCalls: CampaignCalls;
  readonly textChats: TextChats;
  readonly pbxLines: PbxConnections;
  readonly pbxShares: PbxShares;
  readonly #deps: CallControlDeps;

  constructor(deps: CallControlDeps) {
    this.#deps = deps;
    const { campaignCalls, textChats, pbxLines, pbxShares } = deps;
    this.campaignCalls = campaignCalls;
    this.textChats = textChats;
    this.pbxLines = pbxLines;
    this.pbxShares = pbxShares;
  }

  /** Starts the background jobs of a process that holds calls; `drain` stops them. */
  async startJobs({ hasPbxs, isShared = false }: WorkOfProcess): Promise<void> {
    this.#deps.strandedStarts.start();
    this.#deps.hostedWaits.start();
    if (isShared) this.#deps.connect.former.start();
    if (hasPbxs) await this.pbxLines.start();
  }

  get activeCalls(): number {
    return this.#deps.connect.registry.activeCalls;
  }

  /** Number of calls that ring, wait for their media or are connected. */
  get calls(): number {
    return this.#deps.intake.calls;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#start(() => this.#deps.starts.start(request));
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#start(() => this.#deps.starts.startTest(request));
  }

  async startWeb(request: WebCall): Promise<StartedWebCall> {
    this.#refuse();
    const { webCalls, intake } = this.#deps;
    const { run, token } = await intake.counted(() => webCalls.start(request));
    return { ...startedCallOf(run), token };
  }

  async #start(start: () => Promise<Run>): Promise<StartedCall> {
    this.#refuse();
    return startedCallOf(await this.#deps.intake.counted(start));
  }

  /** Throws GATEWAY_DRAINING, GATEWAY_OVERLOADED while no new call is accepted. */
  #refuse(): void {
    const refusal = this.#deps.intake.refusal();
    if (refusal === undefined) return;
    callsRefused.inc({ code: refusal.code });
    throw refusal;
  }

  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run> {
    return this.#deps.hangUps.hangUp(wanted);
  }

  sendDigits(wanted: DigitsWanted): Promise<void> {
    return this.#deps.digits.send(wanted);
  }

  async inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const { intake, inboundWebhooks } = this.#deps;
    const refusal = intake.refusal();
    // An overloaded process can still let the caller wait.
    if (refusal !== undefined && refusal.code !== 'GATEWAY_OVERLOADED')
      return inboundWebhooks.refuse(request, refusal);
    return intake.counted(() => inboundWebhooks.answer(request, workflowId, refusal));
  }

  /** Goes on with an inbound call whose process was killed before the call was answered. Returns false if the run is
   *  to be closed. */
  async answerAgain(runId: string): Promise<boolean> {
    const { intake, leftAnswers } = this.#deps;
    if (intake.refusal() !== undefined) return false;
    return intake.counted(() => leftAnswers.answerAgain(runId));
  }

  async resume(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { intake, resumptions } = this.#deps;
    return intake.counted(() => resumptions.asked(name, runId, request));
  }

  async wait(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { intake, hostedWaits } = this.#deps;
    return intake.counted(() => hostedWaits.asked(name, runId, request));
  }

  /** Goes on with the call of a dead process that its provider keeps. Returns false if its run is to be closed. */
  async resumeLeft(runId: string): Promise<boolean> {
    const { intake, resumptions } = this.#deps;
    return intake.counted(() => resumptions.resume(runId));
  }

  async answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { providerEvents, transferResults } = this.#deps.connect;
    if (isTransferId(runId)) return transferResults.answer({ name, transferId: runId, request });
    const { answered } = this.#deps.connect;
    return answered.connect(await providerEvents.answered(name, runId, request));
  }

  async event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { providerEvents, transferResults } = this.#deps.connect;
    if (isTransferId(runId)) return transferResults.take({ name, transferId: runId, request });
    const { reply, toConnect } = await providerEvents.take({ name, runId, request });
    return toConnect === undefined ? reply : this.#deps.connect.answered.connect(toConnect);
  }

  async accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply> {
    const { runId } = await this.runOfAccountEvent(name, request);
    return this.event(name, runId, request);
  }

  /** The run of an event of a route that names no run; NO_RUN if there is none. Throws WEBHOOK_SIGNATURE. */
  async runOfAccountEvent(
    name: ProviderName,
    request: ProviderRequest,
  ): Promise<{ runId: string }> {
    const { providerEvents } = this.#deps.connect;
    return { runId: (await providerEvents.runOfAccountEvent(name, request)) ?? NO_RUN };
  }

  /** Decides about a media socket (transport's `authorize`). */
  admit(path: MediaPath, headers: Record<string, string | undefined>): Promise<MediaAdmission> {
    return this.#deps.connect.admissions.admit(path, headers);
  }

  /** Called for each waiting call that this process has adopted, to inform its former owner. Must not throw. */
  set onAdopted(inform: (call: AdoptedCall) => void) {
    this.#deps.connect.adoptions.onAdopted = inform;
  }

  /** Drops a call that another process has adopted, without ending it. */
  noteAdopted(runId: string): void {
    this.#deps.connect.former.noteAdopted(runId);
  }

  /** Ends calls that other processes have taken over because this one seemed dead. Never rejects. */
  endTakenCalls(store: Pick<Store, 'runs'>): Promise<void> {
    return this.#deps.remaining.endTakenCalls(store);
  }

  /** Accepts no new call and waits for the current ones; after `limitMs` they are ended. */
  async drain(limitMs: number): Promise<void> {
    const { intake, remaining, hostedWaits, pbxWaits, clock } = this.#deps;
    const endMs = clock.monotonicMs() + limitMs + MEMBERS_MS_MAX;
    await intake.drain(limitMs);
    hostedWaits.stop();
    pbxWaits.stop();
    await remaining.endAll();
    await this.pbxLines.untilMembersIdle(endMs - clock.monotonicMs());
    await this.pbxLines.stop();
    await this.textChats.stop();
    this.#deps.strandedStarts.stop();
    this.#deps.connect.former.stop();
    intake.stop();
    await remaining.flush();
  }
}

function startedCallOf({ id: runId, name: runName, logs }: Run): StartedCall {
  const names = z.array(z.string()).safeParse(logs['variables_without_value']).data;
  return names === undefined
    ? { runId, runName }
    : { runId, runName, variablesWithoutValue: names };
}
