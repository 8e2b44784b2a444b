// Composition root of the API process: the HTTP API, campaigns, work after calls, text chats and recovery. It holds no
// calls, so that none of this shares an event loop with audio; it sends requests to the call workers.

import type { TextChats } from '../call/chat/text-chat.ts';
import type { CompletedRun } from '../call/end/closing/run-closing.ts';
import { EventLog } from '../call/events/event-log.ts';
import { credentialHeadersFrom } from '../call/session/dialogue/tool-request.ts';
import { OrganizationModels } from '../call/start/setup/organization-speech.ts';
import { ClipLibrary } from '../call/start/setup/sound-library.ts';
import { relayAdoptions } from '../cluster/adopted-calls.ts';
import { CampaignRouter } from '../cluster/campaign-router.ts';
import type { IpcChannel } from '../cluster/ipc-channel.ts';
import { PBX_WORKER, runCompleted, SUPERVISOR } from '../cluster/ipc-message.ts';
import { relayFromWorkers } from '../cluster/live-relay.ts';
import { aggregateMetrics, sampleMetrics } from '../cluster/metrics-aggregation.ts';
import { examinedByWorker } from '../cluster/pbx-examination.ts';
import { collectServiceNotes } from '../cluster/service-notes.ts';
import { routeUpgrades } from '../cluster/upgrade-router.ts';
import type { Drainable } from '../cluster/worker-commands.ts';
import { WorkerDirectory } from '../cluster/worker-directory.ts';
import { WorkerRouter } from '../cluster/worker-router.ts';
import type { Config } from '../config.ts';
import { createGuardedHttp } from '../egress/guarded-http.ts';
import type { Log } from '../log.ts';
import { collectProcessMetrics, registry } from '../metrics/metrics.ts';
import type { SpeechServiceNames } from '../model/speech-services/services.ts';
import { closeAnswered } from '../runtime/http-closing.ts';
import {
  acceptMore,
  isListenHandle,
  type ListenHandle,
  listenOn,
} from '../runtime/listen-handle.ts';
import { LanguageModels } from '../speech/language-models.ts';
import type { LanguageModel } from '../speech/llm/llm.ts';
import { serviceStates } from '../speech/service/service-states.ts';
import { systemClock as clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import { systemRandom as random } from '../std/random.ts';
import { RecordingPeaks } from '../store/files/recording-peaks.ts';
import { openStore, type StoreHandle } from '../store/open.ts';
import { createProviders } from '../telephony/registry/registry.ts';
import { gatewayLabel, MediaTokenSigner } from '../transport/media-token.ts';
import { buildApi } from './api-server.ts';
import { BackgroundJobs } from './background-jobs.ts';
import { campaignPlanDeps, textChatsOf, withClosing } from './call-parts.ts';
import { type ClusterBus, openClusterBus } from './cluster-bus.ts';
import { OwnCondition, startConditionReport } from './condition-report.ts';
import { openExaminations } from './examinations.ts';
import { openForeignUpgrades } from './foreign-upgrades.ts';
import { openLineWatch } from './line-watch.ts';
import { type ForkedProcess, gatewayNode, nodeOptions } from './node-options.ts';
import { egressOf, openGatewayModel, STOP_MS_MAX } from './node-parts.ts';
import { Readiness } from './readiness.ts';
import { logEndingModels, logOversizedAgents, resealSecrets } from './startup-checks.ts';
import { SystemWatch } from './system-watch.ts';
import { onWebsocketUpgrade, withConsole } from './upgrades.ts';
import { startWatchdog } from './watchdog.ts';

/** Oldest report of a worker that counts: twice the interval of reports. A worker without one counts as missing. */
const REPORTS_MS_MAX = 1_000;
/** Handles of the listening socket: the process accepts that many new connections in a turn of its event loop.
 *  During a flood of connections, with one handle, a health probe on a new connection took 0.3 s p50 and 4.5 s p90
 *  (docs/decisions.md). */
const HANDLES = 8;

/** Starts the process; settles when the API listens. */
export async function startApiProcess(
  config: Config,
  log: Log,
  forked: ForkedProcess,
): Promise<Drainable> {
  collectProcessMetrics();
  const { link } = forked;
  const workers = new WorkerDirectory(link, { clock, gateway: gatewayNode(config) });
  const store = await openStore(await nodeOptions(config, log, forked));
  await resealSecrets(store, log);
  const deps = openDeps(config, store, log);
  const peaks = new RecordingPeaks(store.files);
  const { providers, events } = deps;
  const pbx = providers.pbx.map(({ name }) => name);
  const campaigns = new CampaignRouter(campaignPlanDeps(deps), workers, pbx);
  const jobs = new BackgroundJobs(config, { ...deps, ...deps.http }, campaigns);
  const readiness = readinessOf(store, workers);
  const cluster = await joinGateways(config, { deps, link, workers, jobs, readiness, peaks }, log);
  await jobs.recover();
  const watchWorker = relayFromWorkers(link, events.live, () => workers.numbers);
  workers.onJoined = (worker) => {
    watchWorker(worker);
    jobs.recoverNow();
  };
  const textChats = textChatsOf(deps);
  textChats.start();
  const condition = startConditionReport(config, {
    store,
    notReady: () => readiness.reasons,
    workers: () => workers.numbers.length,
    clock,
    log,
  });
  const watch = watchOf(config, { link, workers, readiness }, log);
  link.onNotification('announced', () => readiness.announced());
  link.onNotification('leaving', () => readiness.drain());
  const { random } = deps;
  const callService = new WorkerRouter({ store, providers, workers, clock, log, random });
  const examinations = openExaminations(config, { ...deps, callService, readiness }, log);
  const parts = {
    deps,
    link,
    workers,
    jobs,
    textChats,
    readiness,
    examinations,
    cluster,
    peaks,
    watch,
  };
  const api = await openApi(config, parts, log);
  const label = gatewayLabel(gatewayNode(config));
  const signer = new MediaTokenSigner(store.mediaKeys);
  const take = examinations.takeUpgrades(routeUpgrades(link, { workers, label, signer }));
  const foreign = openForeignUpgrades(config, {
    store,
    providers,
    hasApplication: (application) => workers.hasApplication(application),
    log,
  });
  onWebsocketUpgrade(api.server, withConsole(api, foreign.takeUpgrades(take)));
  const stallGuard = startWatchdog(config, log);
  const lines = openLineWatch(
    config,
    {
      store,
      providers: examinedByWorker(providers, workers),
      examinations: examinations.services.examinations,
      takesCalls: () => readiness.reasons.length === 0 && workers.takesCalls,
    },
    log,
  );
  const [handle, ...more] = await listenHandles(link);
  await workers.untilCount(config.workers, REPORTS_MS_MAX);
  if (handle === undefined) await api.listen({ host: config.host, port: config.port });
  else await listenOn(api.server, handle);
  cluster?.start();
  watch.start();
  const acceptors = await Promise.all(more.map((each) => acceptMore(api.server, each)));
  jobs.continueLeftCalls({
    answerAgain: (runId) => callService.answerAgain(runId),
    resume: (runId) => callService.resumeLeft(runId),
  });
  await jobs.dispatcher.start();
  lines.start();
  void logOversizedAgents(store, log);
  void logEndingModels(store, { clock, log });

  return {
    async drain() {
      readiness.drain();
      await Promise.all([jobs.drain(), lines.stop(), foreign.drain(config.drainMs)]);
    },
    close: () => withDeadline(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    readiness.close();
    cluster?.close();
    await Promise.all([condition?.stop(), watch.stop(), lines.stop()]);
    await stallGuard?.stop();
    await examinations.close();
    foreign.close();
    await closeAnswered(api.server, acceptors, { clock, close: () => api.close() });
    await textChats.stop();
    await jobs.close();
    await events.flush();
    await deps.http.outside.close();
    await deps.languageModels.close();
    await store.close();
  }
}

interface ApiParts {
  deps: ReturnType<typeof openDeps>;
  link: IpcChannel;
  workers: WorkerDirectory;
  jobs: BackgroundJobs;
  textChats: TextChats;
  readiness: Readiness;
  examinations: ReturnType<typeof openExaminations>;
  cluster: ClusterBus | undefined;
  peaks: RecordingPeaks;
  watch: SystemWatch;
}

/** Joins the other gateways, if there is a Redis for it, and passes on what concerns them. */
async function joinGateways(
  config: Config,
  parts: Pick<ApiParts, 'deps' | 'link' | 'workers' | 'jobs' | 'readiness' | 'peaks'>,
  log: Log,
): Promise<ClusterBus | undefined> {
  const { deps, link, workers, jobs, readiness } = parts;
  let cluster: ClusterBus | undefined;
  const noteCompleted = (completed: CompletedRun): void => {
    jobs.noteCompleted(completed);
    cluster?.notes.completed();
  };
  deps.closing.onCompleted = noteCompleted;
  link.onNotification('completed', (body) => noteCompleted(runCompleted.parse(body)));
  const adoptions = relayAdoptions(
    link,
    (node) => workers.numberOf(node),
    (call) => cluster?.notes.adopted(call), // Without Redis, the other process looks in the store.
  );
  cluster = await openClusterBus(config, {
    store: deps.store,
    link,
    workers,
    live: deps.events.live,
    peaks: parts.peaks,
    here: {
      onCampaignDue: () => jobs.dispatcher.wake(),
      onTelephonyChanged: () => void link.notify(PBX_WORKER, 'pbx-wake', {}),
      onCompleted: () => jobs.dispatcher.noteCompleted(),
      onPaused: (...paused) => jobs.dispatcher.notePause(...paused),
      onAdopted: (call) => void adoptions.deliver(call),
    },
    isLeaving: () => readiness.isDraining,
    log,
  });
  jobs.dispatcher.onPaused = (...paused) => cluster?.notes.paused(...paused);
  return cluster;
}

function openApi(config: Config, parts: ApiParts, log: Log): ReturnType<typeof buildApi> {
  const { deps, link, workers, jobs, textChats, readiness, examinations, cluster, watch } = parts;
  const { store, providers, llm, models, egress, events } = deps;
  return buildApi(
    config,
    {
      store,
      providers: examinedByWorker(providers, workers),
      llm,
      models,
      egress,
      live: events.live,
      peaks: parts.peaks,
      peaksElsewhere: cluster && ((...wanted) => cluster.peaksAt(...wanted)),
      ...examinations.services,
      notReady: () => readiness.reasons,
      system: watch,
      figures: () =>
        aggregateMetrics(link, { registry, others: [SUPERVISOR, ...workers.numbers], log }),
      onCampaignDue: () => {
        jobs.dispatcher.wake();
        cluster?.notes.campaignDue();
      },
      onTelephonyChanged: () => {
        link.notify(PBX_WORKER, 'pbx-wake', {});
        cluster?.notes.telephonyChanged();
      },
      areOthersReporting: () => cluster?.isUp() === true,
      toolRequests: { ...deps.http, clock },
      textChats,
      sounds: new ClipLibrary({
        store,
        files: store.files,
        isRemote: store.s3 !== undefined,
        clock,
        log,
      }),
      services: serviceNames(llm, workers),
    },
    log,
  );
}

/** Watches all processes of this gateway. */
function watchOf(
  config: Config,
  { link, workers, readiness }: Pick<ApiParts, 'link' | 'workers' | 'readiness'>,
  log: Log,
): SystemWatch {
  const own = new OwnCondition(config, {
    notReady: () => readiness.reasons,
    workers: () => workers.numbers.length,
  });
  return new SystemWatch({
    condition: () => own.read(),
    sample: (names) => {
      const others = [SUPERVISOR, ...workers.numbers];
      return sampleMetrics(link, { registry, others, log }, names);
    },
    notes: () => collectServiceNotes(link, { own: serviceStates, others: workers.numbers, log }),
    clock,
    log,
  });
}

/** Services of agents without settings. */
function serviceNames(
  llm: LanguageModel | undefined,
  workers: WorkerDirectory,
): SpeechServiceNames {
  return {
    llm: llm === undefined ? 'scripted' : 'openai',
    get stt() {
      return workers.stt === null ? null : 'pocketsphinx';
    },
    tts: 'flite',
  };
}

/** Opens the dependencies other than calls. */
function openDeps(config: Config, store: StoreHandle, log: Log) {
  const egress = egressOf(config);
  const llm = openGatewayModel(config, log);
  const languageModels = new LanguageModels(llm, { clock, log, egress });
  return withClosing({
    store,
    files: store.spool,
    providers: createProviders({ clock, random, egress }),
    egress,
    events: new EventLog({ sink: store.runs, clock, log }),
    clock,
    random,
    log,
    llm,
    languageModels,
    models: new OrganizationModels({ store, models: languageModels, random, log }),
    http: {
      outside: createGuardedHttp(egress),
      credentialHeaders: credentialHeadersFrom(store),
    },
    publicUrl: config.publicUrl,
    prices: config.prices,
  });
}

function readinessOf(store: StoreHandle, workers: WorkerDirectory): Readiness {
  const calls = {
    get isThere() {
      return workers.numbers.length > 0;
    },
    get takesCalls() {
      return workers.takesCalls;
    },
  };
  return new Readiness({ clock, isDatabaseThere: () => store.alive(), calls });
}

/** Handles of the socket to listen on, once the workers serve; empty if no socket can be shared. */
async function listenHandles(link: IpcChannel): Promise<ListenHandle[]> {
  const handles: ListenHandle[] = [];
  while (handles.length < HANDLES) {
    const handle = await listenHandle(link);
    if (handle === undefined) break;
    handles.push(handle);
  }
  return handles;
}

function listenHandle(link: IpcChannel): Promise<ListenHandle | undefined> {
  return new Promise((resolve) => {
    link.onNotification('listen', (_, { handle }) =>
      resolve(isListenHandle(handle) ? handle : undefined),
    );
    link.notify(SUPERVISOR, 'listener', {});
  });
}
