// Admission of a provider's media: the URL's run exists and waits, the token is right and unused, the provider
// signed the upgrade. Then the call begins. Close codes: contract §7.4.

import { GatewayError } from '../../errors/gateway-error.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { isHosted, type ProviderRequest } from '../../telephony/provider/provider.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import { CLOSE } from '../../transport/media-socket.ts';
import type { MediaAdmission, MediaPath } from '../../transport/websocket/media-server.ts';
import { recordingKey } from '../closing/run-closing.ts';
import { CallSession } from '../session/session.ts';
import { isMachineBehaviour } from '../setup/answering-machine.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import type { CallRegistry } from './call-registry.ts';

export async function admitMediaSocket(
  deps: CallDeps,
  registry: CallRegistry,
  path: MediaPath,
  headers: Record<string, string | undefined>,
): Promise<MediaAdmission> {
  // The token comes first: without it nothing is said about a run, not even that it exists.
  if (!deps.tokens.redeem(path.runId, path.token)) return refuse(CLOSE.unauthorized, 'token');
  const plan = registry.admit(path.runId);
  if (plan === undefined) return refuse(CLOSE.notFound, 'no call waits');
  try {
    return await admit(deps, registry, { plan, path, headers });
  } finally {
    registry.reject(path.runId);
  }
}

async function admit(
  deps: CallDeps,
  registry: CallRegistry,
  request: { plan: CallPlan; path: MediaPath; headers: Record<string, string | undefined> },
): Promise<MediaAdmission> {
  const { plan, path, headers } = request;
  const { run } = plan;
  if (run.workflowId !== path.workflowId || run.organizationId !== path.organizationId) {
    return refuse(CLOSE.badRequest, 'workflow');
  }
  const { provider, configuration } = plan;
  const upgrade = upgradeRequest(deps.publicUrl, path, headers);
  if (!isHosted(provider) || !provider.webhook.verify(upgrade, configuration.credentials)) {
    return refuse(CLOSE.unauthorized, 'signature');
  }
  const admitted = await begin(deps, registry, plan, true);
  if ('refuse' in admitted) return admitted;
  return {
    accept: (socket) => {
      const protocol = provider.createMedia();
      const log = deps.log.child({ runId: run.id });
      const media = new SocketMediaSession({ socket, protocol, clock: deps.clock, log });
      admitted.attach(media);
      return media;
    },
  };
}

/** For media of a connection that the gateway holds, which need no proof. False: no call waits for them. */
export async function admitPbxMedia(
  deps: CallDeps,
  registry: CallRegistry,
  runId: string,
  { media, isAnswered }: { media: MediaSession; isAnswered: boolean },
): Promise<boolean> {
  const plan = registry.admit(runId);
  const admitted =
    plan === undefined
      ? refuse(CLOSE.notFound, 'no call waits')
      : await begin(deps, registry, plan, isAnswered).finally(() => registry.reject(runId));
  if ('refuse' in admitted) return false;
  admitted.attach(media);
  return true;
}

interface Admitted {
  /** Called once. */
  attach(media: MediaSession): void;
}

interface Refused {
  refuse: number;
  reason: string;
}

function refuse(code: number, reason: string): Refused {
  const isUnauthorized = code === CLOSE.unauthorized;
  mediaFaults.inc({ code: isUnauthorized ? 'MEDIA_UNAUTHORIZED' : 'MEDIA_REFUSED' });
  return { refuse: code, reason };
}

function upgradeRequest(
  publicUrl: string,
  { workflowId, organizationId, runId, token }: MediaPath,
  headers: Record<string, string | undefined>,
): ProviderRequest {
  const base = publicUrl.replace(/^http/, 'ws');
  return {
    method: 'GET',
    url: `${base}/api/v1/telephony/ws/${workflowId}/${organizationId}/${runId}/${token}`,
    headers,
    rawBody: Buffer.alloc(0),
    form: {},
    formAll: {},
    json: undefined,
  };
}

async function begin(
  deps: CallDeps,
  registry: CallRegistry,
  plan: CallPlan,
  isAnswered: boolean,
): Promise<Admitted | Refused> {
  const { run } = plan;
  // It may have been closed while it waited.
  const isOpen = await deps.store.runs.patchInitialized(run.id, {
    ...(isAnswered ? begun(deps) : {}),
    initialContext: { runtime_configuration: runtimeConfiguration(deps) },
  });
  if (!isOpen) {
    const known = await deps.store.runs.find(run.id);
    return known === undefined
      ? refuse(CLOSE.notFound, 'run')
      : refuse(CLOSE.conflict, 'run state');
  }
  const runLog = await deps.events.open(run.id);
  const recording = await openRecording(deps, run.id);
  if (recording === undefined) {
    const error = new GatewayError('RECORDING_FAILED', { reason: 'the file cannot be opened' });
    runLog.append({ type: 'fault', code: error.code, message: error.message, fatal: false }, 0);
  }
  const session = new CallSession(deps, {
    plan,
    runLog,
    recording,
    isAnswered,
    onEnded: () => registry.remove(run.id),
  });
  registry.activate(session);
  return {
    attach: (media) => {
      session.attach(media);
      // Answering machine detection may have finished before the media came.
      if (isMachineBehaviour(plan, runLog.events))
        void session.end('voicemail_detected', 'gateway');
    },
  };
}

/** A call with early media is answered: only now its conversation begins. Never rejects. */
export async function startSession(deps: CallDeps, session: CallSession): Promise<void> {
  const { id } = session.plan.run;
  try {
    const running = await deps.store.runs.patch(id, begun(deps));
    if (running?.state === 'running') session.answer();
    else void session.end('system_cancelled', 'gateway'); // Closed meanwhile.
  } catch (error) {
    deps.log.error({ err: error, runId: id }, 'answer not stored');
    void session.end('system_connect_error', 'gateway');
  }
}

function begun({ clock }: CallDeps): { state: 'running'; startedAt: Date } {
  return { state: 'running', startedAt: new Date(clock.now()) };
}

/** A call without a recording is better than no call. */
async function openRecording(deps: CallDeps, runId: string): Promise<RecordingFile | undefined> {
  try {
    return await deps.files.create(recordingKey(runId));
  } catch (error) {
    deps.log.error({ err: error, runId }, 'recording not opened');
    return undefined;
  }
}

function runtimeConfiguration({ stt, tts, llm }: CallDeps): Record<string, string | null> {
  return {
    stt_provider: stt?.name ?? null,
    stt_model: stt?.model ?? null,
    tts_provider: tts.name,
    tts_model: tts.model,
    llm_provider: llm?.name ?? 'scripted',
    llm_model: llm?.model ?? null,
  };
}
