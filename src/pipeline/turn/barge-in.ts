// Barge-in: decides whether the caller interrupts the speaking agent. A possible interruption ducks the agent, lasting
// voice holds it (silent, its words kept), words stop it; without words the agent continues. pipeline/speak/playout.ts
// carries the decisions out. Not used during uninterruptible speech.

import {
  isAgreement,
  isAgreementPrefix,
  isBackchannel,
  isBackchannelPrefix,
  isGreeting,
  isGreetingPrefix,
  isStopWord,
} from '../../model/control-phrases.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';
import { trustIn } from '../../model/word-trust.ts';
import type { RecognizedWords, SttCapabilities } from '../../speech/stt/stt.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { isExpectedAnswer, wordsOf } from './endpointing.ts';
import type { TurnTuning } from './turn-tuning.ts';

/** Length of voice alone that stops the agent: coughs and "mhm" are shorter. The agent is silent from the first tenth
 *  of a second of it, so words have time to arrive. */
const VOICE_MS = 1_500;
/** Probability of one window that holds the agent: it can still continue, and each window is 32 ms. */
const HOLD_PROBABILITY = 0.65;
/** Voice before interim words that makes them count: recognisers guess words in noise. */
const WORDS_VOICE_MS_MIN = 150;
/** Time after the end of voice, in addition to the recogniser's delay, in which words are awaited, within these
 *  bounds. */
const FINALIZE_MS = 150;
const WORDS_WAIT_MS_MIN = 600;
const WORDS_WAIT_MS_MAX = 2_800;
/** Length of a single window of voice, which is a click. */
const CLICK_MS = 64;
/** Words of a doubted answer. A closed grammar recognises hums as one of its words: of 328 hums and acknowledgements 14
 *  were one doubted word that is no acknowledgement, none were two. */
const DOUBTED_WORDS_MIN = 2;
/** Time from the agent's start in which it yields at the first sign of voice, as both started at the same time. */
export const BARGE_IN_MS = 400;

/** Time from the agent's first words in which a voice without words that begins is on the line, not against the agent. */
const BACKGROUND_MS = 800;

type BargeInRecognizer = Pick<SttCapabilities, 'finalMsP99' | 'closedOnly'> &
  Partial<Pick<SttCapabilities, 'interimWords'>>;

export interface BargeInListener {
  onDuck(): void;
  onHold(): void;
  /** It was no interruption. */
  onResume(): void;
  /** The agent must stop. `onsetMs` is the media time of the caller's onset. */
  onConfirmed(onsetMs: number): void;
}

export class BargeInDetector {
  /** Language (BCP 47) of words for which the recogniser detects none; undefined if it is not known. */
  language: string | undefined;
  /** The same for answers to questions: the agent's language where nothing else is known. */
  answersLanguage: string | undefined;
  /** Whether the agent opens the call: a greeting of the caller at the same time is no attempt to stop it. */
  isOpening = false;
  /** Whether voices without words were there before the agent, or began with it: their length does not stop it. */
  hasBackground = false;
  /** Media time of the agent's first words; undefined before. */
  openedMs: number | undefined;
  readonly #listener: BargeInListener;
  readonly #tuning: TurnTuning['start'];
  #recognizer: BargeInRecognizer | undefined;
  #expectation: ExpectedInput = OPEN_SPEECH;
  /** State of the interruption. `spent`: this voice was judged to be none; until it ends, only words count. */
  #state: 'quiet' | 'ducked' | 'held' | 'spent' = 'quiet';
  #onsetMs = 0;
  #resumeAtMs = Number.POSITIVE_INFINITY;
  #voicedMs = 0;
  /** Whether the interim words of the current voice are an acknowledgement so far. */
  #acknowledges = false;
  #hasWords = false;

  constructor(options: {
    listener: BargeInListener;
    tuning: TurnTuning['start'];
    recognizer: BargeInRecognizer | undefined;
  }) {
    this.#listener = options.listener;
    this.#tuning = options.tuning;
    this.#recognizer = options.recognizer;
  }

  recognizerReplaced(recognizer: BargeInRecognizer): void {
    this.#recognizer = recognizer;
  }

  /** Whether the agent is ducked or held, without a decision yet. */
  get pending(): boolean {
    return this.#state === 'ducked' || this.#state === 'held';
  }

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
  }

  /** Takes the voice after each window of the caller's audio. `agentSpokeMs`: time for which the agent has been
   *  audible. */
  voice(voice: VoiceActivity, nowMs: number, agentSpokeMs: number): void {
    if (voice.state === 'silent') {
      this.#voiceEnded(voice, nowMs);
      return;
    }
    this.#voicedMs = voice.voicedMs;
    // The agent was silenced by the first of several pieces of voice: its onset counts.
    if (!this.pending) this.#onsetMs = voice.onsetMs;
    if (this.#state === 'spent') return;
    this.#resumeAtMs = Number.POSITIVE_INFINITY;
    if (this.#state === 'quiet') {
      this.#state = 'ducked';
      this.#listener.onDuck();
    }
    if (this.#state === 'ducked' && this.#holds(voice, agentSpokeMs)) {
      this.#state = 'held';
      this.#listener.onHold();
    }
    this.#outlast(voice, nowMs);
  }

  /** Whether speech is expected, as by an agent led by a language model. A closed set of answers is a scripted
   *  agent's. */
  get expectsSpeech(): boolean {
    return !this.#expectation.closed;
  }

  /** Whether these words, spoken while the agent speaks, are meant to stop it. `asked`: the caller has heard a
   *  question, so that "okay" and "yes" may answer it. */
  interrupts(words: RecognizedWords, asked: boolean): boolean {
    const { text, confidence, language = this.language } = words;
    const count = wordsOf(text).length;
    if (count === 0 || this.#isGuessed(confidence) || this.isGreeting(words)) return false;
    if (isStopWord(text, language)) return true;
    if (this.#tuning.strategy === 'min_words') return count >= this.#tuning.wordsMin;
    return this.isAnswered(words, asked);
  }

  /** Whether these words, said against the agent, get an answer: they are more than a sound of a listener. `asked` as
   *  in `interrupts`. */
  isAnswered(words: RecognizedWords, asked: boolean): boolean {
    const { text, confidence } = words;
    if (wordsOf(text).length === 0 || this.#isGuessed(confidence)) return false;
    return !this.isGreeting(words) && !this.#isAcknowledgement(words, asked);
  }

  /** Whether the words agree where speech is expected: a question that the caller has heard makes them an answer. */
  agrees({ text, language = this.language }: RecognizedWords): boolean {
    return this.expectsSpeech && isAgreement(text, language);
  }

  /** Whether the words are a greeting at the same time as the agent's. */
  isGreeting({
    text,
    language = this.language,
  }: Pick<RecognizedWords, 'text' | 'language'>): boolean {
    return this.isOpening && isGreeting(text, language);
  }

  /** Whether these words, which do not interrupt, may be an answer that the caller is asked to confirm. */
  isDoubted({ text, confidence, language = this.language }: RecognizedWords): boolean {
    if (trustIn(confidence) !== 'confirm' || this.#recognizer?.closedOnly !== true) return false;
    return wordsOf(text).length >= DOUBTED_WORDS_MIN && !isBackchannel(text, language);
  }

  /** Takes interim words. Returns whether they stopped the agent. */
  partial(words: RecognizedWords, asked: boolean): boolean {
    this.#hasWords = true;
    this.#acknowledges = this.#mayAcknowledge(words, asked);
    // A closed grammar recognises its phrases in any sound: only final words have a confidence, and the agent is held.
    if (this.#recognizer?.closedOnly === true || this.#acknowledges) return false;
    if (this.#voicedMs < WORDS_VOICE_MS_MIN || !this.interrupts(words, asked)) return false;
    this.confirm();
    return true;
  }

  confirm(): void {
    this.#reset('quiet');
    this.#listener.onConfirmed(this.#onsetMs);
  }

  /** Forgets the interruption: the agent was stopped for another reason. */
  forget(): void {
    this.#reset('quiet');
  }

  /** Ends an interruption without words, or with words that do not interrupt. */
  dismiss(): void {
    const { pending } = this;
    this.#reset('quiet');
    if (pending) this.#listener.onResume();
  }

  /** Ignores the current voice, unless it has words. */
  ignoreVoice(): void {
    const { pending } = this;
    this.#reset('spent');
    if (pending) this.#listener.onResume();
  }

  /** Ignores the current voice and others like it, unless they have words: the agent begins beside it. */
  ignoreBackground(): void {
    this.hasBackground = true;
    this.ignoreVoice();
  }

  tick(nowMs: number): void {
    if (nowMs < this.#resumeAtMs) return;
    this.dismiss();
  }

  /** Whether words of a closed grammar are guesses, below the confidence with which the dialogue accepts them. */
  #isGuessed(confidence: number | null): boolean {
    const trust = trustIn(confidence);
    return trust === 'reject' || (trust === 'confirm' && this.#recognizer?.closedOnly === true);
  }

  #isAnswer({ text, language = this.answersLanguage }: RecognizedWords): boolean {
    return isExpectedAnswer(text, this.#expectation, language);
  }

  /** Whether the words are an acknowledgement or may become one: "I" may continue as "I see". */
  #mayAcknowledge(words: RecognizedWords, asked: boolean): boolean {
    const { text, language = this.language } = words;
    if (this.isGreeting(words) || (this.isOpening && isGreetingPrefix(text, language))) return true;
    if (isStopWord(text, language)) return false;
    if (this.#isAcknowledgement(words, asked)) return true;
    if (asked && (this.agrees(words) || this.#isAnswer(words))) return false;
    if (isBackchannelPrefix(text, language)) return true;
    return this.expectsSpeech && !asked && isAgreementPrefix(text, language);
  }

  #isAcknowledgement(words: RecognizedWords, asked: boolean): boolean {
    if (asked && this.#isAnswer(words)) return false;
    if (this.agrees(words)) return !asked;
    return isBackchannel(words.text, words.language ?? this.language);
  }

  get #wordsWaitMs(): number {
    const waitMs = FINALIZE_MS + (this.#recognizer?.finalMsP99 ?? 0);
    return Math.min(WORDS_WAIT_MS_MAX, Math.max(WORDS_WAIT_MS_MIN, waitMs));
  }

  #reset(state: 'quiet' | 'spent'): void {
    this.#state = state;
    this.#acknowledges = false;
    this.#hasWords = false;
    this.#resumeAtMs = Number.POSITIVE_INFINITY;
  }

  #holds(voice: VoiceActivity, agentSpokeMs: number): boolean {
    if (this.#tuning.strategy === 'min_words') return false;
    const likely = voice.state === 'speech' || voice.peak >= HOLD_PROBABILITY;
    return likely || agentSpokeMs < BARGE_IN_MS;
  }

  /** Handles voice that does not end. */
  #outlast(voice: VoiceActivity, nowMs: number): void {
    const { strategy, pauseMs } = this.#tuning;
    if (strategy === 'default' && voice.voicedMs >= VOICE_MS && !this.#acknowledges) {
      if (this.#isBackground(voice)) this.ignoreBackground();
      else this.confirm();
    } else if (strategy === 'provisional_vad' && nowMs - voice.onsetMs >= pauseMs) {
      this.#reset('spent');
      this.#listener.onResume();
    }
  }

  /** Only a recogniser with interim words would have had some by now. */
  #isBackground({ onsetMs }: VoiceActivity): boolean {
    if (this.#hasWords || this.#recognizer?.interimWords !== true) return false;
    return this.hasBackground || onsetMs - (this.openedMs ?? onsetMs) <= BACKGROUND_MS;
  }

  #voiceEnded(voice: VoiceActivity, nowMs: number): void {
    this.#voicedMs = 0;
    if (this.#state === 'spent') this.#state = 'quiet';
    if (!this.pending || this.#resumeAtMs !== Number.POSITIVE_INFINITY) return;
    const { strategy, pauseMs } = this.#tuning;
    const waitMs = strategy === 'provisional_vad' ? pauseMs : this.#wordsWaitMs;
    // Voice that never became speech is a click, and has no words.
    const click = voice.voicedMs < CLICK_MS;
    this.#resumeAtMs = click ? nowMs : voice.lastMs + waitMs;
    this.tick(nowMs);
  }
}
