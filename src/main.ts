// The composition root: the only file that knows every room. Read top to bottom to see the system.

import { readFileSync } from 'node:fs';
import { createAccess } from './api/http/access.ts';
import type { Api } from './api/http/api-deps.ts';
import { EventStreams, STREAM_LIFE_MS } from './api/http/event-streams.ts';
import { buildServer } from './api/server.ts';
import { startCallWorker } from './app/call-worker.ts';
import {
  gatewayNode,
  openGatewayParts,
  openMediaEndpoints,
  STOP_MS_MAX,
  type Worker,
} from './app/gateway-parts.ts';
import { type FirstApiKey, supervise } from './app/supervisor.ts';
import { PostCallDispatcher } from './call/after/post-call-dispatcher.ts';
import type { CallService } from './call/call-service.ts';
import { CallControl } from './call/control/call-control.ts';
import { CrashRecovery } from './call/control/crash-recovery.ts';
import type { ToolRequestDeps } from './call/http/tool-request.ts';
import type { LiveWatchers } from './call/log/live-watchers.ts';
import { logOversizedAgents } from './call/setup/oversized-agents.ts';
import type { ClipLibrary } from './call/setup/sound-library.ts';
import { syncNext } from './campaign/contact-sync.ts';
import { Dispatcher } from './campaign/dispatcher.ts';
import { IpcChannel } from './cluster/ipc-channel.ts';
import { FRONT, SUPERVISOR } from './cluster/ipc-message.ts';
import { relayFromWorkers } from './cluster/live-relay.ts';
import { aggregateMetrics, shareMetrics } from './cluster/metrics-aggregation.ts';
import { supervisorTransport } from './cluster/process-transport.ts';
import { handOffSocket } from './cluster/socket-handoff.ts';
import { type Drainable, followSupervisor } from './cluster/worker-commands.ts';
import { WorkerDirectory } from './cluster/worker-directory.ts';
import { WorkerRouter } from './cluster/worker-router.ts';
import { workerIn } from './cluster/worker-supervisor.ts';
import { type Config, readConfig } from './config.ts';
import { codeOf, GatewayError } from './errors/gateway-error.ts';
import { createLog, type Log } from './log.ts';
import { metricsText } from './metrics/exposition.ts';
import { registry, setBuildInfo } from './metrics/metrics.ts';
import { withOldNames } from './metrics/old-names.ts';
import { tuneGarbageCollection } from './runtime/gc-tuning.ts';
import { reportSelfTest } from './runtime/self-test-report.ts';
import { raiseEventLoopPriority } from './runtime/thread-priority.ts';
import { systemClock as clock } from './std/clock.ts';
import { withDeadline } from './std/deadline.ts';
import { systemRandom as random } from './std/random.ts';
import type { StoreHandle } from './store/open.ts';
import type { Providers } from './telephony/registry/registry.ts';
import { WorkflowGenerator } from './workflow/authoring/agent-writer.ts';

interface Started extends Drainable {
  accounts: FirstApiKey;
}

/** A whole gateway, or the worker that is its front: with the API and everything that is done once. */
async function start(config: Config, log: Log, worker: Worker | undefined): Promise<Started> {
  const link = worker?.link;
  const open = await openGatewayParts(config, log, worker);
  const { store, providers, speech } = open;
  const resealed = await store.resealSecrets();
  if (resealed > 0) log.info({ configurations: resealed }, 'secrets are sealed by the newest key');
  const onCompleted = (): void => {
    dispatcher.wake();
    afterCall.wake();
  };
  link?.onNotification('completed', onCompleted);
  const callDeps = open.calls;
  callDeps.closing.onCompleted = onCompleted;
  const switchboard = new CallControl(callDeps);
  const recovery = new CrashRecovery(callDeps);
  const dispatcher: Dispatcher = new Dispatcher({
    store,
    calls: switchboard.campaignCalls,
    node: store.node,
    clock,
    random,
    log,
    syncNext: (signal) => syncNext({ store, files: store.files, log }, signal),
    interruptedExtra: config.interruptedCallsExtra,
  });
  const afterCall = new PostCallDispatcher(callDeps);
  await recovery.start();
  afterCall.start();
  switchboard.textChats.start();

  const media = await openMediaEndpoints(providers, switchboard, log);
  const { live } = callDeps.events;
  const front = link && openFront(config, link, { store, switchboard, live, log });
  const toolRequests = callDeps;
  const { sounds } = callDeps;
  const parts = { store, providers, speech, toolRequests, sounds, switchboard, dispatcher, live };
  const api = await buildApi(config, { ...parts, front, log });
  api.server.on('upgrade', (request, socket, head) => {
    const isTaken =
      (link !== undefined && handOffSocket(link, request, socket, head)) ||
      media.handleUpgrade(request, socket, head) ||
      providers.pbx.some(({ pbx }) => pbx.takeUpgrade(request, socket, head));
    if (!isTaken) socket.destroy();
  });
  await api.listen({ host: config.host, port: config.port });
  await switchboard.pbxLines.start();
  await dispatcher.start();
  void logOversizedAgents(store, log);

  return {
    accounts: store.accounts,
    async drain() {
      recovery.stop();
      await dispatcher.stop();
      await switchboard.drain(config.drainMs);
    },
    close: () => withDeadline(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    await open.closeMedia(media);
    await api.close();
    await afterCall.stop();
    await open.close();
  }
}

interface Front {
  desk: CallService;
  figures: () => Promise<string>;
}

/** The front's way to the other workers. */
function openFront(
  config: Config,
  link: IpcChannel,
  open: { store: StoreHandle; switchboard: CallControl; live: LiveWatchers; log: Log },
): Front {
  const { store, switchboard, live, log } = open;
  const others = new WorkerDirectory(link, { clock, gateway: gatewayNode(config) });
  others.onJoined = relayFromWorkers(link, live, () => others.numbers);
  return {
    desk: new WorkerRouter(store, switchboard, others),
    figures: () => {
      const told = [SUPERVISOR, ...others.numbers];
      return aggregateMetrics(link, { registry, others: told, log });
    },
  };
}

/** The API over everything that is open. */
function buildApi(
  config: Config,
  open: {
    store: StoreHandle;
    providers: Providers;
    speech: Awaited<ReturnType<typeof openGatewayParts>>['speech'];
    toolRequests: ToolRequestDeps;
    sounds: ClipLibrary;
    switchboard: CallControl;
    dispatcher: Dispatcher;
    live: LiveWatchers;
    front: Front | undefined;
    log: Log;
  },
): Promise<Api> {
  const { store, providers, speech, toolRequests, sounds, switchboard, dispatcher, live, log } =
    open;
  const { front } = open;
  return buildServer({
    store,
    files: store.files,
    links: store.links,
    access: createAccess({
      clock,
      random,
      isSignUpOpen: config.isSignUpOpen,
      tokenKeys:
        config.tokenSecret === undefined ? store.tokenKeys : [Buffer.from(config.tokenSecret)],
      tokenHours: config.tokenHours,
    }),
    desk: front?.desk ?? switchboard,
    figures: metricsOf(config, front),
    onCampaignDue: () => dispatcher.wake(),
    onTelephonyChanged: () => void switchboard.pbxLines.wake(),
    toolRequests,
    streams: new EventStreams({ clock, live, lifeMs: STREAM_LIFE_MS }),
    textChats: switchboard.textChats,
    sounds,
    writer: new WorkflowGenerator({ llm: speech.llm, clock }),
    log,
    clock,
    random,
    providerByName: (name) => providers.byName(name),
    services: {
      llm: speech.llm === undefined ? 'scripted' : 'openai',
      stt: speech.stt === undefined ? null : 'pocketsphinx',
      tts: 'flite',
    },
    devopsSecret: config.devopsSecret,
    policy: speech.llm === undefined ? 'scripted' : 'model',
    publicUrl: config.publicUrl,
    version: ownVersion(),
    deploymentMode: config.deploymentMode,
    authProvider: config.authProvider,
    trustedProxies: config.trustedProxies,
    corsOrigins: '*',
  });
}

/** The text of /metrics: of all processes, or of this one. */
function metricsOf({ oldMetricNames }: Config, front: Front | undefined): () => Promise<string> {
  const figures = front?.figures ?? (() => metricsText(registry));
  return oldMetricNames ? async () => withOldNames(await figures()) : figures;
}

/** For people at the terminal: where it listens, where its data lies, and once the first key. */
async function announce(config: Config, accounts: FirstApiKey): Promise<void> {
  const lines = [`Patchbay listens on ${config.publicUrl} (docs at ${config.publicUrl}/docs)`];
  if (config.databaseUrl === undefined) lines.push(`Data folder: ${config.dataFolder}`);
  const first = await accounts.ensureFirst();
  if (first !== undefined) lines.push(`First API key (shown once): ${first.apiKey}`);
  process.stderr.write(`${lines.join('\n')}\n`);
}

function ownVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

/** The first signal drains, the second stops at once. */
function stopOnSignals(stop: () => Promise<void>, log: Log): void {
  let stopping = false;
  const onSignal = (signal: string): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function main(): Promise<void> {
  const config = readConfig();
  setBuildInfo(ownVersion());
  const place = workerIn(process.argv);
  const log = createLog(config.log).child(place === undefined ? {} : { worker: place.number });
  reportSelfTest(log, 'thread-priority', raiseEventLoopPriority());
  reportSelfTest(log, 'gc-tuning', tuneGarbageCollection());
  // A fault that no call could be blamed for: the process is not to be trusted any more.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error, the gateway stops');
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  if (place !== undefined) return work(config, log, place);
  if (config.workers > 1) {
    const { accounts, stop } = await supervise(config, log);
    await announce(config, accounts);
    stopOnSignals(stop, log);
    return;
  }
  const { accounts, drain, close } = await start(config, log, undefined);
  await announce(config, accounts);
  stopOnSignals(() => drain().then(close), log);
}

/** One of several workers. */
async function work(
  config: Config,
  log: Log,
  { number, epoch }: { number: number; epoch: string },
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
  const channel = supervisorTransport(() => process.exit(1));
  const link = new IpcChannel(number, channel, { clock, log });
  shareMetrics(link, registry);
  const worker = { link, epoch };
  const serving =
    number === FRONT
      ? await start(config, log, worker)
      : await startCallWorker(config, log, worker);
  followSupervisor(link, serving, (error) => {
    if (error !== undefined) log.error({ err: error }, 'stop failed');
    process.exit(error === undefined ? 0 : 1);
  });
}

main().catch((error: unknown) => {
  const known = codeOf(error) !== undefined && error instanceof GatewayError;
  process.stderr.write(`${known ? `${error.code}: ${error.message}` : String(error)}\n`);
  process.exit(1);
});
