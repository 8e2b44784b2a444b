// Starts a call's session with its media: checks that the run is still open, sets it to `running`, opens its log and
// its recording.

import { GatewayError } from '../../errors/gateway-error.ts';
import { type RecordingFile, recordingBytesOf } from '../../pipeline/recorder.ts';
import type { SpeechPlan } from '../../speech/speech-plan.ts';
import type { Spool } from '../../store/files/file-store.ts';
import { recordingKey } from '../../store/files/run-files.ts';
import type { Store } from '../../store/store.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { recordedMs } from '../end/closing/cut-off-call.ts';
import type { EventLog, RunLog } from '../events/event-log.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import { type ResumedCall, type ResumeRefusal, resumedCallOf } from '../session/resumed-call.ts';
import { CallSession } from '../session/session.ts';
import type { SessionDeps } from '../session/session-deps.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';

export interface SessionStartsDeps {
  store: Pick<Store, 'runs'>;
  files: Pick<Spool, 'create' | 'stat'>;
  events: EventLog;
  registry: CallRegistry;
  session: SessionDeps;
}

export interface BegunSession {
  /** Attaches the media. Called once. */
  attach(media: MediaSession): void;
}

export class SessionStarts {
  readonly #deps: SessionStartsDeps;

  constructor(deps: SessionStartsDeps) {
    this.#deps = deps;
  }

  /** Begins the session. `no-run`: the run does not exist; `closed`: it was closed while it waited. */
  async begin(plan: CallPlan, isAnswered: boolean): Promise<BegunSession | 'no-run' | 'closed'> {
    const { store, events, registry, session: deps } = this.#deps;
    const { run } = plan;
    const isOpen = await store.runs.patchInitialized(run.id, {
      ...(isAnswered ? this.#begun() : {}),
      initialContext: { runtime_configuration: runtimeConfiguration(plan.speech) },
    });
    if (!isOpen) return (await store.runs.find(run.id)) === undefined ? 'no-run' : 'closed';
    const runLog = await events.open(run.id);
    const recording = await this.#openRecording(runLog, run.id);
    const onEnded = (): void => registry.remove(run.id);
    const onLost = (): void => registry.onLost?.(run.id);
    const options = { plan, runLog, recording, isAnswered, onEnded, onLost };
    const session = new CallSession(deps, options);
    registry.activate(session);
    return {
      attach: (media) => session.attach(media),
    };
  }

  /** Begins the session of a call that another process had, which is gone, in the middle of its conversation. This process
   *  has taken the run over; nothing has been appended to its log here since then. The plan is that of the run's version;
   *  the request before the call is not sent again. Returns why the call cannot go on: it is then to be closed. Throws
   *  STORE_UNAVAILABLE. */
  async resume(plan: CallPlan): Promise<BegunSession | ResumeRefusal> {
    const { store, files, events, registry, session: deps } = this.#deps;
    const { run } = plan;
    if ((await store.runs.find(run.id))?.state !== 'running') return { why: 'over' };
    // What this process may have read before is not complete: the former owner could still write.
    events.release(run.id);
    const runLog = await events.open(run.id);
    const now = deps.clock.now();
    const recorded = await recordedMs({ files, log: deps.log }, run.id);
    const resumed = resumedCallOf(plan, runLog.events, { recordedMs: recorded, now });
    if ('why' in resumed) {
      deps.log.warn({ runId: run.id, ...resumed }, 'call cannot go on');
      return resumed;
    }
    const recording = await this.#openRecording(runLog, run.id, resumed);
    const onEnded = (): void => registry.remove(run.id);
    const session = new CallSession(deps, {
      plan,
      runLog,
      recording,
      resumed,
      isAnswered: true,
      onEnded,
      onLost: () => registry.onLost?.(run.id),
    });
    registry.activate(session);
    return { attach: (media) => session.attach(media) };
  }

  /** Begins the conversation of a call with early media, which has been answered. Never rejects. */
  async answer(session: CallSession): Promise<void> {
    const { id } = session.plan.run;
    try {
      const running = await this.#deps.store.runs.patch(id, this.#begun());
      if (running?.state === 'running') session.answer();
      else void session.end('system_cancelled', 'gateway'); // The run was closed meanwhile.
    } catch (error) {
      this.#deps.session.log.error({ err: error, runId: id }, 'answer not stored');
      void session.end('system_connect_error', 'gateway');
    }
  }

  #begun(): { state: 'running'; startedAt: Date } {
    return { state: 'running', startedAt: new Date(this.#deps.session.clock.now()) };
  }

  /** Undefined if the recording cannot be opened: a call without a recording is better than no call. */
  async #openRecording(
    runLog: RunLog,
    runId: string,
    resumed?: ResumedCall,
  ): Promise<RecordingFile | undefined> {
    const from = resumed && recordingBytesOf(resumed.writtenMs);
    try {
      return await this.#deps.files.create(recordingKey(runId), from);
    } catch (error) {
      this.#deps.session.log.error({ err: error, runId }, 'recording not opened');
      const { code, message } = new GatewayError('RECORDING_FAILED', {
        reason: 'the file cannot be opened',
      });
      runLog.append({ type: 'fault', code, message, fatal: false }, resumed?.lastMs ?? 0);
      return undefined;
    }
  }
}

function runtimeConfiguration({ stt, tts, llm }: SpeechPlan): Record<string, string | null> {
  return {
    stt_provider: stt?.name ?? null,
    stt_model: stt?.model ?? null,
    tts_provider: tts.name,
    tts_model: tts.model,
    llm_provider: llm?.name ?? 'scripted',
    llm_model: llm?.model ?? null,
  };
}
