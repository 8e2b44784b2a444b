// Recogniser on a Vosk server (Kaldi) over its websocket. Sends only speech, so that the server decodes no silence. A
// closed list of answers becomes the server's phrase list, which it accepts only at the start of a connection: a new
// list opens a new connection in a pause.

import { RATE_HZ } from '../../../audio/pcm.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { createGatedAudio, type GatedAudio } from '../../stt/gated-audio.ts';
import type {
  RecognizedWords,
  Recognizer,
  RecognizerListener,
  SpeechToText,
} from '../../stt/stt.ts';
import { VoskSession } from './vosk-session.ts';

/** Kaldi's final words arrive at once unless the server lags; a third of this is the network. */
const FINAL_MS_P99 = 300;
/** Deadline from a reset to its answer. */
const FINAL_MS_MAX = 4_000;
/** Connections of one call: the one in use, and those with final words due. */
const SESSIONS_MAX = 4;
/** Answers to one question. Longer lists are treated as open speech. */
const PHRASES_MAX = 1_000;

export function createVosk(
  settings: SttServiceSettings<'vosk'>,
  means: ServiceMeans,
): SpeechToText {
  const { base_url: url, model } = settings;
  return {
    name: 'vosk',
    model: model ?? 'vosk',
    capabilities: { interimWords: true, finalMsP99: FINAL_MS_P99, gated: true },
    open: (expectation, listener) => new VoskRecognizer({ settings, means, listener, expectation }),
    prepare: () => means.warm.prepare(url),
    close: () => Promise.resolve(),
  };
}

interface Options {
  settings: SttServiceSettings<'vosk'>;
  means: ServiceMeans;
  listener: RecognizerListener;
  expectation: ExpectedInput;
}

class VoskRecognizer implements Recognizer {
  readonly #settings: SttServiceSettings<'vosk'>;
  readonly #means: ServiceMeans;
  readonly #clock: Clock;
  readonly #listener: RecognizerListener;
  readonly #audio: GatedAudio;
  /** Sessions: the last one is in use, the others owe final words. */
  readonly #sessions: VoskSession[] = [];
  /** Deadlines of the due answers, oldest first. */
  readonly #due: { sinceMs: number; deadline: Timer }[] = [];
  #phrases: readonly string[] | undefined;
  /** Whether it accepts no more audio. */
  #isOver = false;
  /** Whether it reports nothing more. */
  #isClosed = false;
  #pushed = 0;
  #hasBegun = false;

  constructor({ settings, means, listener, expectation }: Options) {
    this.#settings = settings;
    this.#means = means;
    this.#clock = means.clock;
    this.#listener = listener;
    this.#audio = createGatedAudio((samples) => this.#send(samples));
    this.#phrases = this.#phrasesOf(expectation);
    this.#openSession();
  }

  push(frame: Int16Array): void {
    if (this.#isOver) return;
    this.#pushed += frame.length;
    this.#audio.push(frame);
  }

  speechStarted(): void {
    if (this.#isOver || this.#audio.open) return;
    this.#followPhrases();
    this.#hasBegun = false;
    this.#audio.start();
  }

  speechStopped(): void {
    if (!this.#isOver) this.#audio.flush();
  }

  finalize(): void {
    if (this.#isOver) return;
    this.#audio.stop();
    const session = this.#current;
    // An utterance without a sample still has its place in the order of answers.
    if (!this.#hasBegun) session.begin(this.#nowMs);
    this.#hasBegun = false;
    const deadline = this.#clock.after(FINAL_MS_MAX, () => session.fail('no final words in time'));
    this.#due.push({ sinceMs: this.#clock.monotonicMs(), deadline });
    session.reset();
    this.#reportUsage();
  }

  expect(expectation: ExpectedInput): void {
    if (this.#isOver) return;
    this.#phrases = this.#phrasesOf(expectation);
    if (!this.#audio.open) this.#followPhrases();
  }

  async finish(): Promise<void> {
    if (this.#isOver) return;
    this.#audio.stop();
    this.#isOver = true;
    const asked = this.#sessions.filter(
      (session) => session.owed > 0 || (this.#hasBegun && session === this.#current),
    );
    await Promise.all(asked.map((session) => session.finish()));
    this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#end();
    this.#reportUsage();
    for (const session of this.#sessions.splice(0)) session.close();
  }

  get #current(): VoskSession {
    return this.#sessions.at(-1) ?? this.#openSession();
  }

  get #nowMs(): number {
    return (this.#pushed * 1_000) / RATE_HZ;
  }

  #send(samples: Int16Array<ArrayBuffer>): void {
    const session = this.#current;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      session.begin(((this.#pushed - samples.length) * 1_000) / RATE_HZ);
    }
    session.audio(samples);
  }

  /** Opens a connection with the expected list, unless the one in use has it. */
  #followPhrases(): void {
    const session = this.#current;
    if (sameList(session.phrases, this.#phrases) || this.#sessions.length >= SESSIONS_MAX) return;
    this.#openSession();
    this.#retire(session);
  }

  #retire(session: VoskSession): void {
    if (session.owed > 0 || session === this.#current) return;
    this.#reportUsage();
    this.#sessions.splice(this.#sessions.indexOf(session), 1);
    session.close();
  }

  #openSession(): VoskSession {
    const { base_url: url, api_key: apiKey } = this.#settings;
    const session: VoskSession = new VoskSession({
      url,
      apiKey,
      phrases: this.#phrases,
      means: this.#means,
      listener: {
        onReply: () => this.#listener.onActivity?.(),
        onPartial: (text) => {
          if (session === this.#current) this.#listener.onPartial({ text, confidence: null });
        },
        onWords: (words, isAnswer) => this.#words(session, words, isAnswer),
        onFault: (fault) => this.#fail(fault),
      },
    });
    this.#sessions.push(session);
    return session;
  }

  #words(session: VoskSession, words: RecognizedWords, isAnswer: boolean): void {
    if (this.#isClosed) return;
    if (isAnswer) {
      const due = this.#due.shift();
      due?.deadline.cancel();
      this.#observe('ok', due?.sinceMs);
      this.#retire(session);
    }
    this.#listener.onFinal(words);
  }

  #fail(fault: ServiceFault): void {
    if (this.#isClosed) return;
    if (this.#isOver) {
      // Other sessions may still deliver words.
      this.#listener.onError(fault);
      return;
    }
    const [oldest] = this.#due;
    this.#end();
    this.#reportUsage();
    for (const session of this.#sessions.splice(0)) session.close();
    this.#observe(fault.code, oldest?.sinceMs);
    this.#listener.onError(fault);
  }

  #end(): void {
    this.#isOver = true;
    this.#isClosed = true;
    for (const { deadline } of this.#due) deadline.cancel();
  }

  #observe(result: string, sinceMs: number | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    const seconds = (nowMs - (sinceMs ?? nowMs)) / 1_000;
    serviceSeconds.observe({ kind: 'stt', service: 'vosk', result }, seconds);
  }

  #reportUsage(): void {
    const samples = this.#sessions.reduce((sum, session) => sum + session.takeSent(), 0);
    if (samples === 0) return;
    const amount = samples / RATE_HZ;
    const model = this.#settings.model ?? 'vosk';
    const source = 'counted';
    this.#listener.onUsage?.({
      job: 'stt',
      service: 'vosk',
      model,
      unit: 'seconds',
      amount,
      source,
    });
  }

  /** Phrase list of the expected input. Slots (numbers, dates) have none: they are open speech. */
  #phrasesOf({ closed, phrases, slots }: ExpectedInput): readonly string[] | undefined {
    const isList = closed && slots.length === 0 && phrases.length > 0;
    if (!this.#settings.phrases || !isList || phrases.length > PHRASES_MAX) return undefined;
    return [...phrases];
  }
}

function sameList(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((phrase, index) => phrase === b[index]);
}
