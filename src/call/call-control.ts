// Call control: the entry to the call folders for the API and the media server, and draining before a stop.

import { z } from 'zod';
import { callsRefused } from '../metrics/metrics.ts';
import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { isTransferId } from '../model/transfer-id.ts';
import type { Store } from '../store/store.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';
import type { MediaAdmission, MediaPath } from '../transport/websocket/media-server.ts';
import type { CallService } from './call-service.ts';
import type { TextChats } from './chat/text-chat.ts';
import type { HangUpRequests } from './end/hang-up.ts';
import type { RemainingCalls } from './end/remaining-calls.ts';
import type { ConnectServices } from './media/connect-services.ts';
import type { DigitRequests, DigitsWanted } from './session/send-digits.ts';
import type { CallIntake } from './start/call-intake.ts';
import type { InboundWebhooks } from './start/inbound/inbound-webhook.ts';
import type { LeftAnswers } from './start/inbound/left-answers.ts';
import type { PbxConnections } from './start/inbound/pbx-connections.ts';
import type { CampaignCalls } from './start/outbound/campaign-calls.ts';
import type { IdempotentStarts } from './start/outbound/idempotent-starts.ts';
import type { StrandedStarts } from './start/outbound/stranded-starts.ts';
import type { StartCall, StartedCall, TestCall } from './start/setup/call-start.ts';

/** A run id that never exists. */
const NO_RUN = '0';

export interface CallControlDeps {
  intake: CallIntake;
  connect: ConnectServices;
  starts: IdempotentStarts;
  hangUps: HangUpRequests;
  digits: DigitRequests;
  inboundWebhooks: InboundWebhooks;
  leftAnswers: LeftAnswers;
  campaignCalls: CampaignCalls;
  textChats: TextChats;
  pbxLines: PbxConnections;
  strandedStarts: StrandedStarts;
  remaining: RemainingCalls;
}

export class CallControl implements CallService {
  readonly campaignCalls: CampaignCalls;
  readonly textChats: TextChats;
  readonly pbxLines: PbxConnections;
  readonly #deps: CallControlDeps;

  constructor(deps: CallControlDeps) {
    this.#deps = deps;
    const { campaignCalls, textChats, pbxLines } = deps;
    this.campaignCalls = campaignCalls;
    this.textChats = textChats;
    this.pbxLines = pbxLines;
  }

  /** Starts the background jobs of a process that holds calls; `drain` stops them. One process of a gateway has the
   *  PBXs (`hasPbxs`). */
  async startJobs({ hasPbxs }: { hasPbxs: boolean }): Promise<void> {
    this.#deps.strandedStarts.start();
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

  async #start(start: () => Promise<Run>): Promise<StartedCall> {
    const { intake } = this.#deps;
    const refusal = intake.refusal();
    if (refusal !== undefined) {
      callsRefused.inc({ code: refusal.code });
      throw refusal;
    }
    const run = await intake.counted(start);
    const { id: runId, name: runName, logs } = run;
    const names = z.array(z.string()).safeParse(logs['variables_without_value']).data;
    return names === undefined
      ? { runId, runName }
      : { runId, runName, variablesWithoutValue: names };
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
    if (refusal !== undefined) return inboundWebhooks.refuse(request, refusal);
    return intake.counted(() => inboundWebhooks.answer(request, workflowId));
  }

  /** Goes on with an inbound call whose process was killed before the call was answered. Returns false if the run is
   *  to be closed. */
  async answerAgain(runId: string): Promise<boolean> {
    const { intake, leftAnswers } = this.#deps;
    if (intake.refusal() !== undefined) return false;
    return intake.counted(() => leftAnswers.answerAgain(runId));
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
    const { providerEvents } = this.#deps.connect;
    const runId = await providerEvents.runOfAccountEvent(name, request);
    return this.event(name, runId ?? NO_RUN, request);
  }

  /** Decides about a media socket (transport's `authorize`). */
  admit(path: MediaPath, headers: Record<string, string | undefined>): Promise<MediaAdmission> {
    return this.#deps.connect.admissions.admit(path, headers);
  }

  /** Ends calls that other processes have taken over because this one seemed dead. Never rejects. */
  endTakenCalls(store: Pick<Store, 'runs'>): Promise<void> {
    return this.#deps.remaining.endTakenCalls(store);
  }

  /** Accepts no new call and waits for the current ones; after `limitMs` they are ended. */
  async drain(limitMs: number): Promise<void> {
    const { intake, remaining } = this.#deps;
    await intake.drain(limitMs);
    await remaining.endAll();
    await this.pbxLines.stop();
    await this.textChats.stop();
    this.#deps.strandedStarts.stop();
    intake.stop();
    await remaining.flush();
  }
}
