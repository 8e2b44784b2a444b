// Turn-taking: joins the caller's turn, the barge-in rules and the agent's utterances. All times are media time.

import { bargeInSeconds, interruptions } from '../../metrics/metrics.ts';
import type { ExpectedInput } from '../../model/expected-input.ts';
import { trustIn } from '../../model/word-trust.ts';
import type { RecognizedWords } from '../../speech/stt/stt.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import type { Playout } from '../speak/playout.ts';
import type { Utterance, UtteranceResult } from '../speak/utterance.ts';
import { BARGE_IN_MS, BargeInDetector } from './barge-in.ts';
import { EarlyEnd } from './early-end.ts';
import { DoubtedAnswer, MutedTurn } from './kept-turns.ts';
import { GREETING_MS_MAX, mayOpen } from './opening.ts';
import { OwnWords } from './own-words.ts';
import { hasAsked, hasJustAsked, isAsking, questionsIn } from './questions.ts';
import type { SpokenTurn } from './spoken-turn.ts';
import { TurnDetector, type TurnOptions } from './turn-detector.ts';
import type { CallerTurn, InterruptionFacts, TurnEvent } from './turn-event.ts';
import type { CallerLanguages, TurnTakingOptions } from './turn-taking-options.ts';

/** Time in which a recogniser without interim words must show that the caller speaks. */
const YIELD_WORDLESS_MS = 1_500;
/** Time before the agent's end in which a short answer is an answer, not a backchannel. */
const NEAR_END_MS = 1_000;
/** Turns whose last words may come late; a recogniser has outstanding answers for two. */
const REPORTED_MAX = 8;
/** Time from the agent's first words in which a greeting of the caller is none to be answered: callers greet while they
 *  are greeted. Later "hello?" asks whether somebody is there. */
const OPENING_MS = 5_000;
/** Time from the agent's first words in which both sides began at once: such a greeting never answers the agent's. */
const BOTH_BEGAN_MS = 1_000;
/** Shortest voice without words that is not a noise. */
const UNRECOGNIZED_MS_MIN = 500;

export class TurnTaking {
  readonly #playout: Playout;
  readonly #startAt: number;
  readonly #onEvent: (event: TurnEvent) => void;
  readonly #turn: TurnDetector;
  readonly #interrupt: BargeInDetector;
  readonly #earlyEnd = new EarlyEnd();
  readonly #agentLanguage: string | undefined;
  #recognizer: TurnOptions['recognizer'];
  #nowMs = 0;
  /** Whether the current voice was reported as speech. */
  #speaking = false;
  #voiceEndMs = 0;
  #yieldSinceMs = Number.NaN;
  /** Time at which the agent fell silent because of the caller's voice. */
  #heldSilentMs = 0;
  readonly #ownWords = new OwnWords();
  readonly #doubted = new DoubtedAnswer((turn) => this.#setAside(turn, false));
  /** Whether the caller's voice has stopped the agent, with no words reported so far. */
  #stoppedByVoice = false;
  readonly #mutedTurn = new MutedTurn();
  #uninterruptible = { startMs: Number.NaN, endMs: Number.NaN, hasAsked: false };
  /** Start of the agent's first words; undefined before. */
  #openedMs: number | undefined;
  /** Start times of the last reported turns. */
  #reportedMs: number[] = [];
  /** The utterance that began last. */
  #latest: Utterance | undefined;
  /** Whether the agent has begun to speak since the last of them. */
  #isAnswered = false;

  constructor(options: TurnTakingOptions) {
    this.#playout = options.playout;
    this.#startAt = options.startAt;
    this.#onEvent = options.onEvent;
    this.#recognizer = options.recognizer;
    this.#agentLanguage = options.languages.agentLanguage;
    this.#turn = new TurnDetector({
      recognizer: options.recognizer,
      turnMaxMs: options.tuning.turnMaxMs,
      listener: {
        onBegin: () => options.controls.speechStarted(),
        onPause: () => options.controls.speechStopped(),
        onResume: () => options.controls.speechResumed(),
        onProbableEnd: () => options.controls.prepareFinal(),
        onFinalize: () => options.controls.finalize(),
        onTurn: (turn) => this.#ended(turn),
        onLate: (turn) => this.#late(turn),
        onNothing: (turn) => this.#nothing(turn),
      },
    });
    this.#interrupt = new BargeInDetector({
      tuning: options.tuning.start,
      recognizer: options.recognizer,
      listener: {
        onDuck: () => this.#playout.duck(true),
        onHold: () => this.#hold(),
        onResume: () => this.#resume(),
        onConfirmed: (onsetMs) => this.#stopAgent('speech', onsetMs),
      },
    });
    this.setLanguages(options.languages);
  }

  /** Sets the languages of the node. */
  setLanguages({ language, wordsLanguage = this.#agentLanguage }: CallerLanguages): void {
    this.#interrupt.language = language;
    this.#interrupt.answersLanguage = wordsLanguage;
    this.#turn.language = wordsLanguage;
  }

  /** Language (BCP 47) of the words, as far as it is known. */
  get language(): string | undefined {
    return this.#interrupt.answersLanguage;
  }

  /** Whether the caller speaks, or has not finished. */
  get callerSpeaking(): boolean {
    return this.#speaking || this.#turn.open;
  }

  /** Whether the caller speaks, or pauses after words. */
  get isCallerTalking(): boolean {
    return this.#speaking || this.#turn.text !== '';
  }

  /** Media time since which the caller has been silent; Infinity while they speak. */
  get silentMs(): number {
    return this.#speaking ? Number.POSITIVE_INFINITY : this.#voiceEndMs;
  }

  expect(expectation: ExpectedInput): void {
    this.#doubted.drop();
    this.#turn.expect(expectation);
    this.#interrupt.expect(expectation);
    this.#earlyEnd.expect(expectation);
  }

  /** Takes voice after each window that is not the agent's echo, and at the end of voice. */
  voice(voice: VoiceActivity, nowMs: number): void {
    this.#nowMs = nowMs;
    this.#cutInterjection(voice);
    this.#weigh(voice);
    if (voice.state === 'speech' && !this.#speaking) {
      this.#speaking = true;
      this.#turn.speechStarted(voice.onsetMs);
      this.#onEvent({ type: 'caller-speech' });
    } else if (voice.state === 'silent' && this.#speaking) {
      this.#speaking = false;
      this.#voiceEndMs = voice.lastMs;
      this.#turn.speechStopped(voice.lastMs);
    }
  }

  partial(words: RecognizedWords, nowMs: number): void {
    this.#nowMs = nowMs;
    if (!this.#turn.open || words.text.trim() === '') return;
    if (!this.#turn.partial(words)) return;
    const { text } = this.#turn;
    this.#interrupt.isOpening = this.#isOpening(this.#turn.startMs);
    this.#onEvent({ type: 'partial', text });
    if (this.#earlyEnd.contradicts(text)) this.resumed();
    const audible = this.#speaking ? this.#audible() : undefined;
    if (audible?.interruptible) this.#interrupt.partial(this.#turn.words, this.#asks(audible));
  }

  final(words: RecognizedWords, nowMs: number): void {
    this.#nowMs = nowMs;
    this.#turn.final(words);
  }

  /** Takes the recogniser's probable end of the turn, with the words so far. It may be withdrawn. */
  probablyEnded(nowMs: number): void {
    this.#nowMs = nowMs;
    if (!this.#turn.open || this.#turn.isIncomplete) return;
    // Words beside the agent's own may be a backchannel.
    if (this.#playout.current(nowMs) !== undefined) return;
    const { text, confidence, language = this.#turn.language } = this.#turn.words;
    if (this.#earlyEnd.report({ text, language }))
      this.#onEvent({ type: 'early-end', text, confidence });
  }

  /** Withdraws the probable end: the turn continues. */
  resumed(): void {
    if (this.#earlyEnd.withdraw()) this.#onEvent({ type: 'turn-resumed' });
  }

  /** Takes the recogniser's end of the turn whose final words it has sent. */
  ended(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#turn.ended();
  }

  /** Extends the wait: the final words come later by `ms`. */
  delayed(ms: number): void {
    this.#turn.delayed(ms);
  }

  /** Ends the caller's turn, as the call is over. */
  conclude(): void {
    this.#turn.cut();
    const muted = this.#mutedTurn.take(this.#nowMs);
    if (muted !== undefined) this.#report(muted);
  }

  recognizerReplaced(recognizer: NonNullable<TurnOptions['recognizer']>): void {
    this.#recognizer = recognizer;
    this.#turn.recognizerReplaced(recognizer);
    this.#interrupt.recognizerReplaced(recognizer);
  }

  recognizerLost(): void {
    this.#recognizer = undefined;
    this.#interrupt.dismiss();
    this.#turn.recognizerLost();
  }

  /** Takes a key: the agent stops if it is interruptible. */
  digit(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#dropMuted();
    if (this.#playout.current(nowMs)?.interruptible !== true) return;
    this.#interrupt.forget();
    this.#stopAgent('dtmf', nowMs);
  }

  /** Advances the time. `heardMs`: media time up to which the caller's audio was processed. */
  advance(nowMs: number, heardMs: number): void {
    this.#nowMs = nowMs;
    if (this.#interrupt.pending && this.#playout.current(nowMs)?.interruptible !== true) {
      this.#interrupt.forget();
      this.#release();
    }
    this.#turn.hurried = this.#interrupt.pending;
    this.#turn.opening = this.#mayGreet;
    this.#turn.advance(nowMs, heardMs);
    this.#interrupt.tick(nowMs);
    this.#reportDoubted();
    this.#reportMuted();
  }

  /** Whether the agent may start `utterance`, and then notes its start: not while the caller speaks. */
  mayStart(utterance: Utterance, nowMs: number): boolean {
    const isFree = this.#isFree(utterance, nowMs);
    if (!isFree) return false;
    this.#isAnswered = true;
    this.#openedMs ??= nowMs;
    this.#interrupt.openedMs = this.#openedMs;
    this.#latest = utterance;
    return true;
  }

  #isFree(utterance: Utterance, nowMs: number): boolean {
    // Words that are kept get the next answer.
    if (utterance.interruptible && this.#mutedTurn.isPending) return false;
    const isFirst = this.#openedMs === undefined;
    const yields = isFirst || (utterance.interruptible && this.#recognizer !== undefined);
    if (!yields || !this.callerSpeaking) {
      this.#yieldSinceMs = Number.NaN;
      return true;
    }
    if (Number.isNaN(this.#yieldSinceMs)) this.#yieldSinceMs = nowMs;
    if (isFirst) return this.#isOpenFor(utterance, nowMs);
    if (this.#turn.text !== '') return false;
    const hasInterim = this.#recognizer?.interimWords === true;
    const yieldMs = hasInterim ? BARGE_IN_MS : YIELD_WORDLESS_MS;
    if (nowMs - this.#yieldSinceMs < yieldMs) return false;
    // Voice without a word for this long is noise, which must not silence the agent for good.
    this.#yieldSinceMs = Number.NaN;
    this.#interrupt.ignoreVoice();
    return true;
  }

  #isOpenFor({ interruptible }: Utterance, nowMs: number): boolean {
    const isOpen = mayOpen({
      sinceMs: this.#yieldSinceMs,
      nowMs,
      onsetMs: this.#turn.startMs,
      silentMs: this.silentMs,
      hasWords: this.#turn.text !== '',
      interimWords: this.#recognizer?.interimWords === true,
      interruptible,
    });
    if (!isOpen) return false;
    this.#yieldSinceMs = Number.NaN;
    if (this.#speaking) this.#interrupt.ignoreBackground();
    return true;
  }

  finished({ utterance, heardText, endMs }: UtteranceResult): void {
    this.#ownWords.said(heardText, endMs);
    if (utterance.interruptible || utterance.startMs === undefined) return;
    const { startMs } = utterance;
    this.#uninterruptible = { startMs, endMs, hasAsked: questionsIn(heardText) > 0 };
  }

  /** The utterance that is audible to the caller; undefined if there is none. */
  #audible(): Utterance | undefined {
    const current = this.#playout.current(this.#nowMs);
    return current?.startMs === undefined ? undefined : current;
  }

  /** Cuts an interjection: a line that explains a wait must not interrupt the caller. */
  #cutInterjection(voice: VoiceActivity): void {
    const { aside, held } = this.#playout;
    if (!aside.isPending || held || this.#recognizer === undefined) return;
    if (voice.state !== 'speech' || voice.voicedMs < BARGE_IN_MS) return;
    this.#hold();
    this.#release();
  }

  #weigh(voice: VoiceActivity): void {
    const current = this.#audible();
    const counts = current?.interruptible === true && this.#recognizer !== undefined;
    if (counts) this.#interrupt.voice(voice, this.#nowMs, this.#nowMs - (current.startMs ?? 0));
    else if (voice.state === 'silent') this.#interrupt.voice(voice, this.#nowMs, 0);
  }

  #ended(turn: SpokenTurn): void {
    this.#judge(turn);
    // Without a turn of these words, no answer follows.
    this.resumed();
    this.#earlyEnd.reset();
  }

  #judge(turn: SpokenTurn): void {
    const audible = this.#audible();
    if (turn.unvoiced && (audible !== undefined || this.#ownWords.echo(turn.text, this.#nowMs)))
      return;
    const current = this.#playout.current(this.#nowMs);
    this.#interrupt.isOpening = this.#isOpening(turn.startMs);
    const isMuted = this.#muted(turn, audible);
    if (current !== undefined && this.#greetsAlong(turn)) {
      this.#interrupt.dismiss();
      this.#setAside(turn, isMuted);
      this.#letBegin();
      return;
    }
    if (isMuted) {
      this.#keepMuted(turn, audible);
      return;
    }
    if (current?.interruptible !== true) {
      this.#report(turn);
    } else if (this.#interrupt.interrupts(turn, this.#asks(current))) {
      this.#interrupt.forget();
      this.#stopAgent('speech', turn.startMs);
      this.#report(turn);
    } else {
      const nearEnd = this.#playout.remainingMs(this.#nowMs) <= NEAR_END_MS;
      this.#interrupt.dismiss();
      if (nearEnd) {
        this.#report(turn);
        return;
      }
      if (this.#mayAnswer(turn, current)) this.#doubted.keep(turn, current);
      else this.#setAside(turn, false);
      this.#letBegin();
    }
  }

  /** Whether the call has just been opened by the agent, and not by a turn of the caller that began at `startMs`. */
  #isOpening(startMs: number): boolean {
    if (this.#reportedMs.length > 0) return false;
    return startMs - (this.#openedMs ?? startMs) <= OPENING_MS;
  }

  /** Whether the caller's sound may be a greeting that the agent's first words answer. */
  get #mayGreet(): boolean {
    if (this.#openedMs !== undefined || this.#reportedMs.length > 0) return false;
    return this.#voiceEndMs - this.#turn.startMs <= GREETING_MS_MAX;
  }

  /** Whether the turn is a greeting that needs no answer, as the agent's own is being spoken. */
  #greetsAlong(turn: SpokenTurn): boolean {
    if (!this.#interrupt.isGreeting(turn)) return false;
    const bothBegan = turn.startMs - (this.#openedMs ?? turn.startMs) <= BOTH_BEGAN_MS;
    return bothBegan || this.#playout.remainingMs(this.#nowMs) > NEAR_END_MS;
  }

  /** Whether an acknowledgement answers a question of this utterance. A scripted agent's questions stay open to its
   *  end: it has one in each. */
  #asks(utterance: Utterance): boolean {
    if (!this.#interrupt.expectsSpeech) return hasAsked(utterance);
    if (hasJustAsked(utterance)) return true;
    // At the agent's end, the question is heard out.
    return isAsking(utterance) && this.#playout.remainingMs(this.#nowMs) > NEAR_END_MS;
  }

  /** Whether words that do not stop the agent may answer a question that it has asked before. */
  #mayAnswer(turn: SpokenTurn, current: Utterance): boolean {
    if (!hasAsked(current)) return false;
    return this.#interrupt.isDoubted(turn) || this.#interrupt.agrees(turn);
  }

  /** Whether the turn agrees at the end of uninterruptible speech, where an agreement is an answer. */
  #agreesAtEnd(turn: SpokenTurn, audible: Utterance | undefined): boolean {
    if (!this.#interrupt.agrees(turn)) return false;
    if (audible !== undefined) return this.#playout.remainingMs(this.#nowMs) <= NEAR_END_MS;
    return this.#uninterruptible.endMs - turn.endMs <= NEAR_END_MS;
  }

  /** Keeps words that were said during uninterruptible speech. */
  #keepMuted(turn: SpokenTurn, audible: Utterance | undefined): void {
    const isAsked = audible === undefined ? this.#uninterruptible.hasAsked : hasAsked(audible);
    const isKept = this.#interrupt.isAnswered(turn, isAsked) || this.#agreesAtEnd(turn, audible);
    if (isKept) this.#mutedTurn.keep(turn);
    else this.#setAside(turn, true);
  }

  #dropMuted(): void {
    for (const turn of this.#mutedTurn.drop()) this.#setAside(turn, true);
  }

  /** Reports the words that were kept once the agent can be interrupted. An answer to earlier words does not begin. */
  #reportMuted(): void {
    if (!this.#mutedTurn.isPending || this.callerSpeaking) return;
    const current = this.#playout.current(this.#nowMs);
    if (current?.interruptible === false) return;
    const turn = this.#mutedTurn.take(this.#nowMs);
    if (turn === undefined) return;
    if (current !== undefined) this.#stopAgent('speech', this.#nowMs);
    this.#report(turn, this.#nowMs);
  }

  #reportDoubted(): void {
    if (this.callerSpeaking || this.#playout.current(this.#nowMs) !== undefined) return;
    const turn = this.#doubted.take(this.#nowMs, this.#latest);
    if (turn !== undefined) this.#report(turn, this.#nowMs);
  }

  /** Handles voice without words. The agent continues, or the dialogue asks again: a caller who has silenced the agent,
   *  or has spoken to it, gets an answer. */
  #nothing(turn: SpokenTurn): void {
    const { pending } = this.#interrupt;
    this.resumed();
    this.#earlyEnd.reset();
    this.#interrupt.dismiss();
    this.#letBegin();
    const isSpeech = this.#stoppedByVoice || turn.endMs - turn.startMs >= UNRECOGNIZED_MS_MIN;
    if (pending || !isSpeech || this.#recognizer === undefined) return;
    if (this.#playout.current(this.#nowMs) !== undefined) return;
    this.#stoppedByVoice = false;
    if (this.#mutedTurn.isPending || this.#muted(turn, undefined)) return;
    this.#onEvent({ type: 'unrecognized' });
  }

  /** Handles words of a turn that was reported without them: they continue the caller's turn, unless the agent has an
   *  answer already, which may ask about something else. Otherwise, and if they are doubtful, they are only reported:
   *  asking about them would take the place of the answer. */
  #late(turn: SpokenTurn): void {
    if (!this.#reportedMs.includes(turn.startMs)) return;
    const isLast = this.#reportedMs.at(-1) === turn.startMs;
    const hasWords = this.#playout.current(this.#nowMs)?.firstTextAt !== undefined;
    const isAnswered = this.#isAnswered || hasWords;
    if (isLast && !isAnswered && trustIn(turn.confidence) === 'accept') this.#report(turn);
    else this.#onEvent({ type: 'late-turn', turn: this.#callerTurn(turn) });
  }

  /** Reports a turn. `awaitedMs`: time since when the caller has waited for the answer. */
  #report(turn: SpokenTurn, awaitedMs = turn.endMs): void {
    this.#doubted.drop();
    this.#stoppedByVoice = false;
    this.#earlyEnd.withdraw();
    this.#reportedMs = [...this.#reportedMs, turn.startMs].slice(-REPORTED_MAX);
    this.#isAnswered = false;
    this.#interrupt.hasBackground = false;
    const whole = this.#mutedTurn.take(this.#nowMs, turn) ?? turn;
    this.#onEvent({ type: 'turn', turn: this.#callerTurn(whole, awaitedMs) });
  }

  #callerTurn(turn: SpokenTurn, awaitedMs = turn.endMs): CallerTurn {
    const { text, confidence, startMs, endMs } = turn;
    const lastSpeechAt = this.#startAt + awaitedMs;
    const decidedAt = this.#startAt + turn.decidedMs;
    const finalAt = this.#startAt + turn.finalMs;
    const times = { startMs, endMs, lastSpeechAt, decidedAt, finalAt };
    return { text, confidence, source: 'speech', ...times };
  }

  #setAside({ text, confidence, startMs, endMs }: SpokenTurn, isMuted: boolean): void {
    this.#onEvent({ type: 'backchannel', text, confidence, isMuted, startMs, endMs });
  }

  /** Lets an utterance start that waited for the caller's sound, which is no turn. */
  #letBegin(): void {
    if (!Number.isNaN(this.#yieldSinceMs)) this.#playout.pump(this.#nowMs);
  }

  /** Whether the whole turn was spoken during uninterruptible speech. */
  #muted(turn: SpokenTurn, audible: Utterance | undefined): boolean {
    if (audible?.interruptible === false) return turn.startMs >= (audible.startMs ?? 0);
    const { startMs, endMs } = this.#uninterruptible;
    return turn.startMs >= startMs && turn.endMs <= endMs;
  }

  #hold(): void {
    this.#playout.hold(this.#nowMs);
    this.#heldSilentMs = this.#playout.silentMs;
  }

  #resume(): void {
    this.#release();
    interruptions.inc({ outcome: 'resumed' });
  }

  #release(): void {
    this.#playout.duck(false);
    this.#playout.resume(this.#nowMs);
  }

  #stopAgent(cause: InterruptionFacts['cause'], onsetMs: number): void {
    const audible = this.#audible();
    if (!this.#playout.held) this.#hold();
    if (audible !== undefined) {
      const decisionMs = Math.max(0, this.#nowMs - onsetMs);
      const silenceMs = Math.max(0, this.#heldSilentMs - onsetMs);
      this.#onEvent({ type: 'interruption', facts: { cause, decisionMs, silenceMs } });
      bargeInSeconds.observe(silenceMs / 1_000);
      interruptions.inc({ outcome: 'confirmed' });
    }
    this.#stoppedByVoice = cause === 'speech';
    this.#doubted.drop();
    this.#playout.interrupt(this.#nowMs, { everything: false });
  }
}
