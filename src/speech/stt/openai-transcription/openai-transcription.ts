// Recognisers that transcribe whole utterances over HTTP like OpenAI's audio API: OpenAI, Groq, Speaches, whisper.cpp
// and others, and Hugging Face with audio alone as the body. Gated by voice activity; no words before the caller
// pauses.

import { RATE_HZ } from '../../../audio/pcm.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import {
  correctedUsage,
  type ServiceMeans,
  type ServiceUsage,
} from '../../service/service-means.ts';
import { createGatedAudio, type GatedAudio } from '../gated-audio.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords, Recognizer, RecognizerListener, SpeechToText } from '../stt.ts';
import { Transcriber, type Upload } from './transcriber.ts';
import {
  huggingFaceProfile,
  openAiCompatibleProfile,
  openAiProfile,
  speachesProfile,
  type TranscriptionProfile,
  whisperCppProfile,
} from './transcription-profile.ts';

/** Creates the recogniser for `openai` or `groq`. */
export function createOpenAiStt(
  settings: SttServiceSettings<'openai' | 'groq'>,
  means: ServiceMeans,
): SpeechToText {
  return create(openAiProfile(settings), means);
}

export function createSpeachesStt(
  settings: SttServiceSettings<'speaches'>,
  means: ServiceMeans,
): SpeechToText {
  return create(speachesProfile(settings), means);
}

export function createHuggingFaceStt(
  settings: SttServiceSettings<'huggingface'>,
  means: ServiceMeans,
): SpeechToText {
  return create(huggingFaceProfile(settings), means);
}

export function createWhisperCpp(
  settings: SttServiceSettings<'whisper_cpp'>,
  means: ServiceMeans,
): SpeechToText {
  return create(whisperCppProfile(settings), means);
}

export function createOpenAiCompatibleStt(
  settings: SttServiceSettings<'openai_compatible'>,
  means: ServiceMeans,
): SpeechToText {
  return create(openAiCompatibleProfile(settings), means);
}

function create(profile: TranscriptionProfile, means: ServiceMeans): SpeechToText {
  const transcriber = new Transcriber(profile, means);
  const { clock } = means;
  return {
    name: profile.service,
    model: profile.model,
    capabilities: {
      interimWords: false,
      finalMsP99: profile.finalMsP99,
      gated: true,
      setsLanguage: true,
    },
    open: (expectation, listener) =>
      new BatchRecognizer({ transcriber, clock, expectation, listener }),
    prepare: () => transcriber.prepare(),
    close: () => transcriber.close(),
  };
}

/** Silence after which the upload starts: half of the end of a turn. */
const SPECULATION_MS = 200;
/** Longest utterance, 90 s; later audio is dropped. Turns are split after 60 s. */
const SAMPLES_MAX = 90 * RATE_HZ;
/** Shortest utterance. A shorter one is no word, and services refuse it. */
const SAMPLES_MIN = RATE_HZ / 10;
/** Finished turns whose words are due. */
const DUE_MAX = 4;
const TERMS_MAX = 50;
const TERM_CHARACTERS_MAX = 60;
/** Wait for the last words at the end of the call. */
const LAST_MS_MAX = 2_000;

interface Attempt {
  controller: AbortController;
  words: RecognizedWords | undefined;
  /** Time at which the turn requested the words; undefined before. */
  askedMs: number | undefined;
  /** Seconds of its upload that are not billed yet. 0 before the upload. */
  unbilledSeconds: number;
}

/** Collects the speech, uploads it speculatively after a short silence, and answers `finalize` with that transcript if
 *  the caller said nothing more. */
class BatchRecognizer implements Recognizer {
  readonly #transcriber: Transcriber;
  readonly #clock: Clock;
  readonly #listener: RecognizerListener;
  readonly #audio: GatedAudio;
  #parts: Int16Array[] = [];
  #samples = 0;
  #pushed = 0;
  #startMs = 0;
  #voiceFromMs = 0;
  #voiceToMs: number | undefined;
  #silence: Timer | undefined;
  /** Attempt for the current utterance. */
  #speculation: Attempt | undefined;
  /** Attempts for finished utterances, oldest first. */
  readonly #due: Attempt[] = [];
  #terms: readonly string[];
  #language: string | undefined;
  /** Whether it accepts no more audio. */
  #isOver = false;
  /** Whether it reports nothing more. */
  #isClosed = false;
  /** Attempt that the end of the call cut off: no `finalize` asked for its words. */
  #cut: Attempt | undefined;
  #deadline: Timer | undefined;
  #onClosed: (() => void) | undefined;

  constructor(options: {
    transcriber: Transcriber;
    clock: Clock;
    expectation: ExpectedInput;
    listener: RecognizerListener;
  }) {
    this.#transcriber = options.transcriber;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#language = primaryLanguage(options.transcriber.profile.language);
    this.#terms = termsOf(options.expectation);
    this.#audio = createGatedAudio((samples) => this.#collect(samples));
  }

  push(frame: Int16Array): void {
    if (this.#isOver) return;
    this.#pushed += frame.length;
    this.#audio.push(frame);
  }

  speechStarted(): void {
    if (this.#isOver) return;
    if (this.#audio.open) {
      this.speechResumed();
      return;
    }
    this.#voiceFromMs = this.#nowMs;
    this.#voiceToMs = undefined;
    this.#audio.start();
  }

  speechStopped(): void {
    if (this.#isOver || !this.#audio.open) return;
    // The upload at an earlier pause contained a part of the utterance.
    this.speechResumed();
    this.#voiceToMs = this.#nowMs;
    this.#silence = this.#clock.after(SPECULATION_MS, () => {
      this.#speculation = this.#attempt();
    });
  }

  speechResumed(): void {
    this.#silence?.cancel();
    this.#voiceToMs = undefined;
    this.#abort(this.#speculation);
    this.#speculation = undefined;
  }

  finalize(): void {
    if (this.#isOver) return;
    this.#silence?.cancel();
    if (this.#due.length >= DUE_MAX) {
      this.#fail(new GatewayError('STT_FAILED', { reason: 'the words of earlier turns are due' }));
      return;
    }
    const attempt = this.#endUtterance();
    // Deferred, since the turn starts to wait only after this call.
    if (attempt.words !== undefined) this.#clock.after(0, () => this.#answer());
  }

  expect(expectation: ExpectedInput): void {
    this.#terms = termsOf(expectation);
  }

  setLanguage(language: string): void {
    this.#language = primaryLanguage(language);
  }

  /** Uploads the audio up to here, unless an upload of it is in progress. */
  finish(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#silence?.cancel();
    if (this.#audio.open) this.#cut = this.#endUtterance();
    this.#isOver = true;
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      this.#deadline = this.#clock.after(LAST_MS_MAX, () => this.close());
      this.#answer();
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isOver = true;
    this.#isClosed = true;
    this.#silence?.cancel();
    this.#deadline?.cancel();
    this.#abort(this.#speculation);
    for (const attempt of this.#due.splice(0)) this.#abort(attempt);
    this.#parts = [];
    this.#onClosed?.();
  }

  /** Ends the utterance, whose words are then due. */
  #endUtterance(): Attempt {
    this.#voiceToMs ??= this.#nowMs;
    this.#audio.stop();
    const attempt = this.#speculation ?? this.#attempt();
    attempt.askedMs = this.#clock.monotonicMs();
    this.#speculation = undefined;
    this.#parts = [];
    this.#samples = 0;
    this.#due.push(attempt);
    return attempt;
  }

  get #nowMs(): number {
    return (this.#pushed * 1_000) / RATE_HZ;
  }

  #collect(samples: Int16Array): void {
    if (this.#samples === 0) this.#startMs = ((this.#pushed - samples.length) * 1_000) / RATE_HZ;
    if (this.#samples + samples.length > SAMPLES_MAX) return;
    this.#samples += samples.length;
    this.#parts.push(samples);
  }

  /** Transcribes the audio collected so far. */
  #attempt(): Attempt {
    const controller = new AbortController();
    const nothing = { words: undefined, askedMs: undefined, unbilledSeconds: 0 };
    const attempt: Attempt = { controller, ...nothing };
    if (this.#samples < SAMPLES_MIN) {
      attempt.words = NO_WORDS;
      return attempt;
    }
    const seconds = this.#samples / RATE_HZ;
    const upload: Upload = {
      samples: this.#joined(),
      language: this.#language,
      terms: this.#terms,
      spoken: {
        startMs: this.#startMs,
        voiceMs: (this.#voiceToMs ?? this.#nowMs) - this.#voiceFromMs,
      },
      onSent: () => {
        attempt.unbilledSeconds = seconds;
      },
    };
    this.#transcriber.transcribe(upload, controller.signal).then(
      ({ words, billedSeconds }) => {
        attempt.words = words;
        this.#correct(this.#bill(attempt), billedSeconds);
        this.#answer();
      },
      (error: unknown) => {
        if (isRefusal(error)) attempt.unbilledSeconds = 0;
        if (!controller.signal.aborted) this.#fail(error, attempt);
      },
    );
    return attempt;
  }

  /** Reports the words of the oldest turns, in order. */
  #answer(): void {
    for (let [oldest] = this.#due; oldest?.words !== undefined; [oldest] = this.#due) {
      this.#due.shift();
      this.#observe('ok', oldest.askedMs);
      const isAsked = oldest !== this.#cut;
      if (isAsked || oldest.words.text !== '') this.#listener.onFinal(oldest.words);
      if (this.#isClosed) return;
    }
    if (this.#isOver && this.#due.length === 0) this.close();
  }

  #fail(error: unknown, attempt?: Attempt): void {
    if (this.#isClosed) return;
    if (attempt !== undefined) this.#bill(attempt);
    const fault =
      error instanceof GatewayError
        ? error
        : new GatewayError('STT_FAILED', { reason: this.#transcriber.profile.service }, error);
    if (attempt !== undefined && this.#isOver) {
      this.#listener.onError(fault);
      // Other turns may still get their words.
      attempt.words = NO_WORDS;
      this.#answer();
      return;
    }
    this.close();
    this.#observe(fault.code, attempt?.askedMs);
    this.#listener.onError(fault);
  }

  #observe(result: string, sinceMs: number | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    const { service } = this.#transcriber.profile;
    const seconds = (nowMs - (sinceMs ?? nowMs)) / 1_000;
    serviceSeconds.observe({ kind: 'stt', service, result }, seconds);
  }

  #abort(attempt: Attempt | undefined): void {
    if (attempt === undefined) return;
    attempt.controller.abort();
    this.#bill(attempt);
  }

  /** Services bill every upload that they accepted, even if the answer is not awaited. */
  #bill(attempt: Attempt): ServiceUsage | undefined {
    const { service, model } = this.#transcriber.profile;
    const amount = attempt.unbilledSeconds;
    attempt.unbilledSeconds = 0;
    if (amount === 0) return undefined;
    const usage: ServiceUsage = {
      job: 'stt',
      service,
      model,

      unit: 'seconds',
      amount,
      source: 'counted',
    };
    this.#listener.onUsage?.(usage);
    return usage;
  }

  /** Corrects the bill to the service's own count. */
  #correct(counted: ServiceUsage | undefined, billedSeconds: unknown): void {
    const correction = counted && correctedUsage(counted, billedSeconds);
    if (correction !== undefined) this.#listener.onUsage?.(correction);
  }

  #joined(): Int16Array {
    const all = new Int16Array(this.#samples);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** Whether the status means that the service did not accept the upload. */
function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && Number(error.facts['status']) >= 400;
}

/** Language without the region, which the models do not support. Without a language they detect it. */
function primaryLanguage(language: string | undefined): string | undefined {
  const primary = language?.split('-')[0]?.toLowerCase();
  return primary === undefined || ['', 'multi', 'auto'].includes(primary) ? undefined : primary;
}

function termsOf({ boost, phrases }: ExpectedInput): string[] {
  const terms = [...boost, ...phrases].filter(({ length }) => length <= TERM_CHARACTERS_MAX);
  return [...new Set(terms)].slice(0, TERMS_MAX);
}
