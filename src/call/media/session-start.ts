// Starts a call's session with its media: checks that the run is still open, sets it to `running`, opens its log and
// its recording.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { RecordingFile } from '../../pipeline/recorder.ts';
import type { SpeechPlan } from '../../speech/speech-plan.ts';
import type { FileStore } from '../../store/files/file-store.ts';
import type { Store } from '../../store/store.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { recordingKey } from '../end/closing/run-closing.ts';
import type { EventLog } from '../events/event-log.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import { CallSession } from '../session/session.ts';
import type { SessionDeps } from '../session/session-deps.ts';
import { isMachineBehaviour } from '../start/setup/answering-machine.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';

export interface SessionStartsDeps {
  store: Pick<Store, 'runs'>;
  files: Pick<FileStore, 'create'>;
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
    const recording = await this.#openRecording(run.id);
    if (recording === undefined) {
      const error = new GatewayError('RECORDING_FAILED', { reason: 'the file cannot be opened' });
      runLog.append({ type: 'fault', code: error.code, message: error.message, fatal: false }, 0);
    }
    const onEnded = (): void => registry.remove(run.id);
    const session = new CallSession(deps, { plan, runLog, recording, isAnswered, onEnded });
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
  async #openRecording(runId: string): Promise<RecordingFile | undefined> {
    try {
      return await this.#deps.files.create(recordingKey(runId));
    } catch (error) {
      this.#deps.session.log.error({ err: error, runId }, 'recording not opened');
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
