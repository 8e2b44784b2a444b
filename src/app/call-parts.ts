// Assembles the call folders, in every process that holds calls or closes runs, and in tests. Each folder gets its part
// of `CallParts`; nothing below app/ gets the whole.

import { CallControl } from '../call/call-control.ts';
import { ChatPlanner } from '../call/chat/chat-planner.ts';
import { TextChats } from '../call/chat/text-chat.ts';
import { TextChatWork } from '../call/chat/text-chat-work.ts';
import { CallResumptions } from '../call/end/call-resumption.ts';
import { ProviderHangUp, type ProviderHangUpDeps } from '../call/end/closing/provider-hang-up.ts';
import { RunClosing, type RunClosingDeps } from '../call/end/closing/run-closing.ts';
import { UnconnectedCalls } from '../call/end/closing/unconnected-calls.ts';
import { HangUpRequests } from '../call/end/hang-up.ts';
import { RemainingCalls } from '../call/end/remaining-calls.ts';
import type { EventLog } from '../call/events/event-log.ts';
import type { ConnectServices } from '../call/media/connect-services.ts';
import { DirectMedia } from '../call/media/direct-media.ts';
import { MediaAdmissions } from '../call/media/media-admission.ts';
import { MediaAdoptions } from '../call/media/media-adoption.ts';
import { SessionStarts } from '../call/media/session-start.ts';
import { TransferDestinations } from '../call/media/transfer-legs.ts';
import { CallRegistry } from '../call/session/call-registry.ts';
import { DigitRequests } from '../call/session/send-digits.ts';
import { CallActions } from '../call/start/call-actions.ts';
import { CallAdoptions, FormerCalls } from '../call/start/call-adoption.ts';
import { CallConfirmation } from '../call/start/call-confirmation.ts';
import { CallIntake } from '../call/start/call-intake.ts';
import { CallPlanner } from '../call/start/call-planner.ts';
import { CallPreparation } from '../call/start/call-preparation.ts';
import { InboundRuns } from '../call/start/inbound/inbound-run.ts';
import { InboundWebhooks } from '../call/start/inbound/inbound-webhook.ts';
import { LeftAnswers } from '../call/start/inbound/left-answers.ts';
import { PbxConnections } from '../call/start/inbound/pbx-connections.ts';
import { type PbxProcesses, PbxShares } from '../call/start/inbound/pbx-shares.ts';
import { WebCalls } from '../call/start/inbound/web-calls.ts';
import { MediaWatchdog } from '../call/start/media-watchdog.ts';
import { CampaignCalls, CampaignWords } from '../call/start/outbound/campaign-calls.ts';
import type { CampaignPlanDeps } from '../call/start/outbound/campaign-plans.ts';
import { DialRecord, ProviderDial, RunDialler } from '../call/start/outbound/dial.ts';
import { AccountPace, DialPace } from '../call/start/outbound/dial-pace.ts';
import { IdempotentStarts } from '../call/start/outbound/idempotent-starts.ts';
import { OutboundRoutes } from '../call/start/outbound/outbound-route.ts';
import { StrandedStarts } from '../call/start/outbound/stranded-starts.ts';
import type { CallServices, LanguageModelSource } from '../call/start/setup/call-services.ts';
import { PreCallFetches } from '../call/start/setup/pre-call-fetch.ts';
import type { ClipLibrary } from '../call/start/setup/sound-library.ts';
import { HostedWaits } from '../call/start/waiting/hosted-waits.ts';
import { PbxWaits } from '../call/start/waiting/pbx-waits.ts';
import { WaitingLine } from '../call/start/waiting-line.ts';
import { AnsweredCalls } from '../call/webhooks/answered-calls.ts';
import { ProviderEvents } from '../call/webhooks/provider-event.ts';
import { TransferResults } from '../call/webhooks/transfer-results.ts';
import { WebhookVerifier } from '../call/webhooks/webhook-verifier.ts';
import type { CredentialHeaders, GuardedHttp } from '../egress/guarded-http.ts';
import type { Log } from '../log.ts';
import type { PriceTable } from '../model/price-table.ts';
import type { LoadLimits, LoadMeter } from '../runtime/process-load.ts';
import type { Clock } from '../std/clock.ts';
import type { Random } from '../std/random.ts';
import type { Spool } from '../store/files/file-store.ts';
import type { Store } from '../store/store.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import type { MediaTokenStore } from '../transport/media-token-store.ts';

/** Resources that a process has opened for its calls. */
export interface OpenedForCalls {
  store: Store;
  /** Files on this gateway's disk, where calls write theirs. */
  files: Spool;
  providers: Providers;
  events: EventLog;
  services: CallServices;
  sounds: ClipLibrary;
  /** HTTP client for an organization's own servers: webhooks, tools, variables before a call. */
  http: { outside: GuardedHttp; credentialHeaders: CredentialHeaders };
  tokens: MediaTokenStore;
  /** Label of this gateway in media tokens. */
  gatewayLabel: string;
  /** The public URL without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
  /** Price table; undefined: runs have no cost. */
  prices?: PriceTable | undefined;
  /** Load meter and limits; undefined: calls are accepted at any load. */
  load?: { meter: LoadMeter; limits: LoadLimits } | undefined;
  /** The processes that share the calls of PBXs; undefined: this one has them all. */
  pbxProcesses?: PbxProcesses | undefined;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface CallParts extends OpenedForCalls {
  closing: RunClosing;
  hangUps: ProviderHangUp;
}

/** Adds what a process needs to close runs, whether it holds calls or not. */
export function withClosing<P extends RunClosingDeps & ProviderHangUpDeps>(
  parts: P,
): P & { closing: RunClosing; hangUps: ProviderHangUp } {
  return Object.assign(parts, {
    closing: new RunClosing(parts),
    hangUps: new ProviderHangUp(parts),
  });
}

export function createCallControl(parts: CallParts): CallControl {
  const { store, providers, events, hangUps, clock, log, random } = parts;
  const { publicUrl } = parts;
  const line: WaitingLine = new WaitingLine({
    ...parts,
    takesCalls: () => intake.refusal() === undefined,
  });
  const connect = connectServices(parts, line);
  const { registry } = connect;
  const onLoop = (busy: number): void => parts.services.mediaClock.setLoad(busy);
  const intake = new CallIntake({ registry, onLoop, load: parts.load, clock, log });
  const runs = new InboundRuns({ ...parts, line });
  const waits = new HostedWaits({
    store,
    providers,
    line,
    connect,
    publicUrl,
    random,
    clock,
    log,
  });
  const pbxWaits = new PbxWaits({ line, clock, log });
  const plans = campaignPlanDeps(parts);
  const dial = new ProviderDial({ ...parts, record: plans.record });
  const routes = new OutboundRoutes(parts);
  const dialler = new RunDialler({
    store,
    dial,
    pace: new AccountPace({ store, clock }),
    connect,
    log,
  });
  const resumptions = new CallResumptions({ ...parts, connect });
  const ofPbxs = {
    store,
    providers,
    calls: { store, runs, connect, resumptions, hangUps, waits: pbxWaits, clock, log },
    refusal: () => intake.refusal(),
    processes: parts.pbxProcesses,
    clock,
    log,
  };
  const pbxLines = new PbxConnections(ofPbxs);
  const pbxShares = new PbxShares(ofPbxs);
  intake.pbxCalls = () => pbxLines.busy + pbxShares.busy;
  const textChats = textChatsOf({ ...parts, models: parts.services.speech });
  const campaignCalls = new CampaignCalls({
    plans,
    store,
    dial,
    pace: new DialPace(clock),
    words: new CampaignWords(parts),
    connect,
    takesCalls: () => intake.refusal() === undefined,
  });
  const strandedStarts = new StrandedStarts({ ...parts, connect });
  return new CallControl({
    intake,
    connect,
    starts: new IdempotentStarts({ store, routes, random, dialler, stranded: strandedStarts }),
    hangUps: new HangUpRequests({ ...parts, registry, unconnected: connect.unconnected }),
    digits: new DigitRequests({ store, registry, hangUps, clock }),
    inboundWebhooks: new InboundWebhooks({
      store,
      providers,
      runs,
      waits,
      connect,
      clock,
      random,
      log,
    }),
    hostedWaits: waits,
    pbxWaits,
    leftAnswers: new LeftAnswers({ store, providers, runs, connect, clock, log }),
    campaignCalls,
    textChats,
    pbxLines,
    pbxShares,
    clock,
    strandedStarts,
    webCalls: new WebCalls({ ...parts, runs, connect }),
    remaining: new RemainingCalls({ connect, events, clock, log }),
    resumptions,
  });
}

/** Dependencies for planning a campaign's calls, which any process may do. */
export function campaignPlanDeps(
  parts: Pick<CallParts, 'store' | 'providers' | 'random' | 'events' | 'hangUps' | 'clock' | 'log'>,
): CampaignPlanDeps {
  const { store, hangUps, clock, log } = parts;
  const record = new DialRecord(parts);
  return { store, routes: new OutboundRoutes(parts), record, hangUps, clock, log };
}

export interface TextChatParts
  extends Pick<CallParts, 'store' | 'events' | 'closing' | 'http' | 'clock' | 'random' | 'log'> {
  models: LanguageModelSource;
}

/** Text chats, which any process may hold. */
export function textChatsOf(parts: TextChatParts): TextChats {
  const { store, clock, random, log } = parts;
  const planner = new ChatPlanner(parts);
  const work = new TextChatWork(parts);
  return new TextChats({ store, planner, work, clock, random, log });
}

function connectServices(parts: CallParts, line: WaitingLine): ConnectServices {
  const { store, files, providers, events, closing, hangUps, tokens, publicUrl } = parts;
  const { services, sounds, http, clock, random, log } = parts;
  const registry = new CallRegistry();
  const unconnected = new UnconnectedCalls({ store, closing, hangUps, list: registry, clock, log });
  const watchdog = new MediaWatchdog({ store, events, registry, unconnected, clock, log });
  const fetches = new PreCallFetches({ store, events, http, clock, log });
  const adoptions = new CallAdoptions({ store, events, log });
  const planner = new CallPlanner({ store, services, sounds, fetches, adoptions, clock, log });
  const actions = new CallActions({ clock, log });
  const verifier = new WebhookVerifier({ store, clock, log });
  const confirmation = new CallConfirmation({ clock, log });
  const preparation = new CallPreparation({
    planner,
    registry,
    unconnected,
    tokens,
    actions,
    clock,
    log,
    publicUrl,
  });
  const providerEvents = new ProviderEvents({
    store,
    providers,
    events,
    registry,
    clock,
    log,
    preparation,
    unconnected,
    watchdog,
    verifier,
    confirmation,
    line,
  });
  const transferResults = new TransferResults({
    store,
    events,
    registry,
    hangUps,
    providerEvents,
    confirmation,
    clock,
    log,
  });
  const transfers = new TransferDestinations({
    results: transferResults,
    actions,
    tokens,
    random,
    publicUrl,
    clock,
    log,
  });
  const session = { services, http, closing, hangUps, transferLegs: transfers };
  const starts = new SessionStarts({
    store,
    files,
    events,
    registry,
    session: { ...session, publicUrl, random, clock, log },
  });
  return {
    registry,
    planner,
    adoptions,
    former: new FormerCalls({ store, registry, watchdog, tokens, clock, log }),
    unconnected,
    watchdog,
    actions,
    verifier,
    confirmation,
    preparation,
    answered: new AnsweredCalls({ watchdog, preparation, actions, log }),
    admissions: new MediaAdmissions({
      registry,
      starts,
      tokens,
      adoptions: new MediaAdoptions({
        store,
        providers,
        adoptions,
        preparation,
        label: parts.gatewayLabel,
      }),
      unconnected,
      transfers,
      direct: new DirectMedia({ tokens, events, clock, log }),
      publicUrl,
      clock,
      log,
    }),
    providerEvents,
    transferResults,
    transfers,
  };
}
