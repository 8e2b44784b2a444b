// Examination calls of a gateway, in the process with the HTTP API, where their webhooks come. Their few media sockets
// also come there, so that one process has all of a call; calls of runs are in other processes.

import type { CallService } from '../call/call-service.ts';
import { AGENT_WORDS, type AgentLines } from '../call/examination/examination-agent.ts';
import { EXAMINATION_WORKFLOW } from '../call/examination/examination-call.ts';
import { ExaminationCalls } from '../call/examination/examination-calls.ts';
import { ExaminedCalls } from '../call/examination/examined-calls.ts';
import { OutboundRoutes } from '../call/start/outbound/outbound-route.ts';
import type { AcceptUpgrade } from '../cluster/socket-handoff.ts';
import { isHttp11 } from '../cluster/upgrade-router.ts';
import type { Config } from '../config.ts';
import type { Egress } from '../egress/egress-rule.ts';
import type { Log } from '../log.ts';
import type { TextToSpeech } from '../speech/tts/tts.ts';
import { clientBehind } from '../std/client-address.ts';
import { systemClock as clock } from '../std/clock.ts';
import { deadlineSignal } from '../std/deadline.ts';
import { systemRandom as random } from '../std/random.ts';
import type { StoreHandle } from '../store/open.ts';
import { createHostedProvider, type Providers } from '../telephony/registry/registry.ts';
import { CLOSE } from '../transport/media-socket.ts';
import { gatewayLabel, MEDIA_PATH, MediaTokenSigner } from '../transport/media-token.ts';
import { createMediaTokens } from '../transport/media-token-store.ts';
import { createMediaServer } from '../transport/websocket/media-server.ts';
import { gatewayNode } from './node-options.ts';
import { ownVersion } from './own-version.ts';
import type { Readiness } from './readiness.ts';

/** Deadline for rendering all sentences; the synthesiser starts in half a second. */
const SPEECH_MS_MAX = 15_000;
/** Media sockets of all examination calls: four run at a time. */
const SOCKETS_MAX = 16;

export interface Examinations {
  /** Services for the API: these calls, and the call service that serves them beside those of runs. */
  services: { examinations: ExaminationCalls; callService: CallService };
  /** Takes upgrades to the media of examination calls; passes others to `next`. */
  takeUpgrades(next: AcceptUpgrade): AcceptUpgrade;
  close(): Promise<void>;
}

export function openExaminations(
  config: Config,
  parts: {
    store: StoreHandle;
    providers: Providers;
    egress: Egress;
    callService: CallService;
    readiness: Readiness;
  },
  log: Log,
): Examinations {
  const { store, providers, egress, callService, readiness } = parts;
  const calls = new ExaminationCalls({
    store,
    clock,
    random,
    log,
    tokens: createMediaTokens({
      clock,
      random,
      signer: new MediaTokenSigner(store.mediaKeys),
      place: { label: gatewayLabel(gatewayNode(config)), worker: 0 },
    }),
    isDraining: () => readiness.reasons.includes('draining'),
    routes: new OutboundRoutes({ store, providers, random }),
    createProvider: (name, onExchange) => createHostedProvider(name, { clock, egress, onExchange }),
    speak: () => speakLines(config, log),
    gateway: { publicUrl: config.publicUrl, version: ownVersion() },
  });
  const media = createMediaServer({
    clock,
    log,
    limits: { socketsMax: SOCKETS_MAX },
    authorize: (path, headers) => calls.admit(path, headers),
    isExpected: (path) => calls.isExpected(path),
    clientOf: clientBehind(config.trustedProxies),
  });
  return {
    services: { examinations: calls, callService: new ExaminedCalls(callService, calls) },
    takeUpgrades: (next) => (request, socket, head) => {
      const isOurs = request.url?.startsWith(`${MEDIA_PATH}${EXAMINATION_WORKFLOW}/`) === true;
      const isTaken = isOurs && isHttp11(request) && media.handleUpgrade(request, socket, head);
      if (!isTaken) next(request, socket, head);
    },
    async close() {
      await calls.close();
      await media.close(CLOSE.goingAway);
    },
  };
}

/** Renders the sentences with a temporary synthesiser: the API process has none. */
async function speakLines(config: Config, log: Log): Promise<AgentLines> {
  const { openTextToSpeech } = await import('../speech/vendors/tts-registry.ts');
  const settings = { service: 'flite', voice: config.voice, workers: 1 } as const;
  const voice = await openTextToSpeech(settings, { clock, log });
  const { signal, done } = deadlineSignal(clock, SPEECH_MS_MAX, 'speech');
  try {
    return {
      introduction: await spoken(voice, AGENT_WORDS.introduction, signal),
      cleared: await spoken(voice, AGENT_WORDS.cleared, signal),
      question: await spoken(voice, AGENT_WORDS.question, signal),
      goodbye: await spoken(voice, AGENT_WORDS.goodbye, signal),
    };
  } finally {
    done();
    await voice.close();
  }
}

async function spoken(voice: TextToSpeech, text: string, signal: AbortSignal): Promise<Int16Array> {
  const pieces: Int16Array[] = [];
  const listener = {
    onAudio: (samples: Int16Array) => void pieces.push(samples),
    onWords: () => undefined,
  };
  await voice.synthesize({ text, voice: undefined }, listener, signal);
  const joined = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
