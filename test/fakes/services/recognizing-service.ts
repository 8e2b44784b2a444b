// A recogniser in this process that finds the words in its audio (fakes/call/spoken-words.ts), with the delays of a real one, and
// fails as a test says.

import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { ExpectedInput } from '../../../src/model/expected-input.ts';
import { type FaultKind, ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { createGatedAudio } from '../../../src/speech/stt/gated-audio.ts';
import type {
  RecognizedWords,
  Recognizer,
  RecognizerListener,
  SpeechToText,
  SttCapabilities,
} from '../../../src/speech/stt/stt.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { type HeardWord, ulawOf, WordFinder } from '../call/spoken-words.ts';

const PARTIAL_MS = 150;

/** What goes wrong with one session. Times are milliseconds of its audio. */
export interface SessionFaults {
  failAtMs?: number;
  kind?: FaultKind;
  /** No results from here on. */
  silentAtMs?: number;
  /** No words and no sign of life from here on; `finalize` is answered without words, as clients do it whose service has
   *  stopped. */
  deafAtMs?: number;
  failOnFinalize?: boolean;
  failOnFinish?: boolean;
  /** The connection is not there from here on, and nobody says so: 0 is never. */
  unreadyAtMs?: number;
  neverFinal?: boolean;
}

export interface RecognizingOptions {
  clock: Clock;
  name: string;
  capabilities?: Partial<SttCapabilities>;
  /** Words are fixed unasked after so many. */
  fixedAfterWords?: number;
  /** So long after the last of them. */
  fixedMs?: number;
  /** Its words have no times. */
  timeless?: boolean;
  /** Ends turns itself after so much silence. */
  endsAfterMs?: number;
  /** Reports the probable end of a turn after so much silence. */
  eagerAfterMs?: number;
  finalMs?: number;
  /** Its interim words have one too many at first, which it takes back. */
  revisesPartials?: boolean;
  /** Sends the words of its final words once more as interim words, so much later. */
  repeatsAfterMs?: number;
  /** Its last words come so long after the end of the call. Default: it has none. */
  lastMs?: number;
  /** It has no room, as the embedded one says it. */
  refuses?: boolean;
  /** Faults of each session, in their order; the last one counts on. */
  faults?: (nth: number) => SessionFaults;
}

export class RecognizingService implements SpeechToText {
  readonly name: string;
  readonly model = 'test';
  readonly capabilities: SttCapabilities;
  readonly sessions: Session[] = [];
  prepared = 0;
  isClosed = false;
  readonly #options: RecognizingOptions;

  constructor(options: RecognizingOptions) {
    this.#options = options;
    this.name = options.name;
    this.capabilities = { interimWords: true, finalMsP99: 300, ...options.capabilities };
  }

  open(expectation: ExpectedInput, listener: RecognizerListener): Recognizer {
    const faults = this.#options.faults?.(this.sessions.length) ?? {};
    const session = new Session(this.#options, faults, listener, expectation);
    this.sessions.push(session);
    if (this.#options.refuses === true) {
      const refusal = new GatewayError('STT_UNAVAILABLE', { reason: 'too many calls' });
      this.#options.clock.after(0, () => listener.onError(refusal));
    }
    return session;
  }

  prepare(): void {
    this.prepared += 1;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

class Session implements Recognizer {
  readonly finder = new WordFinder();
  readonly calls: string[] = [];
  expectation: ExpectedInput;
  isClosed = false;
  readonly #options: RecognizingOptions;
  readonly #faults: SessionFaults;
  readonly #listener: RecognizerListener;
  #words: HeardWord[] = [];
  /** Those of the answer on its way. */
  #asked: HeardWord[] = [];
  #hasFailed = false;
  #isEager = false;
  /** Answers on their way: until they are there, nothing is sent unasked. */
  #due = 0;
  /** Gate of a service that gets speech only. */
  readonly #gate = createGatedAudio((samples) => this.#hear(samples));

  constructor(
    options: RecognizingOptions,
    faults: SessionFaults,
    listener: RecognizerListener,
    expectation: ExpectedInput,
  ) {
    this.#options = options;
    this.#faults = faults;
    this.#listener = listener;
    this.expectation = expectation;
  }

  get #isSilent(): boolean {
    const { silentAtMs } = this.#faults;
    return silentAtMs !== undefined && this.finder.positionMs >= silentAtMs;
  }

  get isReady(): boolean {
    return this.finder.positionMs < (this.#faults.unreadyAtMs ?? Number.POSITIVE_INFINITY);
  }

  get #isDeaf(): boolean {
    return this.finder.positionMs >= (this.#faults.deafAtMs ?? Number.POSITIVE_INFINITY);
  }

  push(frame: Int16Array): void {
    if (this.#options.capabilities?.gated === true) this.#gate.push(frame);
    else this.#hear(frame);
  }

  #hear(frame: Int16Array): void {
    if (this.isClosed || this.#hasFailed) return;
    const heard = this.finder.push(ulawOf(frame));
    const words = this.#isDeaf ? [] : heard;
    this.#words.push(...words);
    if (words.length > 0) this.#heard();
    const { endsAfterMs, eagerAfterMs = Number.POSITIVE_INFINITY } = this.#options;
    if (words.length > 0 && this.#isEager) this.#probably('resumed');
    if (!this.#isEager && this.finder.silenceMs >= eagerAfterMs) this.#probably('eager-end');
    if (endsAfterMs !== undefined && this.finder.silenceMs >= endsAfterMs) this.#endTurn();
    const { failAtMs } = this.#faults;
    if (failAtMs !== undefined && this.finder.positionMs >= failAtMs) this.#fail();
  }

  /** A message without words. */
  alive(): void {
    this.#listener.onActivity?.();
  }

  speechStarted(): void {
    this.calls.push('start');
    this.#gate.start();
  }

  speechStopped(): void {
    this.calls.push('stop');
  }

  prepareFinal(): void {
    this.calls.push('prepare');
  }

  finalize(): void {
    this.calls.push('finalize');
    this.#gate.stop();
    if (this.isClosed || this.#hasFailed) return;
    if (this.#faults.failOnFinalize === true) {
      this.#fail();
      return;
    }
    const words = this.#words.splice(0);
    const { clock, finalMs = 120 } = this.#options;
    const isLost = this.#faults.neverFinal === true || this.#isSilent;
    this.#due += 1;
    if (isLost) return;
    this.#asked = words;
    clock.after(finalMs, () => {
      this.#due -= 1;
      this.#asked = [];
      this.#report(() => this.#listener.onFinal(this.#said(words)));
    });
    const { repeatsAfterMs } = this.#options;
    if (repeatsAfterMs === undefined) return;
    clock.after(finalMs + repeatsAfterMs, () =>
      this.#report(() => this.#listener.onPartial(this.#said(words))),
    );
  }

  expect(expectation: ExpectedInput): void {
    this.expectation = expectation;
  }

  agentSaid(text: string): void {
    this.calls.push(text);
  }

  setLanguage(language: string): void {
    this.calls.push(language);
  }

  finish(): Promise<void> {
    const words = [...this.#asked, ...this.#words.splice(0)];
    const { clock, lastMs } = this.#options;
    if (lastMs === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      clock.after(lastMs, () => {
        if (this.#faults.failOnFinish === true) this.#fail();
        this.#report(() => this.#listener.onFinal(this.#said(words)));
        resolve();
      });
    });
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const amount = this.finder.positionMs / 1_000;
    this.#listener.onUsage?.({
      job: 'stt',
      service: this.#options.name,
      model: 'test',

      unit: 'seconds',
      amount,
      source: 'counted',
    });
  }

  #heard(): void {
    const words = [...this.#words];
    const { clock, fixedAfterWords = Number.POSITIVE_INFINITY, fixedMs = 0 } = this.#options;
    if (this.#due > 0 || words.length < fixedAfterWords) {
      const given =
        this.#options.revisesPartials === true ? [[...words, ...words.slice(-1)], words] : [words];
      clock.after(PARTIAL_MS, () => {
        for (const each of given) this.#report(() => this.#listener.onPartial(this.#said(each)));
      });
      return;
    }
    // Before any answer to `finalize`, which takes longer: the order of words is that of the audio.
    this.#words = [];
    const fix = () => this.#report(() => this.#listener.onFinal(this.#said(words)));
    if (fixedMs === 0) fix();
    else clock.after(fixedMs, fix);
  }

  #probably(turn: 'eager-end' | 'resumed'): void {
    if (this.#words.length === 0) return;
    this.#isEager = turn === 'eager-end';
    const words = this.#said(this.#words);
    this.#report(() => this.#listener.onTurn?.(turn, words));
  }

  #endTurn(): void {
    if (this.#words.length === 0 || this.#due > 0) return;
    this.#isEager = false;
    const words = this.#said(this.#words.splice(0));
    this.#report(() => {
      this.#listener.onFinal(words);
      this.#listener.onTurn?.('ended', words);
    });
  }

  #said(words: readonly HeardWord[]): RecognizedWords {
    const { words: times, ...untimed } = said(words);
    return this.#options.timeless === true ? untimed : { ...untimed, words: times ?? [] };
  }

  #report(work: () => void): void {
    if (!this.isClosed && !this.#hasFailed && !this.#isSilent) work();
  }

  #fail(): void {
    if (this.#hasFailed || this.isClosed) return;
    this.#hasFailed = true;
    const { kind = 'network' } = this.#faults;
    this.#listener.onError(new ServiceFault('stt', this.#options.name, kind, { detail: 'test' }));
  }
}

function said(words: readonly HeardWord[]): RecognizedWords {
  return {
    text: words.map(({ word }) => word).join(' '),
    confidence: words.length === 0 ? null : 0.9,
    words: [...words],
  };
}
