// One session of one service within a call: opened at a position of the call's audio, it gets what was said since then
// faster than real time until it has caught up, with the controls at their positions, and its times are the call's.

import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { SessionLimit } from '../../service/session-limit.ts';
import type { RecognizedWords, Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import type { AudioRing } from './audio-ring.ts';
import type { SpeechWatchdog } from './speech-watchdog.ts';

/** What was said to the recogniser, at a position of the audio. */
export interface Mark {
  kind: 'start' | 'stop' | 'resume' | 'finalize';
  at: number;
}

/** Settings of a recogniser beside the expected input. Each new session gets them. */
export interface SessionContext {
  language?: string | undefined;
  agentText?: string;
}

/** Words end so much before the moment they are reported, where a service gives no times. */
const LATENCY_SAMPLES = 1_600;
/** Speech without words up to its end: more than services take for interim words. */
const BEHIND_SAMPLES = 4_800;
const SAMPLES_PER_MS = 8;
const SPEED_MAX = 1.8;
const STEP_MS = 20;
const STEP_SAMPLES = STEP_MS * SAMPLES_PER_MS;
/** After a late timer: more at once would be a burst. */
const STEPS_MAX = 5;
/** Final words are overdue after this many times the service's 99th percentile, and at least after so long. */
const FINAL_SHARE = 3;
const FINAL_MS_MIN = 2_000;
const CONNECT_MS = 500;
/** A replay waits so long for a connection; clients give up one that is not ready before. */
const CONNECT_MS_MAX = 3_000;
/** And for one that was there: the service has begun to close it, and may leave it so. */
const CLOSING_MS_MAX = 500;
const DELAY_MS_MAX = 2_500;
/** At the end of a call: for the last words, and of that for a replay to go on. */
const LAST_MS_MAX = 2_000;
const LAST_REPLAY_MS_MAX = 1_000;

export interface RecognizerSessionOptions {
  service: SpeechToText;
  /** Of the service's key. */
  sessions?: SessionLimit | undefined;
  expectation: ExpectedInput;
  clock: Clock;
  ring: AudioRing;
  /** The position of its first sample. */
  from: number;
  /** Controls that it has not been given, in order. */
  marks: readonly Mark[];
  watchdog: SpeechWatchdog;
  /** The answer to `finalize` does not come, or no connection for a replay. */
  onOverdue(detail: string): void;
  listener: RecognizerListener;
}

export class RecognizerSession {
  readonly recognizer: Recognizer;
  readonly openedAt: number;
  readonly speed: number;
  /** The service has sent something. */
  isProven = false;
  readonly #options: RecognizerSessionOptions;
  /** Position up to which it has got the audio. */
  #sent: number;
  #marks: Mark[];
  /** Position up to which there are words, interim ones included. */
  #wordsTo = 0;
  /** Where the speech has ended. */
  #stoppedAt: number | undefined;
  #asked: Mark[] = [];
  readonly #frame = new Int16Array(STEP_SAMPLES);
  #step: Timer | undefined;
  #steppedAt = 0;
  #hasConnected = false;
  /** For how long there was no connection for the replay. */
  #unconnectedMs = 0;
  #overdue: Timer | undefined;
  /** While the end of a call waits for the replay. */
  #onCaughtUp: (() => void) | undefined;
  /** It gets no more audio. */
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

  /** Audio waits here until it is over, so that none goes out faster than `speed`. */
  get #isConnecting(): boolean {
    return this.recognizer.isReady === false;
  }

  /** Where words that come now end, if they have no times. */
  get likelyEnd(): number {
    return this.#sent - LATENCY_SAMPLES;
  }

  /** The known words end well before the speech does: the service is late, or has stopped. */
  get isBehind(): boolean {
    if (!this.#options.service.capabilities.interimWords) return false;
    return (this.#stoppedAt ?? this.#sent) - this.#wordsTo > BEHIND_SAMPLES;
  }

  /** `finalize` has no answer yet. */
  get owesFinal(): boolean {
    return this.#asked.length > 0;
  }

  /** It gets no more audio; its last words may come. */
  get isEnding(): boolean {
    return this.#isClosed;
  }

  /** Audio that it has not got. */
  get lagSamples(): number {
    return this.#step === undefined ? 0 : this.#options.ring.written - this.#sent;
  }

  /** Until words of now can come, with the time to connect. */
  get delayMs(): number {
    return Math.min(DELAY_MS_MAX, CONNECT_MS + this.lagSamples / SAMPLES_PER_MS / this.speed);
  }

  /** A frame that was written to the ring; borrowed. */
  pushed(frame: Int16Array): void {
    if (this.#step !== undefined || this.#isClosed) return;
    this.#sent += frame.length;
    this.recognizer.push(frame);
  }

  mark(mark: Mark): void {
    if (this.#step === undefined) this.#give(mark);
    else this.#marks.push(mark);
  }

  /** Not within replayed audio, whose words are late anyway. */
  prepareFinal(): void {
    if (this.#step === undefined && !this.#isClosed) this.recognizer.prepareFinal?.();
  }

  /** A final came. The `finalize` that it answers, if one is due. */
  answered(): Mark | undefined {
    const mark = this.#asked.shift();
    this.#overdue?.cancel();
    this.#overdue = undefined;
    if (this.#asked.length > 0) this.#awaitFinal();
    return mark;
  }

  /** The position of the last word's end; undefined where the service has no times. */
  endOf(words: RecognizedWords): number | undefined {
    const last = words.words?.at(-1);
    return last === undefined ? undefined : Math.ceil(last.endMs * SAMPLES_PER_MS);
  }

  /** What the service still has to say comes until this resolves. `isInSpeech`: a replay that is under way goes on for a
   *  while, because services end a session in which audio comes faster; both have 2 s. */
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

  /** Resolves when it has all audio, when it is closed, or after 1 s. */
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

  /** Once. */
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

  /** So many samples, with the controls between them. A fault may close the session within. */
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

  /** The listener with the times of the call. */
  #shifted(): RecognizerListener {
    const { listener, from } = this.#options;
    const byMs = from / SAMPLES_PER_MS;
    return {
      ...listener,
      onPartial: (words) => listener.onPartial(this.#noted(shift(words, byMs))),
      onFinal: (words) => listener.onFinal(this.#noted(shift(words, byMs))),
      onTurn: (turn, words) => listener.onTurn?.(turn, shift(words, byMs)),
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
