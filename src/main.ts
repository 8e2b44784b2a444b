// The composition root: the only file that knows every room. Read top to bottom to see the system.

import { readFileSync } from 'node:fs';
import { createAccess } from './api/access.ts';
import type { Api } from './api/deps.ts';
import { EventStreams, STREAM_LIFE_MS } from './api/event-streams.ts';
import { buildServer } from './api/server.ts';
import { loadVad } from './audio/vad-loader.ts';
import { addressGuard } from './call/address-guard.ts';
import { AfterCall } from './call/after-call.ts';
import { AgentWriter } from './call/agent-writer.ts';
import { credentialHeadersFrom } from './call/credential-headers.ts';
import type { CallDeps } from './call/deps.ts';
import { EventLog } from './call/event-log.ts';
import type { LiveCalls } from './call/live.ts';
import { createOutside } from './call/outside.ts';
import { Recovery } from './call/recovery.ts';
import { SoundLibrary } from './call/sound-library.ts';
import { Switchboard } from './call/switchboard.ts';
import type { ToolRequestDeps } from './call/tool-request.ts';
import { Dispatcher } from './campaign/dispatcher.ts';
import { syncNext } from './campaign/sync.ts';
import { type Config, readConfig } from './config.ts';
import { codeOf, GatewayError } from './errors.ts';
import { createLog, type Log } from './log.ts';
import { collectProcessMetrics } from './metrics.ts';
import { MediaClock } from './pipeline/media-clock.ts';
import { openLanguageModel } from './speech/llm/registry.ts';

import { openSpeechToText } from './speech/stt/registry.ts';
import type { SpeechToText } from './speech/stt/stt.ts';
import { openTextToSpeech } from './speech/tts/registry.ts';
import { systemClock as clock } from './std/clock.ts';
import { within } from './std/deadline.ts';
import { systemRandom as random } from './std/random.ts';
import { guardAgainstStalls } from './std/stall-guard.ts';
import { type OpenStore, openStore } from './store/open.ts';
import type { PacketMedia } from './telephony/ari/packet-carriers.ts';
import { createProviders, type Providers } from './telephony/registry.ts';
import { createAudioSocketServer } from './transport/audiosocket.ts';
import { CLOSE } from './transport/media-socket.ts';
import { createRtpPorts } from './transport/rtp.ts';
import { createMediaTokens } from './transport/token.ts';
import { createMediaServer, type MediaServer } from './transport/websocket.ts';

/** A stop that takes longer than this after the calls are drained is cut short. */
const STOP_MS_MAX = 15_000;

async function start(config: Config, log: Log): Promise<() => Promise<void>> {
  collectProcessMetrics();
  const store = await openStore({
    dataFolder: config.dataFolder,
    databaseUrl: config.databaseUrl,
    secrets: { keys: config.secretKeys },
    callLimit: config.callLimit,
    clock,
    random,
    log,
  });
  const resealed = await store.resealSecrets();
  if (resealed > 0) log.info({ configurations: resealed }, 'secrets are sealed by the newest key');
  const speech = await openSpeech(config, log);
  const onCompleted = (): void => {
    dispatcher.wake();
    afterCall.wake();
  };
  const packets = await openPacketMedia(config, log);
  const providers = createProviders({ clock, random, packets });
  const callDeps = { ...openCalls(config, { store, providers, speech, log }), onCompleted };
  const switchboard = new Switchboard(callDeps);
  const recovery = new Recovery(callDeps, store.node);
  const dispatcher: Dispatcher = new Dispatcher({
    store,
    calls: switchboard.campaignCalls,
    node: store.node,
    clock,
    random,
    log,
    syncNext: (signal) => syncNext({ store, files: store.files, log }, signal),
  });
  const afterCall = new AfterCall(callDeps);
  await recovery.start();
  afterCall.start();
  switchboard.textChats.start();

  const media = openMediaDoors(providers, switchboard, log);
  const api = await buildApi(config, {
    store,
    providers,
    speech,
    toolRequests: callDeps,
    sounds: callDeps.sounds,
    switchboard,
    dispatcher,
    live: callDeps.events.live,
    log,
  });
  api.server.on('upgrade', (request, socket, head) => {
    const isTaken =
      media.handleUpgrade(request, socket, head) ||
      providers.pbx.some(({ pbx }) => pbx.takeUpgrade(request, socket, head));
    if (!isTaken) socket.destroy();
  });
  await api.listen({ host: config.host, port: config.port });
  await switchboard.pbxLines.start();
  await dispatcher.start();
  await announce(config, store.accounts);
  const stallGuard = config.stallMs > 0 ? guardAgainstStalls(config.stallMs, clock) : undefined;

  return async () => {
    recovery.stop();
    await dispatcher.stop();
    await switchboard.drain(config.drainMs);
    await within(clock, STOP_MS_MAX, 'stop', closeAll());
  };

  async function closeAll(): Promise<void> {
    await stallGuard?.stop();
    await media.close(CLOSE.goingAway);
    await closePacketMedia(packets);
    await api.close();
    await afterCall.stop();
    await callDeps.outside.close();
    callDeps.mediaClock.close();
    await Promise.all([speech.tts.close(), speech.stt?.close(), speech.llm?.close()]);
    await store.close();
  }
}

/** Where media sockets come in: those of hosted providers by their path, those of PBXs by what they say. */
function openMediaDoors(providers: Providers, switchboard: Switchboard, log: Log): MediaServer {
  return createMediaServer({
    clock,
    log,
    authorize: (path, headers) => switchboard.admit(path, headers),
    doors: new Map(
      providers.pbx.map(({ name, pbx }) => [name, (socket) => pbx.takeSocket(socket)]),
    ),
  });
}

/** Where PBXs without media websockets bring the audio of calls. */
async function openPacketMedia(config: Config, log: Log): Promise<PacketMedia> {
  const { host, audioSocketPort, rtpPorts } = config.media;
  const at = { host: config.host, clock, log };
  const rtp = createRtpPorts({ ...at, ports: rtpPorts, random });
  if (audioSocketPort === undefined) return { host, rtp, audioSockets: undefined };
  const audioSockets = createAudioSocketServer({ ...at, port: audioSocketPort });
  await audioSockets.listen();
  return { host, rtp, audioSockets };
}

async function closePacketMedia({ rtp, audioSockets }: PacketMedia): Promise<void> {
  rtp.close();
  await audioSockets?.close();
}

/** What calls are made from. */
function openCalls(
  config: Config,
  open: {
    store: OpenStore;
    providers: Providers;
    speech: Awaited<ReturnType<typeof openSpeech>>;
    log: Log;
  },
): Omit<CallDeps, 'onCompleted'> {
  const { store, providers, speech, log } = open;
  return {
    ...speech,
    store,
    providers,
    files: store.files,
    events: new EventLog({ sink: store.runs, clock, log }),
    mediaClock: new MediaClock(clock),
    sounds: new SoundLibrary({ store, files: store.files, clock, log }),
    tokens: createMediaTokens({ clock, random }),
    clock,
    random,
    log,
    outside: createOutside(addressGuard(config.outsideAllowed)),
    credentialHeaders: credentialHeadersFrom(store),
    publicUrl: config.publicUrl,
  };
}

/** The API over everything that is open. */
function buildApi(
  config: Config,
  open: {
    store: OpenStore;
    providers: Providers;
    speech: Awaited<ReturnType<typeof openSpeech>>;
    toolRequests: ToolRequestDeps;
    sounds: SoundLibrary;
    switchboard: Switchboard;
    dispatcher: Dispatcher;
    live: LiveCalls;
    log: Log;
  },
): Promise<Api> {
  const { store, providers, speech, toolRequests, sounds, switchboard, dispatcher, live, log } =
    open;
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
    desk: switchboard,
    onCampaignDue: () => dispatcher.wake(),
    onTelephonyChanged: () => void switchboard.pbxLines.wake(),
    toolRequests,
    streams: new EventStreams({ clock, live, lifeMs: STREAM_LIFE_MS }),
    textChats: switchboard.textChats,
    sounds,
    writer: new AgentWriter({ llm: speech.llm, clock }),
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

async function openSpeech(config: Config, log: Log) {
  const vad = loadVad(clock);
  const [tts, stt] = await Promise.all([
    openTextToSpeech({ service: 'flite', voice: config.voice }, { clock, log }),
    openRecogniser(config.stt, log),
  ]);
  const models =
    config.model === undefined
      ? []
      : [
          {
            service: 'openai' as const,
            baseUrl: config.model.baseUrl,
            apiKey: config.model.apiKey,
            model: config.model.name,
          },
        ];
  const llm = openLanguageModel(models, { clock, log });
  return { vad, tts, stt, llm, voice: config.voice };
}

/** Throws STT_UNAVAILABLE if the one that was asked for is not installed. */
async function openRecogniser(wanted: Config['stt'], log: Log): Promise<SpeechToText | undefined> {
  if (wanted === 'none') return undefined;
  const stt = await openSpeechToText({ service: 'pocketsphinx' }, { clock, log });
  if (stt === undefined && wanted !== 'auto') {
    throw new GatewayError('STT_UNAVAILABLE', { reason: `${wanted} is not installed` });
  }
  return stt;
}

/** For people at the terminal: where it listens, where its data lies, and once the first key. */
async function announce(
  config: Config,
  accounts: { ensureFirst(): Promise<{ apiKey: string } | undefined> },
): Promise<void> {
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
  const log = createLog(config.log);
  // A fault that no call could be blamed for: the process is not to be trusted any more.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'unexpected error, the gateway stops');
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  stopOnSignals(await start(config, log), log);
}

main().catch((error: unknown) => {
  const known = codeOf(error) !== undefined && error instanceof GatewayError;
  process.stderr.write(`${known ? `${error.code}: ${error.message}` : String(error)}\n`);
  process.exit(1);
});
