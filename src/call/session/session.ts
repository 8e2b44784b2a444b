// One phone call from its media socket to its end. Every event passes through one queue to the pure engine, whose
// actions this file carries out. Independent of any provider or service.

import { codecByName } from '../../codec/registry.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { answerVerdicts, callsActive } from '../../metrics/metrics.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import { type AnswerVerdict, answeredByOf } from '../../pipeline/answer/answer-verdict.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { ContinuedRecording, RecordingFile } from '../../pipeline/recorder.ts';
import type { Clock } from '../../std/clock.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaSession,
  MediaStart,
} from '../../telephony/provider/media-session.ts';
import { hidesDigits } from '../../workflow/engine/hidden-digits.ts';
import type { EndedBy } from '../end/closing/run-closing.ts';
import { EngineInputs } from '../events/engine-inputs.ts';
import type { RunLog } from '../events/event-log.ts';
import { answeredBefore } from '../start/setup/answering-machine.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { onceFetched } from '../start/setup/pre-call-fetch.ts';
import { type AudioEventTargets, handleAudioEvent } from './audio-events.ts';
import { CallSuspension } from './call-suspension.ts';
import { closeSession, leaveSession } from './close-session.ts';
import { CallTimers, guardedClock, IdleTimer, limitDuration } from './dialogue/call-timers.ts';
import { DialogueRunner } from './dialogue/dialogue-runner.ts';
import { placeIn } from './dialogue/speech-place.ts';
import { InterimWords, MuteState } from './live-reports.ts';
import { phoneMedium } from './phone-medium.ts';
import { isUnderWay, placeOf, type ResumedCall, resumedEntry } from './resumed-call.ts';
import type { SessionDeps } from './session-deps.ts';
import { SessionEvents } from './session-events.ts';
import { CurrentServices, openAudio } from './session-services.ts';
import { WaitLines } from './wait-lines.ts';

/** Deadline of the last extraction of values after the caller has left; the engine stops earlier. */
const LEAVE_MS_MAX = 10_000;
/** Time for the provider to ask what to do with a call whose media have broken off, or to report its end: it does either
 *  when the socket closes. */
const LOST_MS_MAX = 3_000;
/** Time for the provider to report how an unanswered call ended, after its media are gone. */
const VERDICT_MS_MAX = 3_000;

export interface SessionOptions {
  plan: CallPlan;
  runLog: RunLog;
  /** Undefined if the file could not be opened: the call then has no recording. */
  recording: RecordingFile | undefined;
  /** Whether the call is answered. If not, the phone still rings: early media are recorded, and the agent neither
   *  listens nor speaks before `answer`. */
  isAnswered: boolean;
  /** Where the call stands that another process has begun. Default: it begins here. */
  resumed?: ResumedCall;
  /** Called once, when all data of the call are stored, or another session goes on with it. */
  onEnded: () => void;
  /** Called when the media have broken off, at a provider that keeps the call and does not ask. */
  onLost?: () => void;
}

export class CallSession {
  readonly plan: CallPlan;
  readonly #deps: SessionDeps;
  readonly #clock: Clock;
  readonly #options: SessionOptions;
  readonly #log: Log;
  readonly #record: SessionEvents;
  readonly #mute: MuteState;
  readonly #interim: InterimWords;
  readonly #idle: IdleTimer;
  readonly #timers: CallTimers;
  readonly #dialogue: DialogueRunner;
  readonly #services: CurrentServices;
  readonly #wait: WaitLines;
  readonly #suspension: CallSuspension;
  readonly #gone = new AbortController();
  #by: EndedBy = 'agent';
  /** The provider's id of the call; from its media if the run does not have it yet. */
  #callId: string | null;
  /** Media time of the run at which this session's audio began, in milliseconds. */
  #startMs: number;
  /** Media time of the answer, in milliseconds; undefined before. */
  #answeredMs: number | undefined;
  /** Media time at which the caller left, in milliseconds. */
  #leftMs: number | undefined;
  #media: MediaSession | undefined;
  #audio: CallAudio | undefined;
  #end: Promise<void> | undefined;
  /** Whether another session goes on with the call. */
  #isGivenUp = false;
  /** Whether another process has taken the run. */
  #isTaken = false;

  constructor(deps: SessionDeps, options: SessionOptions) {
    const { plan } = options;
    this.plan = plan;
    this.#deps = deps;
    this.#options = options;
    this.#callId = plan.run.providerCallId;
    this.#startMs = options.resumed?.lastMs ?? 0;
    this.#answeredMs = options.resumed?.answeredMs ?? (options.isAnswered ? 0 : undefined);
    this.#clock = guardedClock(deps.clock, (error) => this.#fail(error, 'unexpected_error'));
    this.#timers = new CallTimers(this.#clock);
    this.#log = deps.log.child({ runId: plan.run.id });
    this.#record = new SessionEvents(options.runLog, () => this.#mediaMs(), {
      startMs: () => this.#startMs,
      place: options.resumed && placeOf(plan.engine, options.resumed),
    });
    this.#services = new CurrentServices(plan.speech, {
      record: this.#record,
      audio: () => this.#audio,
      onChanged: (speech) => this.#wait.use(speech),
    });
    if (options.resumed !== undefined) this.#record.continue(options.runLog.events);
    this.#mute = new MuteState((type) => options.runLog.emitLive(type));
    this.#interim = new InterimWords(this.#clock, options.runLog);
    const audio = (): CallAudio | undefined => this.#audio;
    this.#wait = new WaitLines({
      plan,
      clock: this.#clock,
      log: this.#log,
      audio,
      isSuspended: () => this.#suspension.isSuspended,
      dialogue: () => this.#dialogue,
    });
    this.#dialogue = new DialogueRunner({
      engine: plan.engine,
      ...(options.resumed && { state: options.resumed.state }),
      medium: phoneMedium({
        deps,
        plan,
        clock: this.#clock,
        log: this.#log,
        record: this.#record,
        services: this.#services,
        wait: this.#wait,
        mute: this.#mute,
        audio,
        state: () => this.#dialogue.state,
        callId: () => this.#callId,
        callerGone: this.#gone.signal,
        // A transferred caller has left our media as if they had hung up.
        end: (reason) => void this.end(reason, reason === 'transfer_call' ? 'agent' : this.#by),
        onBroken: (error) => this.#broken(error),
      }),
      record: this.#record,
      inputs: this.#inputs(),
      organizationId: plan.run.organizationId,
      workflowId: plan.run.workflowId,
      llm: this.#services.llm,
      toolRequests: deps.http,

      clock: deps.clock,
      log: this.#log,
    });
    this.#idle = new IdleTimer({
      clock: this.#clock,
      busy: () => this.#busy(),
      idleMs: plan.settings.max_user_idle_timeout * 1_000,
      onIdle: () => this.#dialogue.dispatch({ type: 'idle' }),
    });
    this.#suspension = new CallSuspension({
      clock: this.#clock,
      audio,
      dispatch: (event) => this.#dialogue.dispatch(event),
      note: (body) => this.#record.note(body),
      idle: this.#idle,
      wait: this.#wait,
    });
  }

  /** Attaches the call's media, which have started. Called once. */
  attach(media: MediaSession): void {
    if (this.#end !== undefined) {
      media.close('unwanted');
      return;
    }
    callsActive.inc({ provider: this.plan.provider.name });
    this.#media = media;
    media.attach(this.#mediaListener());
  }

  get isAnswered(): boolean {
    return this.#answeredMs !== undefined;
  }

  /** Begins the conversation: the callee has answered. */
  answer(): void {
    if (this.isAnswered || this.#end !== undefined) return;
    this.#answeredMs = this.#mediaMs();
    this.#guarded(() => this.#begin());
  }

  /** Sends DTMF tones to the far end, queued behind the current speech. Throws CALL_NOT_TALKING, DIGITS_WAITING. */
  press(digits: string): void {
    const audio = this.#audio;
    const isTalking = this.isAnswered && this.#leftMs === undefined && this.#end === undefined;
    if (audio === undefined || !isTalking) throw new GatewayError('CALL_NOT_TALKING');
    if (!audio.press(digits)) throw new GatewayError('DIGITS_WAITING');
  }

  /** Notes an event from outside the media. */
  note(body: CallEventBody): void {
    this.#record.note(body);
  }

  /** Takes the result of the provider's answering machine detection, which is an input of the answer supervisor. */
  answeredBy(result: string): void {
    const audio = this.#audio;
    if (audio === undefined || !audio.isSupervised) {
      this.#record.note({ type: 'call.answered-by', answeredBy: result });
    } else this.#guarded(() => audio.answeredBy(result));
  }

  /** Ends the session, as another process has the run. Whether the call goes on is for that process. Never rejects. */
  endTaken(): Promise<void> {
    this.#isTaken = true;
    return this.end('unexpected_error', 'gateway');
  }

  /** Ends the call once; later calls wait for the same end. Never rejects. */
  end(reason: EndReason, by: EndedBy): Promise<void> {
    // Set before closing begins: events that closing causes must not end the call again.
    this.#end ??= Promise.resolve().then(() => this.#close(reason, by));
    this.#guarded(() => this.#dialogue.close());
    this.#guarded(() => this.#mute.follow({ phase: 'ended', tools: null }));
    return this.#end;
  }

  /** Gives the call up, so that another session goes on with it: the provider says that its media are over. Resolves when
   *  this one writes nothing more; false if the call is about to end. Never rejects. */
  async giveUp(): Promise<boolean> {
    if (!this.#canGoOn()) return false;
    this.#isGivenUp = true;
    this.#end = this.#stop();
    await this.#end;
    return true;
  }

  /** Whether the conversation could go on over other media. */
  #canGoOn(): boolean {
    const isOpen = this.isAnswered && this.#audio !== undefined && this.#end === undefined;
    return isOpen && isUnderWay(this.#dialogue.state);
  }

  /** Stops without an end of the call. Never rejects. */
  async #stop(): Promise<void> {
    this.#guarded(() => this.#dialogue.close());
    this.#stopWork();
    const parts = { plan: this.plan, audio: this.#audio, media: this.#media, log: this.#log };
    await leaveSession(this.#deps, parts);
    this.#over();
  }

  /** Media time of the run, in milliseconds. */
  #mediaMs(): number {
    return this.#startMs + (this.#audio?.mediaMs ?? 0);
  }

  /** The store of what the engine gets. */
  #inputs(): EngineInputs {
    const { runLog, plan } = this.#options;
    return new EngineInputs({
      append: (body, at) => runLog.append(body, this.#mediaMs(), at),
      runContext: plan.run.initialContext,
      events: runLog.events,
    });
  }

  // Events of the layers below.

  #mediaListener(): MediaListener {
    return {
      onAudio: (payload, timestampMs) => this.#receive(payload, timestampMs),
      onEvent: (event) => this.#guarded(() => this.#takeMedia(event)),
    };
  }

  #takeMedia(event: MediaEvent): void {
    switch (event.type) {
      case 'started':
        this.#open(event.start);
        break;
      case 'digit':
        if (this.isAnswered) this.#audio?.digit(event.digit);
        break;
      case 'mark': // A dropped utterance is not awaited.
        this.#audio?.mark(event.name);
        break;
      case 'unplayed':
        this.#audio?.unplayed(event.ms);
        break;
      case 'closed':
        if (event.reason === 'ended') this.#left();
        else if (event.reason === 'lost') this.#lost();
        else if (event.reason === 'fault') this.#fail(event.error, 'pipeline_error');
        else this.#fail(event.error, 'system_connect_error');
        break;
      default:
        this.#suspension.take(event);
    }
  }

  #open(start: MediaStart): void {
    const { plan } = this;
    const media = this.#media;
    if (media === undefined || this.#end !== undefined) return;
    this.#callId ??= start.callId;
    if (this.#callId !== start.callId) {
      this.#fail(new GatewayError('MEDIA_UNAUTHORIZED'), 'system_connect_error');
      return;
    }
    this.#continue();
    const targets: AudioEventTargets = {
      record: this.#record,
      dialogue: this.#dialogue,
      idle: this.#idle,
      mute: this.#mute,
      interim: this.#interim,
      isHidden: () => this.#audio?.hidesCaller === true || hidesDigits(this.#dialogue.state),
      onAnswered: (verdict) => this.#answered(verdict),
      onBroken: (error) => this.#fail(error, 'unexpected_error'),
      log: this.#log,
    };
    const audio = openAudio(this.#deps.services, {
      plan,
      start,
      media,

      recording: this.#options.recording,
      continued: this.#continuedRecording(),
      clock: this.#clock,
      onEvent: (event) => {
        // The log is another session's: words that come late are lost.
        if (this.#isGivenUp) return;
        if (event.type === 'turn') this.#wait.callerTurn();
        handleAudioEvent(targets, event);
        this.#wait.note();
      },
      log: this.#log,
    });
    this.#audio = audio;
    if (this.#options.resumed === undefined) {
      for (const fault of plan.faults) this.#record.fault(fault, false);
    }
    const { name, rateHz } = codecByName(start.codecIn);
    this.#record.note({ type: 'media.started', codec: name, rateHz });
    this.#log.info('media started');
    if (this.isAnswered) this.#begin();
  }

  #begin(): void {
    const { plan } = this;
    const audio = this.#audio;
    if (audio === undefined) return; // The conversation starts with its media.
    audio.listen();
    const listener = {
      isCallerSpeaking: () => audio.callerSpeaking,
      onEndingSoon: (text: string) => this.#dialogue.dispatch({ type: 'ending-soon', text }),
      onOver: () => this.#leave('call_duration_exceeded', 'gateway'),
    };
    limitDuration(plan, this.#timers, listener, this.#mediaMs() - (this.#answeredMs ?? 0));
    this.#idle.reset();
    if (this.#dialogue.state.phase !== 'before') {
      this.#goOn();
      return;
    }
    const begin = (initialContext: Record<string, unknown>) => {
      if (this.#end !== undefined) return; // The caller has left during the fetch.
      audio.ring(false);
      this.#dialogue.dispatch({ type: 'started', direction: plan.run.callType, initialContext });
      this.#wait.begin();
      // The provider's detection may have finished before the media came.
      const before = answeredBefore(this.#options.runLog.events);
      if (before !== undefined) audio.answeredBy(before);
    };
    onceFetched(plan, begin, () => {
      audio.ring(true);
      this.#mute.follow(this.#dialogue.state);
    });
  }

  /** Takes up the run's log and media time where another process has left them. */
  #continue(): void {
    const { resumed } = this.#options;
    if (resumed === undefined) return;
    const { mediaStartAt, lastMs, unlogged } = resumed;
    this.#startMs = Math.max(lastMs, this.#clock.now() - mediaStartAt);
    this.#record.note(resumedEntry(resumed, this.#startMs));
    for (const body of unlogged) this.#record.note(body);
  }

  #continuedRecording(): ContinuedRecording | undefined {
    const { resumed } = this.#options;
    return resumed && { startMs: this.#startMs, writtenMs: resumed.writtenMs };
  }

  /** Goes on in the middle of the conversation. */
  #goOn(): void {
    const { state } = this.#dialogue;
    this.#services.moveTo(placeIn(state));
    this.#mute.follow(state);
    this.#dialogue.dispatch({ type: 'resumed' });
    this.#wait.begin();
  }

  #answered(verdict: AnswerVerdict): void {
    const { who, by, isReady } = verdict;
    this.#record.note({ type: 'call.answered-by', answeredBy: answeredByOf(verdict), by });
    answerVerdicts.inc({ who, evidence: by });
    this.#dialogue.dispatch({ type: 'answered', who, by, isReady });
  }

  #receive(payload: Uint8Array, timestampMs: number): void {
    try {
      this.#audio?.audioIn(payload, timestampMs);
    } catch (error) {
      this.#fail(error, 'unexpected_error');
    }
  }

  /** Handles media that have broken off: the agent waits until the provider asks what to do with the call, or is not
   *  going to. */
  #lost(): void {
    if (!this.#canGoOn()) {
      this.#left();
      return;
    }
    this.#audio?.endMedia();
    this.#suspension.take({ type: 'interrupted' });
    this.#timers.after(LOST_MS_MAX, () => this.#left());
    if (this.plan.provider.capabilities.afterMedia === 'stays') this.#options.onLost?.();
  }

  /** Handles the end of the media. */
  #left(): void {
    this.#gone.abort(new GatewayError('PBX_CALL_GONE'));
    if (this.isAnswered) this.#leave('user_hangup', 'caller');
    else this.#timers.after(VERDICT_MS_MAX, () => void this.end('no-answer', 'provider'));
  }

  /** Ends the conversation from outside: the engine may still extract values, then it ends the call. */
  #leave(reason: EndReason, by: EndedBy): void {
    const audio = this.#audio;
    if (audio === undefined) {
      void this.end(reason, by);
      return;
    }
    if (this.#by !== 'caller') this.#by = by;
    this.#timers.after(LEAVE_MS_MAX, () => void this.end(reason, this.#by));
    this.#dialogue.dispatch({ type: 'ending', reason, lastWordsFollow: by === 'caller' });
    this.#guarded(() => {
      audio.stop();
      if (by !== 'caller') return;
      this.#leftMs ??= this.#startMs + audio.leave();
    });
  }

  /** Whether silence is expected at the moment. */
  #busy(): boolean {
    const audio = this.#audio;
    if (audio === undefined || this.#suspension.isSuspended) return true;
    return audio.speaking || audio.callerSpeaking || this.#dialogue.isAsking;
  }

  /** Runs `work`. A fault in our own code ends this call only. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#broken(error);
    }
  }

  #broken(error: unknown): void {
    const code = codeOf(error);
    const isUnexpected = code === undefined || code === 'QUEUE_FULL';
    this.#fail(error, isUnexpected ? 'unexpected_error' : 'pipeline_error');
  }

  #fail(error: unknown, reason: EndReason): void {
    this.#log.error({ err: error }, 'call failed');
    if (this.#end !== undefined) return;
    this.#record.fault(error, true);
    void this.end(reason, 'gateway');
  }

  #stopWork(): void {
    this.#timers.cancelAll();
    this.#guarded(() => this.#idle.close());
    this.#guarded(() => this.#wait.close());
    this.#guarded(() => this.#interim.drop());
  }

  async #close(reason: EndReason, by: EndedBy): Promise<void> {
    this.#stopWork();
    this.#guarded(() => {
      // The provider reports the end of media that were not seen to close.
      const audio = this.#audio;
      if (by === 'provider' && audio !== undefined) this.#leftMs ??= this.#startMs + audio.leave();
    });
    const endMs = this.#leftMs ?? this.#mediaMs();
    const talkedMs = endMs - (this.#answeredMs ?? endMs);
    try {
      await closeSession(this.#deps, {
        plan: this.plan,
        record: this.#record,
        audio: this.#audio,

        recording: this.#options.recording,
        isResumed: this.#options.resumed !== undefined,
        media: this.#media,
        log: this.#log,
        callId: this.#callId,
        durationS: talkedMs / 1_000,

        endMs,
        mediaMs: this.#mediaMs(),
        reason,
        by,
        isTaken: this.#isTaken,
      });
    } catch (error) {
      this.#log.error({ err: error }, 'call not closed completely');
    }
    this.#over();
  }

  #over(): void {
    if (this.#media !== undefined) callsActive.dec({ provider: this.plan.provider.name });
    this.#options.onEnded();
  }
}
