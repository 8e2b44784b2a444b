// Barge-in: decides whether the caller interrupts the speaking agent. A possible interruption ducks the agent,
// lasting voice holds it (silent, its words kept), words stop it; without words the agent continues. It only
// decides: pipeline/speak/playout.ts carries it out. It gets no voice during uninterruptible speech.

import { isBackchannel, isBackchannelPrefix, isStopWord } from '../../model/control-phrases.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../../model/expected-input.ts';
import type { VoiceActivity } from '../listen/voice-activity.ts';
import { isExpectedAnswer, wordsOf } from './endpointing.ts';
import type { TurnTuning } from './turn-tuning.ts';

/** Voice alone stops the agent after this time: coughs and "mhm" are shorter. The agent has been silent since
 *  the first tenth of a second of it, so words may take their time. */
const VOICE_MS = 1_500;
/** One window with this probability holds the agent: it can still continue, and each window is 32 ms. */
const HOLD_PROBABILITY = 0.65;
/** Interim words count only with this much voice before them: recognisers guess words in noise. */
const WORDS_VOICE_MS_MIN = 150;
/** After the voice has ended, words are awaited for the recogniser's delay, within these bounds. */
const WORDS_WAIT_MS_MIN = 600;
const WORDS_WAIT_MS_MAX = 1_000;
const FINALIZE_MS = 300;
/** A single window of voice. */
const CLICK_MS = 64;
/** Caller and agent started at the same time: the agent yields at the first sign of voice. */
export const BARGE_IN_MS = 400;

export interface BargeInListener {
  onDuck(): void;
  onHold(): void;
  /** It was no interruption. */
  onResume(): void;
  /** The agent must stop. `onsetMs` is the media time of the caller's onset. */
  onConfirmed(onsetMs: number): void;
}

export class BargeInDetector {
  readonly #listener: BargeInListener;
  readonly #tuning: TurnTuning['start'];
  readonly #wordsWaitMs: number;
  #expectation: ExpectedInput = OPEN_SPEECH;
  /** `spent`: this voice was judged to be no interruption; until it ends, only words count. */
  #state: 'quiet' | 'ducked' | 'held' | 'spent' = 'quiet';
  #onsetMs = 0;
  #resumeAtMs = Number.POSITIVE_INFINITY;
  #voicedMs = 0;

  constructor(options: {
    listener: BargeInListener;
    tuning: TurnTuning['start'];
    finalMsP99: number;
  }) {
    this.#listener = options.listener;
    this.#tuning = options.tuning;
    const waitMs = FINALIZE_MS + options.finalMsP99;
    this.#wordsWaitMs = Math.min(WORDS_WAIT_MS_MAX, Math.max(WORDS_WAIT_MS_MIN, waitMs));
  }

  /** Whether the agent is ducked or held, without a decision yet. */
  get pending(): boolean {
    return this.#state === 'ducked' || this.#state === 'held';
  }

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
  }

  /** After each window of the caller's audio. `agentSpokeMs`: for how long the agent has been audible. */
  voice(voice: VoiceActivity, nowMs: number, agentSpokeMs: number): void {
    if (voice.state === 'silent') {
      this.#voiceEnded(voice, nowMs);
      return;
    }
    this.#voicedMs = voice.voicedMs;
    // The agent fell silent for the first of several pieces of voice: its onset counts.
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

  /** Whether these words, spoken while the agent speaks, are meant to stop it. */
  interrupts(text: string): boolean {
    const count = wordsOf(text).length;
    if (count === 0) return false;
    if (isStopWord(text)) return true;
    if (this.#tuning.strategy === 'min_words') return count >= this.#tuning.wordsMin;
    return !isBackchannel(text) || isExpectedAnswer(text, this.#expectation);
  }

  /** Interim words. Returns whether they stopped the agent. */
  partial(text: string): boolean {
    if (this.#voicedMs < WORDS_VOICE_MS_MIN || !this.interrupts(text)) return false;
    if (this.#mayAcknowledge(text)) return false;
    this.confirm();
    return true;
  }

  confirm(): void {
    this.#reset('quiet');
    this.#listener.onConfirmed(this.#onsetMs);
  }

  /** Stopped for a reason outside this file. */
  forget(): void {
    this.#reset('quiet');
  }

  /** The voice had no words, or words that do not interrupt. */
  dismiss(): void {
    const { pending } = this;
    this.#reset('quiet');
    if (pending) this.#listener.onResume();
  }

  /** The current voice no longer counts, unless it has words. */
  ignoreVoice(): void {
    const { pending } = this;
    this.#reset('spent');
    if (pending) this.#listener.onResume();
  }

  tick(nowMs: number): void {
    if (nowMs < this.#resumeAtMs) return;
    this.dismiss();
  }

  /** Whether a decision is too early: "I" may continue as "I see". */
  #mayAcknowledge(text: string): boolean {
    if (isStopWord(text) || isExpectedAnswer(text, this.#expectation)) return false;
    return isBackchannelPrefix(text);
  }

  #reset(state: 'quiet' | 'spent'): void {
    this.#state = state;
    this.#resumeAtMs = Number.POSITIVE_INFINITY;
  }

  #holds(voice: VoiceActivity, agentSpokeMs: number): boolean {
    if (this.#tuning.strategy === 'min_words') return false;
    const likely = voice.state === 'speech' || voice.peak >= HOLD_PROBABILITY;
    return likely || agentSpokeMs < BARGE_IN_MS;
  }

  /** Voice that does not end. */
  #outlast(voice: VoiceActivity, nowMs: number): void {
    const { strategy, pauseMs } = this.#tuning;
    if (strategy === 'default' && voice.voicedMs >= VOICE_MS) {
      this.confirm();
    } else if (strategy === 'provisional_vad' && nowMs - voice.onsetMs >= pauseMs) {
      this.#reset('spent');
      this.#listener.onResume();
    }
  }

  #voiceEnded(voice: VoiceActivity, nowMs: number): void {
    this.#voicedMs = 0;
    if (this.#state === 'spent') this.#state = 'quiet';
    if (!this.pending || this.#resumeAtMs !== Number.POSITIVE_INFINITY) return;
    const { strategy, pauseMs } = this.#tuning;
    const waitMs = strategy === 'provisional_vad' ? pauseMs : this.#wordsWaitMs;
    // Voice that never became speech is a click and will have no words.
    const click = voice.voicedMs < CLICK_MS;
    this.#resumeAtMs = click ? nowMs : voice.lastMs + waitMs;
    this.tick(nowMs);
  }
}
