// Parts of every process that holds calls: store, speech, providers, and the servers of their media.

import { loadVad } from '../audio/vad/vad-loader.ts';
import type { CallControl } from '../call/call-control.ts';
import { EventLog } from '../call/events/event-log.ts';
import { credentialHeadersFrom } from '../call/session/dialogue/tool-request.ts';
import { OrganizationSpeech } from '../call/start/setup/organization-speech.ts';
import { ClipLibrary } from '../call/start/setup/sound-library.ts';
import { PBX_WORKER } from '../cluster/ipc-message.ts';
import type { Config } from '../config.ts';
import type { Egress } from '../egress/egress-rule.ts';
import { createGuardedHttp } from '../egress/guarded-http.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { collectProcessMetrics } from '../metrics/metrics.ts';
import { MediaClock } from '../pipeline/media-clock.ts';
import { socketKernel } from '../runtime/direct-socket.ts';
import { kernelFaults, loadAddon, nativeKernels } from '../runtime/native-kernels.ts';
import { processLoadMeter } from '../runtime/process-load.ts';
import { reportSelfTest } from '../runtime/self-test-report.ts';
import { selfTestSockets } from '../runtime/socket-self-test.ts';
import { LanguageModels } from '../speech/language-models.ts';
import { WarmConnections } from '../speech/service/warm-connections.ts';
import { SpeechServices } from '../speech/speech-services.ts';
import type { SpeechToText } from '../speech/stt/stt.ts';
import { openSpeechToText } from '../speech/vendors/stt-registry.ts';
import { openTextToSpeech } from '../speech/vendors/tts-registry.ts';
import { clientBehind } from '../std/client-address.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import { openStore, type StoreHandle } from '../store/open.ts';
import type { PacketMedia } from '../telephony/ari/media/packet-transports.ts';
import type { Pbx } from '../telephony/provider/pbx.ts';
import { createProviders, type Providers } from '../telephony/registry/registry.ts';
import { createAudioSocketServer } from '../transport/audiosocket/audiosocket-server.ts';
import { CLOSE } from '../transport/media-socket.ts';
import { gatewayLabel, MediaTokenSigner } from '../transport/media-token.ts';
import { createMediaTokens } from '../transport/media-token-store.ts';
import { createRtpPorts, shareOfPorts } from '../transport/rtp/rtp-ports.ts';
import { UnadmittedSockets } from '../transport/unadmitted-sockets.ts';
import {
  createMediaServer,
  type MediaEndpoint,
  type MediaServer,
} from '../transport/websocket/media-server.ts';
import { type CallParts, withClosing } from './call-parts.ts';
import { type ForkedProcess, gatewayNode, nodeOptions } from './node-options.ts';
import { egressOf, openGatewayModel } from './node-parts.ts';
import { startWatchdog } from './watchdog.ts';

/** Opens the parts. */
export async function openGatewayParts(
  config: Config,
  log: Log,
  forked: ForkedProcess | undefined,
) {
  collectProcessMetrics();
  clock.lastStall(); // Stalls are measured from here on.
  const link = forked?.link;
  const egress = egressOf(config);
  const [store, speech] = await Promise.all([
    nodeOptions(config, log, forked).then(openStore),
    openSpeech(config, egress, log), // A forked process has time: its gateway opens the database.
  ]);
  const hasPbxs = link === undefined || link.address === PBX_WORKER;
  const known: { providers?: Providers } = {};
  const unadmitted = new UnadmittedSockets({
    isPbx: (client) => known.providers?.pbx.some(({ pbx }) => pbx.isKnownClient(client)) === true,
  });
  const nth = link?.address ?? 1;
  const packets = await openPacketMedia(config, { hasPbxs, nth }, { unadmitted, log });
  const providers = createProviders({
    clock,
    random,
    packets,
    egress,
    log,
    identity: { node: store.node, epoch: store.epoch },
  });
  known.providers = providers;
  const calls = openCalls(config, {
    store,
    providers,
    speech,
    egress,
    log,
    worker: link?.address ?? 0,
  });
  const stallGuard = startWatchdog(config, log);
  return {
    store,
    speech,
    providers,
    egress,
    calls,
    unadmitted,
    clientOf: clientBehind(config.trustedProxies),
    origins: config.origins,
    /** Closes the parts, after the last input. */
    async close(): Promise<void> {
      await calls.http.outside.close();
      calls.services.mediaClock.close();
      await speech.services.close();
      await store.close();
    },
    /** Closes the inputs other than the API. */
    async closeMedia(media: MediaServer): Promise<void> {
      await stallGuard?.stop();
      await media.close(CLOSE.goingAway);
      await closePacketMedia(packets);
    },
  };
}

/** Opens the servers of media sockets: those of hosted providers by their path, those of PBXs by their first
 *  message. No media connection may be opened before it settles: the self-test decides how they are read. */
export async function openMediaEndpoints(
  open: Pick<
    Awaited<ReturnType<typeof openGatewayParts>>,
    'providers' | 'calls' | 'unadmitted' | 'clientOf' | 'origins'
  >,
  callControl: CallControl,
  log: Log,
): Promise<MediaServer> {
  const { providers, calls, unadmitted, clientOf } = open;
  const addon = loadAddon();
  const kernel = await selfTestSockets({ clock, log, kernel: addon && socketKernel(addon) });
  return createMediaServer({
    clock,
    log,
    kernel,
    authorize: (path, headers) => callControl.admit(path, headers),
    isExpected: (path) => calls.tokens.isDue(path),
    endpoints: new Map(providers.pbx.map(({ name, pbx }) => [name, endpointOf(pbx)])),
    origins: open.origins,
    unadmitted,
    clientOf,
  });
}

/** Media endpoint of a PBX, in use while a configuration has its application. */
function endpointOf(pbx: Pbx): MediaEndpoint {
  return {
    isInUse: (application) =>
      application === undefined
        ? pbx.applications.length > 0
        : pbx.applications.includes(application),
    accept: (socket, arrival) => pbx.takeSocket(socket, arrival),
  };
}

/** Opens the ports for the audio of PBXs without media websockets. `nth`: of the processes with calls. */
async function openPacketMedia(
  config: Config,
  { hasPbxs, nth }: { hasPbxs: boolean; nth: number },
  { unadmitted, log }: { unadmitted: UnadmittedSockets; log: Log },
): Promise<PacketMedia> {
  const { host, audioSocketPort, rtpPorts } = config.media;
  const at = { host: config.host, clock, log };
  const ports = shareOfPorts(rtpPorts, { nth, count: Math.max(1, config.workers) });
  const rtp = createRtpPorts({ ...at, ports, random });
  if (audioSocketPort === undefined || !hasPbxs) return { host, rtp, audioSockets: undefined };
  const audioSockets = createAudioSocketServer({ ...at, port: audioSocketPort, unadmitted });
  await audioSockets.listen();
  return { host, rtp, audioSockets };
}

async function closePacketMedia({ rtp, audioSockets }: PacketMedia): Promise<void> {
  rtp.close();
  await audioSockets?.close();
}

/** Opens the dependencies of calls. */
function openCalls(
  config: Config,
  open: {
    store: StoreHandle;
    providers: Providers;
    speech: Awaited<ReturnType<typeof openSpeech>>;
    egress: Egress;
    log: Log;
    worker: number;
  },
): CallParts {
  const { store, providers, speech, egress, log, worker } = open;
  const label = gatewayLabel(gatewayNode(config));
  return withClosing({
    services: {
      mediaClock: new MediaClock(clock),
      vad: speech.vad,
      speech: new OrganizationSpeech({ store, services: speech.services, random, log }),
    },
    store,
    providers,
    files: store.spool,
    events: new EventLog({ sink: store.runs, clock, log }),
    sounds: new ClipLibrary({
      store,
      files: store.files,
      isRemote: store.s3 !== undefined,
      clock,
      log,
    }),
    tokens: createMediaTokens({
      clock,
      random,
      signer: new MediaTokenSigner(store.mediaKeys),
      place: { label, worker },
    }),
    gatewayLabel: label,
    clock,
    random,
    log,
    http: {
      outside: createGuardedHttp(egress),
      credentialHeaders: credentialHeadersFrom(store),
    },
    load: { meter: processLoadMeter(), limits: config.loadLimits },
    publicUrl: config.publicUrl,
    prices: config.prices,
  });
}

async function openSpeech(config: Config, egress: Egress, log: Log) {
  const vad = loadVad(clock);
  nativeKernels();
  reportSelfTest(log, 'native-kernels', kernelFaults());
  log.info({ kernel: vad.kernel, instructions: vad.instructions }, 'speech detector loaded');
  const [tts, stt] = await Promise.all([
    openTextToSpeech({ service: 'flite', voice: config.voice }, { clock, log }),
    openRecogniser(config.stt, log),
  ]);
  const llm = openGatewayModel(config, log);
  const means = { clock, log, egress, warm: new WarmConnections({ clock, egress }) };
  const services = new SpeechServices({
    gateway: { stt, tts, voice: config.voice },
    models: new LanguageModels(llm, means),
    means,
    workers: Math.max(1, config.workers),
  });
  return { vad, stt, llm, services };
}

/** Opens the recogniser. Throws STT_UNAVAILABLE if the requested one is not installed. */
async function openRecogniser(wanted: Config['stt'], log: Log): Promise<SpeechToText | undefined> {
  if (wanted === 'none') return undefined;
  const stt = await openSpeechToText({ service: 'pocketsphinx' }, { clock, log });
  if (stt === undefined && wanted !== 'auto') {
    throw new GatewayError('STT_UNAVAILABLE', { reason: `${wanted} is not installed` });
  }
  return stt;
}
