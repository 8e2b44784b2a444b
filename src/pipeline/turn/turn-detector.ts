// Detects the caller's turns: joins voice activity with the recogniser's words, and decides when the caller has
// finished. All times are media time.

import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';
import type { RecognizedWords, SttCapabilities } from '../../speech/stt/stt.ts';
import { joinTexts } from '../../std/text/unspaced-text.ts';
import { Endpointing, isBegin, plainOf } from './endpointing.ts';
import { beginAlike, LateWords } from './late-words.ts';
import type { SpokenTurn } from './spoken-turn.ts';
import type { CallerWords, TurnJudge } from './turn-judge.ts';

/** Wait for final words as a multiple of the recogniser's 99th percentile, within these bounds. */
const FINAL_SHARE = 1.2;
const FINAL_MS_MIN = 150;
const FINAL_MS_MAX = 2_500;
/** Longest delay of one turn's words that a busy recogniser may announce. */
const DELAY_MS_MAX = 8_000;
/** Wait after growing interim words, as the final words are outstanding. */
const GROWING_MS = 1_000;
/** Additional time of a recogniser that ends turns itself, before its turn is ended by force: it knows more than the
 *  silence. */
const OWN_TURNS_MS = 700;
/** Time in which some services repeat the words of a final as interim words, one after the other. */
const REPEATED_MS = 1_000;
/** Longest silence that counts as a probable end, for which the final words are prepared. Values and unfinished
 *  sentences need more, because callers pause within them. */
const PROBABLE_END_MS_MAX = 600;
/** Length at which speech without a pause is split into turns. */
const SPEECH_MS_MAX = 60_000;
/** Pieces of one turn: some recognisers finalise each word alone, and fast speakers say 300 in a minute. */
const PARTS_MAX = 500;
/** Assumed age of words without voice. */
const UNVOICED_MS = 300;

export interface TurnListener {
  /** A new piece of speech begins: the recogniser may drop earlier audio. */
  onBegin(): void;
  /** Speech pauses within the turn, and continues. */
  onPause(): void;
  onResume(): void;
  /** The turn will end soon if the pause lasts. Called once in a pause. */
  onProbableEnd(): void;
  /** The recogniser must return its final words. */
  onFinalize(): void;
  onTurn(turn: SpokenTurn): void;
  /** Words arrived for a turn that was reported without them. */
  onLate(turn: SpokenTurn): void;
  /** The voice had no words: `text` is empty. */
  onNothing(turn: SpokenTurn): void;
}

export interface TurnOptions {
  listener: TurnListener;
  /** The recogniser; undefined if there is none. */
  recognizer:
    | Pick<SttCapabilities, 'finalMsP99' | 'interimWords' | 'ownTurns' | 'silenceEnds'>
    | undefined;
  turnMaxMs: number;
  /** Decides about the end of turns. Default: endpointing. */
  judge?: TurnJudge;
}

type State = 'idle' | 'speaking' | 'pausing' | 'waiting';

export class TurnDetector {
  /** Whether short silences apply: the held agent waits for the decision. */
  hurried = false;
  /** Whether the turn may be a greeting before the agent's, which is answered soon. */
  opening = false;
  readonly #listener: TurnListener;
  readonly #turnMaxMs: number;
  readonly #judge: TurnJudge;
  #recognizer: TurnOptions['recognizer'];
  #expectation: ExpectedInput = OPEN_SPEECH;
  #language: string | undefined;
  #state: State = 'idle';
  #voiced = false;
  #unvoiced = false;
  #startMs = 0;
  /** Time of the last voice; -Infinity before any. */
  #lastVoiceMs = Number.NEGATIVE_INFINITY;
  #nowMs = 0;
  #lastWordMs = 0;
  #decidedMs = 0;
  #deadlineMs = 0;
  /** Milliseconds by which the wait for the final words may still be extended. */
  #delayLeftMs = 0;
  /** Characters of the longest interim words since then. */
  #grownTo = 0;
  #lastFinal = { text: '', atMs: Number.NEGATIVE_INFINITY };
  #parts: RecognizedWords[] = [];
  #partial: RecognizedWords | undefined;
  /** Number of outstanding answers of the recogniser to `finalize`. */
  #owed = 0;
  readonly #late = new LateWords();
  /** Whether the judge has the words of the turn, and considered them for the short silences. */
  #isJudged = false;
  #judgedHurried = false;
  #judgedOpening = false;
  /** Whether the pause was reported as the probable end. */
  #isProbablyOver = false;

  constructor(options: TurnOptions) {
    this.#listener = options.listener;
    this.#recognizer = options.recognizer;
    this.#turnMaxMs = options.turnMaxMs;
    this.#judge = options.judge ?? new Endpointing();
  }

  /** Whether the caller is in the middle of a turn. */
  get open(): boolean {
    return this.#state !== 'idle';
  }

  /** Media time of the turn's first speech. */
  get startMs(): number {
    return this.#startMs;
  }

  /** The words recognised in the turn so far. */
  get text(): string {
    return joinTexts(this.#words.map((each) => each.text.trim()));
  }

  /** Whether the caller is within a value of which parts are missing. */
  get isIncomplete(): boolean {
    return this.#judged.isIncomplete;
  }

  /** Language (BCP 47) of words for which the recogniser detects none; undefined if it is not known. */
  get language(): string | undefined {
    return this.#language;
  }

  set language(language: string | undefined) {
    this.#language = language;
    this.#isJudged = false;
  }

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
    this.#isJudged = false;
  }

  speechStarted(onsetMs: number): void {
    this.#voiced = true;
    const before = this.#state;
    this.#state = 'speaking';
    if (before === 'pausing') {
      this.#listener.onResume();
      return;
    }
    if (before === 'idle') this.#begin(onsetMs);
    this.#listener.onBegin();
  }

  speechStopped(lastMs: number): void {
    this.#voiced = false;
    this.#lastVoiceMs = lastMs;
    if (this.#state !== 'speaking') return;
    this.#state = 'pausing';
    this.#isProbablyOver = false;
    this.#listener.onPause();
    this.#pauses(this.#silenceNeededMs);
  }

  /** Takes interim words. False for words that do not count: out of a turn, of an earlier turn, or those of the last
   *  final once more. */
  partial(all: RecognizedWords): boolean {
    const words = this.#late.withoutLate(all);
    if (this.#state === 'idle' || words.text.trim() === '' || this.#repeatsFinal(words.text))
      return false;
    if (words.text !== this.#partial?.text) this.#lastWordMs = this.#nowMs;
    if (words.text.length > this.#grownTo) {
      this.#grownTo = words.text.length;
      this.delayed(this.#nowMs + GROWING_MS - this.#deadlineMs);
    }
    this.#partial = words;
    this.#isJudged = false;
    return true;
  }

  final(words: RecognizedWords): void {
    const answered = this.#owed > 0;
    if (answered) this.#owed--;
    this.#isJudged = false;
    if (answered && this.#late.isDue) {
      this.#takeLate(words);
      return;
    }
    if (words.text.trim() !== '' && this.#parts.length < PARTS_MAX) {
      this.#parts.push(words);
      this.#lastWordMs = this.#nowMs;
      this.#lastFinal = { text: words.text, atMs: this.#nowMs };
    }
    this.#partial = undefined;
    if (this.#state === 'waiting' && this.#owed === 0) this.#conclude();
    else if (this.#state === 'idle' && this.#parts.length > 0) this.#concludeUnvoiced();
  }

  /** Takes the recogniser's end of the turn, whose words came before. Only silence ends an incomplete value: people
   *  pause between groups of digits. */
  ended(): void {
    const isOpen = this.#state === 'speaking' || this.#state === 'pausing';
    if (!isOpen || !this.#hasOwnTurns || this.#parts.length === 0 || this.isIncomplete) return;
    this.#decidedMs = this.#nowMs;
    if (this.#voiced) this.#lastVoiceMs = this.#nowMs;
    this.#conclude();
  }

  /** Ends an open turn with its present words: the caller says no more. */
  cut(): void {
    if (this.#state === 'idle' || this.text === '') return;
    if (this.#state !== 'waiting') this.#decidedMs = this.#nowMs;
    if (this.#voiced) this.#lastVoiceMs = this.#nowMs;
    this.#voiced = false;
    this.#conclude();
  }

  /** Extends the wait: the final words come later by `ms`. */
  delayed(ms: number): void {
    if (this.#state !== 'waiting') return;
    const delayMs = Math.min(this.#delayLeftMs, Math.max(0, ms));
    this.#delayLeftMs -= delayMs;
    this.#deadlineMs += delayMs;
  }

  recognizerReplaced(recognizer: NonNullable<TurnOptions['recognizer']>): void {
    this.#recognizer = recognizer;
    this.#isJudged = false;
  }

  /** The recogniser failed: the words recognised so far are final. */
  recognizerLost(): void {
    this.#recognizer = undefined;
    this.#isJudged = false;
    this.#owed = 0;
    this.#late.reset();
    if (this.#state === 'waiting') this.#conclude();
  }

  /** Advances the time. `heardMs`: media time up to which the caller's audio was processed. */
  advance(nowMs: number, heardMs: number): void {
    this.#nowMs = nowMs;
    if (this.#state === 'speaking') {
      if (this.#tooLong()) this.#decide();
    } else if (this.#state === 'pausing') {
      const neededMs = this.#silenceNeededMs;
      if (heardMs - this.#lastVoiceMs >= neededMs) this.#decide();
      else this.#pauses(neededMs);
    } else if (this.#state === 'waiting' && nowMs >= this.#deadlineMs) {
      this.#conclude();
    }
  }

  /** The words of the turn so far, as one. */
  get words(): RecognizedWords {
    return {
      text: this.text,
      confidence: leastConfidence(this.#words),
      language: this.#words.findLast(({ language }) => language !== undefined)?.language,
    };
  }

  get #words(): readonly RecognizedWords[] {
    return this.#partial === undefined ? this.#parts : [...this.#parts, this.#partial];
  }

  #begin(onsetMs: number): void {
    this.#startMs = onsetMs;
    this.#lastWordMs = this.#nowMs;
    this.#parts = [];
    this.#partial = undefined;
    this.#isJudged = false;
  }

  #pauses(silenceNeededMs: number): void {
    if (this.#isProbablyOver || silenceNeededMs > PROBABLE_END_MS_MAX) return;
    this.#isProbablyOver = true;
    if (this.#recognizer !== undefined) this.#listener.onProbableEnd();
  }

  #tooLong(): boolean {
    if (this.#nowMs - this.#startMs >= SPEECH_MS_MAX) return true;
    const worded = this.#partial !== undefined || this.#parts.length > 0;
    return worded && this.#nowMs - this.#lastWordMs >= this.#turnMaxMs;
  }

  get #silenceNeededMs(): number {
    const isOwn = this.#hasOwnTurns && this.#recognizer?.silenceEnds !== true;
    const graceMs = isOwn && !this.hurried ? OWN_TURNS_MS : 0;
    return Math.min(this.#judged.silenceNeededMs + graceMs, this.#turnMaxMs);
  }

  get #hasOwnTurns(): boolean {
    return (this.#recognizer?.ownTurns ?? 'none') !== 'none';
  }

  /** The judge, up to date. Read with every frame of a pause, while words and expectation change rarely. */
  get #judged(): TurnJudge {
    const isSame = this.#judgedHurried === this.hurried && this.#judgedOpening === this.opening;
    if (!this.#isJudged || !isSame) {
      this.#isJudged = true;
      this.#judgedHurried = this.hurried;
      this.#judgedOpening = this.opening;
      this.#judge.consider(this.#said);
    }
    return this.#judge;
  }

  get #said(): CallerWords {
    const { text, language = this.#language } = this.words;
    return {
      text,
      language,
      expectation: this.#expectation,
      interimWords: this.#recognizer?.interimWords ?? false,
      hurried: this.hurried,
      opening: this.opening,
    };
  }

  #repeatsFinal(text: string): boolean {
    if (this.#partial !== undefined) return false;
    if (this.#nowMs - this.#lastFinal.atMs > REPEATED_MS) return false;
    return isBegin(plainOf(text), plainOf(this.#lastFinal.text));
  }

  #takeLate(words: RecognizedWords): void {
    const late = this.#late.take(words, this.#nowMs);
    const { text = '' } = this.#partial ?? {};
    if (beginAlike(text, words.text || undefined, late?.text)) this.#partial = undefined;
    if (late !== undefined) this.#listener.onLate(late);
  }

  /** Decides that the caller has finished; only the final words are missing. */
  #decide(): void {
    this.#decidedMs = this.#nowMs;
    if (this.#voiced) this.#lastVoiceMs = this.#nowMs;
    if (this.#recognizer === undefined) {
      this.#conclude();
      return;
    }
    const finalMs = this.#recognizer.finalMsP99 * FINAL_SHARE;
    this.#deadlineMs = this.#nowMs + Math.min(FINAL_MS_MAX, Math.max(FINAL_MS_MIN, finalMs));
    this.#delayLeftMs = DELAY_MS_MAX;
    this.#grownTo = this.#partial?.text.length ?? 0;
    this.#state = 'waiting';
    this.#owed++;
    this.#listener.onFinalize();
  }

  #conclude(): void {
    const turn = this.#turn();
    const interim = this.#partial?.text ?? '';
    this.#parts = [];
    this.#partial = undefined;
    this.#isJudged = false;
    this.#unvoiced = false;
    this.#next();
    if (turn.text === '') this.#listener.onNothing(turn);
    else {
      // The turn is reported; the outstanding answer must not become a turn of its own.
      this.#late.await(this.#owed, turn, interim);
      this.#listener.onTurn(turn);
    }
  }

  /** Starts the next turn: voice continued after a forced end. */
  #next(): void {
    this.#state = 'idle';
    if (!this.#voiced) return;
    this.#state = 'speaking';
    this.#begin(this.#nowMs);
    this.#listener.onBegin();
  }

  /** Reports words that came without detected voice, or after their turn was abandoned. */
  #concludeUnvoiced(): void {
    if (this.#nowMs - this.#lastVoiceMs > FINAL_MS_MAX) {
      this.#startMs = this.#nowMs - UNVOICED_MS;
      this.#lastVoiceMs = this.#startMs;
      this.#unvoiced = true;
    }
    this.#decidedMs = this.#nowMs;
    this.#conclude();
  }

  #turn(): SpokenTurn {
    return {
      text: this.text,
      confidence: leastConfidence(this.#words),
      language: this.words.language,
      unvoiced: this.#unvoiced,
      startMs: this.#startMs,
      endMs: Math.max(this.#startMs, this.#lastVoiceMs),
      decidedMs: this.#decidedMs,
      finalMs: this.#nowMs,
    };
  }
}

/** The least confidence of the parts that have one; null if none has. */
export function leastConfidence(
  parts: readonly Pick<RecognizedWords, 'confidence'>[],
): number | null {
  let least: number | null = null;
  for (const { confidence } of parts) {
    if (confidence !== null) least = least === null ? confidence : Math.min(least, confidence);
  }
  return least;
}
