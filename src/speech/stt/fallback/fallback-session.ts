// One session of one service within a call, opened at a position of the call's audio. The audio since then is replayed
// faster than real time until the session has caught up, with the controls at their positions. Its times are converted
// to the call's.

import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { SessionLimit } from '../../service/session-limit.ts';
import type { RecognizedWords, Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import type { AudioRing } from './audio-ring.ts';
import type { SpeechWatchdog } from './speech-watchdog.ts';

/** A control call to the recogniser, at a position of the audio. */
export interface Mark {
  kind: 'start' | 'stop' | 'resume' | 'finalize';
  at: number;
}

/** Settings of a recogniser besides the expected input. Each new session gets them. */
export interface SessionContext {
  language?: string | undefined;
  agentText?: string;
}

/** Assumed delay from the end of a word to its report, if a service sends no times. */
const LATENCY_SAMPLES = 1_600;
/** Speech that may lack words at its end: more than services need for interim words. */
const BEHIND_SAMPLES = 4_800;
const SAMPLES_PER_MS = 8;
const SPEED_MAX = 1.8;
const STEP_MS = 20;
const STEP_SAMPLES = STEP_MS * SAMPLES_PER_MS;
/** Steps after a late timer. More at once would be a burst. */
const STEPS_MAX = 5;
/** Final words are overdue after this many times the service's 99th percentile, but not before a minimum. */
const FINAL_SHARE = 3;
const FINAL_MS_MIN = 2_000;
const CONNECT_MS = 500;
/** Longest wait of a replay for a connection. Clients give up an unready one earlier. */
const CONNECT_MS_MAX = 3_000;
/** The same if the session was connected before: the service has begun to close it, and may never finish. */
const CLOSING_MS_MAX = 500;
const DELAY_MS_MAX = 2_500;
/** Limit at the end of a call for the last words, and within it for the rest of a replay. */
const LAST_MS_MAX = 2_000;
const LAST_REPLAY_MS_MAX = 1_000;

export interface RecognizerSessionOptions {
  service: SpeechToText;
  /** Concurrency limit of the service's key. */
  sessions?: SessionLimit | undefined;
  expectation: ExpectedInput;
  clock: Clock;
  ring: AudioRing;
  /** Position of its first sample. */
  from: number;
  /** Controls that the session has not received, in order. */
  marks: readonly Mark[];
  watchdog: SpeechWatchdog;
  /** Called if `finalize` is not answered, or if a replay has no connection. */
  onOverdue(detail: string): void;
  listener: RecognizerListener;
}

export class RecognizerSession {
  readonly recognizer: Recognizer;
  readonly openedAt: number;
  readonly speed: number;
  /** Whether the service has sent anything. */
  isProven = false;
  readonly #options: RecognizerSessionOptions;
  /** Position up to which the session has received the audio. */
  #sent: number;
  #marks: Mark[];
  /** Position up to which there are words, including interim ones. */
  #wordsTo = 0;
  /** Position at which the speech ended. */
  #stoppedAt: number | undefined;
  #asked: Mark[] = [];
  readonly #frame = new Int16Array(STEP_SAMPLES);
  #step: Timer | undefined;
  #steppedAt = 0;
  #hasConnected = false;
  /** Time that the replay has waited for a connection. */
  #unconnectedMs = 0;
  #overdue: Timer | undefined;
  /** Set while the end of a call waits for the replay. */
  #onCaughtUp: (() => void) | undefined;
  /** Whether the session receives no more audio. */
  #isClosed = false;

  constructor(options: RecognizerSessionOptions) {
    this.#options = options;
    const { service, clock, ring, from, marks, expectation } = options;
    this.openedAt = clock.monotonicMs();
    this.speed = Math.min(SPEED_MAX, service.capabilities.replaySpeedMax ?? SPEED_MAX);
    this.#sent = from;
    this.#marks = [...marks];
    this.recognizer = service.open(expectation, this.#shifted());
    options.sessions?.opened();
    if (from < ring.written || marks.length > 0 || this.#isConnecting) this.#replay();
  }

  /** Whether the recogniser is connecting. Audio waits here until then, so that none is sent faster than `speed`. */
  get #isConnecting(): boolean {
    return this.recognizer.isReady === false;
  }

  /** Likely end of words that arrive now, if they have no times. */
  get likelyEnd(): number {
    return this.#sent - LATENCY_SAMPLES;
  }

  /** Whether the known words end well before the speech: the service is late or has stopped. */
  get isBehind(): boolean {
    if (!this.#options.service.capabilities.interimWords) return false;
    return (this.#stoppedAt ?? this.#sent) - this.#wordsTo > BEHIND_SAMPLES;
  }

  /** Whether a `finalize` has no answer yet. */
  get owesFinal(): boolean {
    return this.#asked.length > 0;
  }

  /** Whether the session receives no more audio. Its last words may still arrive. */
  get isEnding(): boolean {
    return this.#isClosed;
  }

  /** Audio that the session has not received. */
  get lagSamples(): number {
    return this.#step === undefined ? 0 : this.#options.ring.written - this.#sent;
  }

  /** Expected delay until words of the current audio, including the time to connect. */
  get delayMs(): number {
    return Math.min(DELAY_MS_MAX, CONNECT_MS + this.lagSamples / SAMPLES_PER_MS / this.speed);
  }

  /** Passes on a frame that was written to the ring; borrowed. */
  pushed(frame: Int16Array): void {
    if (this.#step !== undefined || this.#isClosed) return;
    this.#sent += frame.length;
    this.recognizer.push(frame);
  }

  mark(mark: Mark): void {
    if (this.#step === undefined) this.#give(mark);
    else this.#marks.push(mark);
  }

  /** Has no effect within replayed audio, whose words are late anyway. */
  prepareFinal(): void {
    if (this.#step === undefined && !this.#isClosed) this.recognizer.prepareFinal?.();
  }

  /** Records a final. Returns the `finalize` that it answers, if one is due. */
  answered(): Mark | undefined {
    const mark = this.#asked.shift();
    this.#overdue?.cancel();
    this.#overdue = undefined;
    if (this.#asked.length > 0) this.#awaitFinal();
    return mark;
  }

  /** Position of the last word's end. Undefined if the service sends no times. */
  endOf(words: RecognizedWords): number | undefined {
    const last = words.words?.at(-1);
    return last === undefined ? undefined : Math.ceil(last.endMs * SAMPLES_PER_MS);
  }

  /** Ends the session. Its remaining words arrive before this resolves. `isInSpeech`: a running replay continues for a
   *  while, because services end a session in which audio arrives faster. Both have 2 s. */
  async finish(isInSpeech: boolean): Promise<void> {
    const { clock } = this.#options;
    const isLate = isInSpeech && this.#step !== undefined;
    let deadline: Timer | undefined;
    const isOver = new Promise<void>((resolve) => {
      if (isLate) deadline = clock.after(LAST_MS_MAX, resolve);
    });
    if (isLate) await this.#caughtUp();
    if (!this.#isClosed) {
      this.#stop();
      await Promise.race([this.recognizer.finish?.(), isOver]);
    }
    deadline?.cancel();
  }

  setContext({ language, agentText }: SessionContext): void {
    if (language !== undefined) this.recognizer.setLanguage?.(language);
    if (agentText !== undefined) this.recognizer.agentSaid?.(agentText);
  }

  /** Resolves when the session has received all audio, when it is closed, or after 1 s. */
  #caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.#options.clock.after(LAST_REPLAY_MS_MAX, () => this.#onCaughtUp?.());
      this.#onCaughtUp = () => {
        end.cancel();
        this.#onCaughtUp = undefined;
        resolve();
      };
    });
  }

  /** Called once. */
  close(): void {
    this.#options.sessions?.closed();
    this.#stop();
    this.recognizer.close();
  }

  #stop(): void {
    this.#isClosed = true;
    this.#step?.cancel();
    this.#step = undefined;
    this.#overdue?.cancel();
    this.#overdue = undefined;
    this.#onCaughtUp?.();
  }

  #give(mark: Mark): void {
    this.#stoppedAt = mark.kind === 'stop' ? mark.at : undefined;
    if (mark.kind === 'start') this.recognizer.speechStarted();
    else if (mark.kind === 'stop') this.recognizer.speechStopped?.();
    else if (mark.kind === 'resume') this.recognizer.speechResumed?.();
    // Without interim words, silence during speech is normal.
    if (this.#options.service.capabilities.interimWords) this.#watch(mark);
    if (mark.kind !== 'finalize') return;
    this.#asked.push(mark);
    if (this.#overdue === undefined) this.#awaitFinal();
    this.recognizer.finalize();
  }

  #watch({ kind, at }: Mark): void {
    const { watchdog } = this.#options;
    const atMs = at / SAMPLES_PER_MS;
    if (kind === 'start') watchdog.speaks(atMs);
    else if (kind === 'stop') watchdog.pauses(atMs);
    else if (kind === 'resume') watchdog.speaksOn();
    else watchdog.stop();
  }

  #awaitFinal(): void {
    const { clock, service, onOverdue } = this.#options;
    const ms = Math.max(FINAL_MS_MIN, service.capabilities.finalMsP99 * FINAL_SHARE);
    this.#overdue?.cancel();
    this.#overdue = clock.after(ms, () => onOverdue('no final words in time'));
  }

  #replay(): void {
    const { clock } = this.#options;
    this.#steppedAt = clock.monotonicMs();
    this.#step = clock.after(STEP_MS, () => this.#stepped());
  }

  #stepped(): void {
    const { clock } = this.#options;
    const now = clock.monotonicMs();
    const passedMs = now - this.#steppedAt;
    const steps = Math.min(STEPS_MAX, passedMs / STEP_MS);
    this.#steppedAt = now;
    if (this.#isConnecting) this.#awaitConnection(passedMs);
    else {
      this.#hasConnected = true;
      this.#unconnectedMs = 0;
      this.#catchUp(Math.round(steps * STEP_SAMPLES * this.speed));
    }
    if (this.#isClosed) return;
    const isBehind =
      this.#isConnecting || this.#sent < this.#options.ring.written || this.#marks.length > 0;
    this.#step = isBehind ? clock.after(STEP_MS, () => this.#stepped()) : undefined;
    if (!isBehind) this.#onCaughtUp?.();
  }

  #awaitConnection(passedMs: number): void {
    this.#unconnectedMs += passedMs;
    const msMax = this.#hasConnected ? CLOSING_MS_MAX : CONNECT_MS_MAX;
    if (this.#unconnectedMs >= msMax) this.#options.onOverdue('no connection for the replay');
  }

  /** Sends this many samples, with the controls between them. A fault may close the session meanwhile. */
  #catchUp(samples: number): void {
    const { ring } = this.#options;
    let left = samples;
    while (!this.#isClosed) {
      const [mark] = this.#marks;
      if (mark !== undefined && mark.at <= this.#sent) {
        this.#marks.shift();
        this.#give(mark);
        continue;
      }
      const until = Math.min(mark?.at ?? ring.written, this.#sent + left);
      const count = Math.min(until - this.#sent, STEP_SAMPLES);
      if (count <= 0) return;
      const frame = count === STEP_SAMPLES ? this.#frame : this.#frame.subarray(0, count);
      ring.read(this.#sent, frame);
      this.#sent += count;
      left -= count;
      this.recognizer.push(frame);
    }
  }

  #noted(words: RecognizedWords): RecognizedWords {
    if (words.text === '') return words;
    this.#wordsTo = Math.max(this.#wordsTo, this.endOf(words) ?? this.likelyEnd);
    return words;
  }

  /** The listener, with times converted to the call's. */
  #shifted(): RecognizerListener {
    const { listener, from } = this.#options;
    const byMs = from / SAMPLES_PER_MS;
    return {
      ...listener,
      onPartial: (words) => listener.onPartial(this.#noted(shift(words, byMs))),
      onFinal: (words) => listener.onFinal(this.#noted(shift(words, byMs))),
      onTurn: (turn, words) => listener.onTurn?.(turn, shift(words, byMs)),
      onDelayed: (ms) => {
        // A service that reports a delay works: its words are not overdue.
        if (this.#overdue !== undefined) this.#awaitFinal();
        listener.onDelayed?.(ms);
      },
      onError: (error) => {
        const isRefusal = error instanceof ServiceFault && error.kind === 'rate' && !this.isProven;
        if (isRefusal && !this.#isClosed) this.#options.sessions?.refused();
        listener.onError(error);
      },
    };
  }
}

function shift(given: RecognizedWords, byMs: number): RecognizedWords {
  if (byMs === 0 || given.words === undefined) return given;
  const words = given.words.map(({ word, startMs, endMs }) => ({
    word,
    startMs: startMs + byMs,
    endMs: endMs + byMs,
  }));
  return { ...given, words };
}
