// One call's audio: joins the jitter buffer, voice activity detection, turn-taking and barge-in, speech and
// playout, DTMF and the recording. Independent of provider, socket and workflow; everything is reported to
// `onEvent`, synchronously.

import { levelDb } from '../audio/gain.ts';
import { FRAME_MS } from '../audio/pcm.ts';
import { dtmfTones } from '../audio/tones/tone-generator.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { framesIn } from '../metrics/metrics.ts';
import type { ExpectedInput } from '../model/expected-input.ts';
import type { Clock } from '../std/clock.ts';
import { AnswerSupervisor } from './answer/answer-supervisor.ts';
import { type CallAudioEvent, reportOf, turnOfKeys, utteranceStart } from './call-audio-event.ts';
import type {
  CallAudioOptions,
  CallAudioServices,
  SpokenClip,
  UtteranceText,
} from './call-audio-options.ts';
import { CallRecognizer } from './call-recognizer.ts';
import { DeferredEvents } from './deferred-events.ts';
import { EchoDetector } from './listen/echo-guard.ts';
import { VoiceActivityDetector } from './listen/voice-activity.ts';
import { BatchedReader } from './receive/batched-reads.ts';
import { Depacketizer } from './receive/depacketizer.ts';
import { DigitCollector, type DigitEntry } from './receive/digit-collector.ts';
import { InBandDtmf } from './receive/in-band-dtmf.ts';
import { StallBacklog } from './receive/stall-backlog.ts';
import { Recorder, type RecordingSummary } from './recorder.ts';
import { AgentVoice } from './speak/agent-voice.ts';
import type { AwaySound } from './speak/filler.ts';
import type { Utterance, UtteranceResult } from './speak/utterance.ts';
import { OwnStalls } from './stalls.ts';
import { TurnTaking } from './turn/turn-taking.ts';

/** Time without audio from the caller after which silence is assumed. */
const NO_MEDIA_MS = 200;
/** Time that is kept out of the recording after hidden digits. */
const HIDDEN_MS = 2_000;
const KEY = /^[0-9*#A-D]$/;
/** Id of the DTMF tones' utterance. Utterances from outside have ids from 0 up. */
const TONES = -1;
/** Time for which our own tones may return as echo, longer than the round trip to any far end. */
const TONES_ECHO_MS = 1_000;

export class CallAudio {
  readonly #clock: Clock;
  readonly #inflow: BatchedReader;
  readonly #log: Log;
  readonly #startAt: number;
  readonly #events: DeferredEvents<CallAudioEvent>;
  readonly #decoder: Depacketizer;
  readonly #backlog: StallBacklog;
  readonly #vad: VoiceActivityDetector;
  readonly #echo = new EchoDetector();
  readonly #digits = new DigitCollector();
  /** Media time up to which the caller is kept out of the recording; Infinity while that is asked for. */
  #hiddenUntilMs = Number.NEGATIVE_INFINITY;
  readonly #inBandDtmf: InBandDtmf | undefined;
  readonly #agent: AgentVoice;
  readonly #turnTaking: TurnTaking;
  readonly #recorder: Recorder | undefined;
  readonly #answer: AnswerSupervisor | undefined;
  readonly #recognizer: CallRecognizer;
  readonly #removeTurns: () => void;
  readonly #stalls = new OwnStalls();
  /** Media time up to which the caller's audio has arrived. */
  #heardMs = 0;
  #leftMs: number | undefined;
  #isListening = false;
  #isSuspended = false;
  /** Whether the current voice is the caller's, not the agent's echo. */
  #isCallerVoice = false;
  /** Whether a frame or a tick is being processed; its events are delivered after it. */
  #working = false;
  #closing: Promise<RecordingSummary | undefined> | undefined;

  constructor(options: CallAudioOptions) {
    const { clock, mediaClock, codecIn, recording, continued, stt, answer, onEvent } = options;
    this.#events = new DeferredEvents(onEvent, (error) => onEvent({ type: 'broken', error }));
    this.#clock = clock;
    this.#inflow = new BatchedReader(options.inflow);
    this.#log = options.log;
    this.#startAt = Math.floor(clock.monotonicMs());
    const onFault = (error: GatewayError) => this.#fault(error);
    this.#recorder = recording && new Recorder({ file: recording, continued, onFault });
    this.#decoder = new Depacketizer({
      codec: codecIn,
      sink: (frame, atMs) => this.#receive(frame, atMs),
    });
    this.#backlog = new StallBacklog(clock, this.#decoder, (error) => this.#fault(error));
    this.#vad = new VoiceActivityDetector({
      vad: options.vad,
      onWindow: () => this.#window(),
      onBroken: this.#events.broken,
    });
    if (options.detectsInBandDtmf === true)
      this.#inBandDtmf = new InBandDtmf((key) => this.#key(key));
    this.#agent = this.#createAgent(options);
    this.#recognizer = new CallRecognizer({
      stt,
      events: this.#events,
      mediaMs: () => this.mediaMs,
      onFault,
    });
    this.#turnTaking = new TurnTaking({
      playout: this.#agent.playout,
      tuning: options.tuning,
      recognizer: stt?.capabilities,
      languages: options,
      controls: this.#recognizer,
      startAt: this.#startAt,
      onEvent: (event) => {
        this.#answer?.turnEvent(event, this.#turnTaking.language);
        this.#recognizer.turnEvent(event);
      },
    });
    this.#answer =
      answer &&
      new AnswerSupervisor({
        ...answer,
        onVerdict: (verdict) => this.#events.defer({ type: 'answered', verdict }),
      });
    if (options.isInputMuted !== true) this.listen();
    const taker = { send: this.#sendDue, receive: this.#receiveDue };
    this.#removeTurns = mediaClock.add(taker, this.#events.broken, this.#agent.playout.isStepped);
  }

  /** Starts to process the caller's audio. The agent may speak from here on. */
  listen(): void {
    if (this.#isListening || this.#closing !== undefined) return;
    this.#isListening = true;
    this.#recognizer.open(this.#turnTaking);
  }

  /** Media time: whole milliseconds since the start of the call's audio. */
  get mediaMs(): number {
    return Math.floor(this.#clock.monotonicMs()) - this.#startAt;
  }

  /** Whether any audio of the caller has arrived. */
  get hasHeard(): boolean {
    return this.#heardMs > 0;
  }

  /** Whether the agent speaks, or has audio queued. */
  get speaking(): boolean {
    return !this.#agent.playout.empty;
  }

  get callerSpeaking(): boolean {
    return this.#turnTaking.callerSpeaking;
  }

  /** Whether the caller is in the middle of a turn, by voice or keys. */
  get isCallerBusy(): boolean {
    return this.callerSpeaking || this.#digits.isOpen;
  }

  /** Whether the caller speaks, or pauses after words. */
  get isCallerTalking(): boolean {
    return this.#turnTaking.isCallerTalking;
  }

  /** Whether the caller's keys and words must not be written down. */
  get hidesCaller(): boolean {
    return this.#hiddenUntilMs > this.mediaMs;
  }

  /** Keeps the caller out of the recording, and 2 s longer than that: the tone of the last key goes on, and callers press
   *  further ones. */
  hideCaller(on: boolean): void {
    if (on) this.#hiddenUntilMs = Number.POSITIVE_INFINITY;
    else if (this.#hiddenUntilMs === Number.POSITIVE_INFINITY) {
      this.#hiddenUntilMs = this.mediaMs + HIDDEN_MS;
    }
  }

  /** Takes audio from the provider. `timestampMs` counts from the start of the stream; NaN without a timestamp. */
  audioIn(payload: Uint8Array, timestampMs: number): void {
    if (this.#closing !== undefined) return;
    const nowMs = this.mediaMs;
    if (this.#backlog.drops(payload, timestampMs, nowMs)) return;
    this.#decoder.push(payload, timestampMs, nowMs);
    this.#events.flush();
  }

  /** Takes a key of the caller: 0-9 * # A-D. Anything else is ignored. */
  digit(digit: string): void {
    if (this.#closing !== undefined || this.#agent.isAway || !KEY.test(digit)) return;
    if (this.#inBandDtmf?.noteSignalled(digit, this.mediaMs) !== false) this.#key(digit);
    this.#events.flush();
  }

  /** The provider returned a mark. */
  mark(name: string): void {
    if (this.#closing !== undefined) return;
    this.#agent.playout.mark(name, this.mediaMs);
    this.#events.flush();
  }

  /** Takes the lower bound of sent audio that the far end has not played yet, in milliseconds. */
  unplayed(ms: number): void {
    if (this.#closing !== undefined) return;
    this.#agent.playout.unplayed(ms, this.mediaMs);
    this.#events.flush();
  }

  /** Whether the answer supervisor listens. */
  get isSupervised(): boolean {
    return this.#answer !== undefined && this.#isListening;
  }

  /** Takes the result of the provider's answering machine detection, in its words. */
  answeredBy(result: string): void {
    if (this.#closing !== undefined) return;
    this.#answer?.provider(result);
    this.#events.flush();
  }

  /** Queues an utterance behind the current ones. */
  speak(options: { utteranceId: number; interruptible: boolean }): UtteranceText {
    const speech = this.#agent.speak(options.utteranceId, options.interruptible);
    this.#events.flush();
    return speech;
  }

  /** Queues a recorded clip like an utterance. */
  play(clip: SpokenClip): void {
    this.#agent.play(clip.utteranceId, clip.interruptible, clip);
    this.#events.flush();
  }

  /** Plays a short clip at once while the agent's own speech is missing: before everything queued, or within an
   *  utterance that waits for its words. It is reported like an utterance. */
  interject(clip: Omit<SpokenClip, 'interruptible'>): void {
    this.#agent.interject(clip.utteranceId, clip);
    this.#events.flush();
  }

  /** Whether the agent has words that are not sent, or not synthesised yet. */
  get owesSpeech(): boolean {
    return this.#agent.playout.owesSpeech;
  }

  /** Starts or stops the waiting tone in the agent's pauses. The agent's next words end it too. It is not reported. */
  hold(on: boolean): void {
    this.#agent.hold(on);
  }

  /** Monotonic milliseconds since both sides have been silent; in the future while audio that was sent is not played;
   *  Infinity while the caller speaks. */
  get silentSince(): number {
    return this.#startAt + Math.max(this.#agent.playout.silentMs, this.#turnTaking.silentMs);
  }

  /** Queues tones of DTMF keys (as in `dtmfTones`) like an utterance that is not reported. False if the queue is
   *  full. */
  press(digits: string): boolean {
    const isQueued = this.#agent.play(TONES, false, { text: '', samples: dtmfTones(digits) });
    this.#events.flush();
    return isQueued;
  }

  /** Starts or stops a ring-back tone in the agent's pauses. After the stop it ends within 60 ms. */
  ring(on: boolean): void {
    this.#agent.ring(on);
  }

  /** Starts a consultation, in which the agent announces the caller to a transfer destination: until null the caller
   *  gets `sound`, and the recogniser no audio. */
  away(sound: AwaySound | null): void {
    this.#agent.away(sound);
  }

  /** Sets the expected input of the caller. */
  expect(expectation: ExpectedInput): void {
    this.#recognizer.expect(expectation);
    this.#turnTaking.expect(expectation);
    this.#digits.expect(expectation);
  }

  /** Changes the services: the voice with the next utterance, the recogniser after the caller's current turn. */
  use(services: CallAudioServices): void {
    this.#agent.use(services);
    this.#recognizer.switchTo(services.sttList ?? 0);
    this.#turnTaking.setLanguages(services);
  }

  /** Drops everything queued and stops. */
  stop(): void {
    this.#agent.stop();
    this.#events.flush();
  }

  /** Suspends or continues the call's audio while the parties are disconnected: nothing is sent or recognised. After
   *  it, the agent says what was interjected meanwhile, and continues at the word that was cut. */
  suspend(on: boolean): void {
    this.#isSuspended = on;
    this.#agent.suspend(on);
    this.#events.flush();
  }

  /** Closes after the caller's media have ended. Returns the media time at which the caller left. */
  leave(): number {
    const leftMs = this.endMedia();
    void this.close();
    return leftMs;
  }

  /** Notes that the media are over, without an end of the services. Returns their last moment, as `leave` will. */
  endMedia(): number {
    this.#leftMs ??= this.#stalls.endOfMedia(this.#heardMs, this.mediaMs);
    return this.#leftMs;
  }

  /** Ends the services and finishes the recording. Undefined without a recording. Never rejects. */
  close(): Promise<RecordingSummary | undefined> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  #end(): Promise<RecordingSummary | undefined> {
    const endMs = this.#leftMs ?? this.mediaMs;
    this.#removeTurns();
    this.#inflow.close();
    this.#agent.close();
    const finished = this.#recognizer.finish();
    this.#vad.close();
    const { late, duplicates, concealed } = this.#decoder;
    this.#log.debug({ late, duplicates, concealed }, 'caller audio ended');
    const summary = this.#recorder?.close(endMs) ?? Promise.resolve(undefined);
    this.#events.flush();
    return finished.then(() => summary);
  }

  #receive(frame: Int16Array, atMs: number): void {
    const frameDb = levelDb(frame);
    framesIn.inc();
    this.#heardMs = atMs + FRAME_MS;
    if (this.#isSuspended || this.#agent.isAway) return; // Music on hold of the far end.
    if (!this.hidesCaller) this.#recorder?.caller(frame, atMs);
    if (!this.#isListening) return;
    this.#echo.incoming(frameDb, atMs);
    this.#recognizer.push(frame);
    this.#working = true;
    this.#inBandDtmf?.push(frame, atMs);
    this.#vad.push(frame, atMs, frameDb);
    this.#working = false;
    const isVoice = this.#isCallerVoice && this.#vad.voice.state === 'speech';
    this.#answer?.push(frame, frameDb, isVoice, atMs);
    this.#turnTaking.advance(this.mediaMs, this.#vad.positionMs);
  }

  #key(key: string): void {
    const nowMs = this.mediaMs;
    this.#events.defer({ type: 'digit', digit: key });
    if (this.#digits.isBelated(key, nowMs)) return;
    this.#turnTaking.digit(nowMs);
    this.#entry(this.#digits.push(key, nowMs));
  }

  #window(): void {
    this.#judge();
    if (!this.#working) this.#events.flush();
  }

  #judge(): void {
    const { voice } = this.#vad;
    if (voice.state === 'silent') {
      if (this.#isCallerVoice) this.#turnTaking.voice(voice, this.mediaMs);
      this.#isCallerVoice = false;
      return;
    }
    // Computed each time: the echo guard measures the echo level of this call.
    const suspected = this.#echo.isEcho();
    this.#isCallerVoice ||= !suspected;
    if (this.#isCallerVoice) this.#turnTaking.voice(voice, this.mediaMs);
  }

  #entry(entry: DigitEntry | undefined): void {
    if (entry === undefined) return;
    const turn = turnOfKeys(entry, this.#startAt, this.mediaMs);
    this.#events.defer({ type: 'turn', turn });
  }

  #createAgent(options: CallAudioOptions): AgentVoice {
    return new AgentVoice({
      ...options,
      mediaMs: () => this.mediaMs,
      codec: options.codecOut,
      listener: {
        mayStart: (utterance, nowMs) => this.#turnTaking.mayStart(utterance, nowMs),
        onStarted: (utterance, nowMs) => this.#started(utterance, nowMs),
        onFinished: (facts) => this.#finished(facts),
        onPlayed: (frame, samples, atMs) => {
          this.#recorder?.agent(frame, samples, atMs);
          this.#echo.outgoing(levelDb(frame), atMs);
        },
        onUsage: (usage) => this.#events.defer({ type: 'usage', usage }),
        onFault: (error) => this.#fault(error),
        onSettled: () => this.#events.flush(),
      },
    });
  }

  #started(utterance: Utterance, nowMs: number): void {
    if (utterance.id === TONES) {
      this.#inBandDtmf?.ignoreUntil(Number.POSITIVE_INFINITY);
      return;
    }
    const facts = utteranceStart(utterance, this.#clock.monotonicMs(), nowMs);
    this.#events.defer({ type: 'utterance-started', facts });
  }

  #finished(facts: UtteranceResult): void {
    const { utterance, heardText, endMs } = facts;
    this.#turnTaking.finished(facts);
    if (utterance.id === TONES) {
      this.#inBandDtmf?.ignoreUntil(endMs + TONES_ECHO_MS);
      return;
    }
    if (heardText !== '') this.#answer?.agentSpoke();
    this.#recognizer.agentSaid(heardText);
    this.#events.defer({ type: 'utterance-finished', report: reportOf(facts) });
  }

  #fault(error: GatewayError): void {
    this.#events.defer({ type: 'fault', error });
    this.#events.flush();
  }

  readonly #sendDue = (nowAt: number, strideMs: number, stallMs: number): void => {
    const nowMs = nowAt - this.#startAt;
    this.#stalls.turn(nowMs);
    if (this.#isListening) this.#agent.playout.tick(nowMs, strideMs, stallMs);
    this.#events.flush();
  };

  /** Reports the new state of the caller's voice, and acts on it and on silence. */
  readonly #receiveDue = (nowAt: number, strideMs: number): void => {
    const nowMs = nowAt - this.#startAt;
    this.#agent.playout.advance(nowMs); // Echo is found by comparison with the audio played before.
    this.#inflow.poll(strideMs);
    if (this.#closing !== undefined) return;
    this.#decoder.tick(nowMs);
    if (this.#isListening) {
      this.#working = true;
      this.#vad.tick(nowMs);
      this.#working = false;
      this.#recognizer.tick(strideMs);
      this.#turnTaking.advance(nowMs, Math.max(this.#vad.positionMs, nowMs - NO_MEDIA_MS));
      this.#entry(this.#digits.tick(nowMs));
    }
    this.#recorder?.tick(nowMs);
    this.#events.flush();
  };
}
