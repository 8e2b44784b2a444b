// Answer supervisor, with answering machine detection (AMD): finds out who has answered an outbound call, by the callee's audio (voice, pauses, tones, music), by
// the recognised words, and by the provider's own detection, which is one input among them. The agent speaks meanwhile: a
// doubt is a person. A verdict may be followed by others, as a voicemail's beep follows its greeting, and a person the
// music of a queue.

import type { AnswerEvidence, Answerer } from '../../model/answer-handling.ts';
import { type AnswerPhrase, answerPhrasesIn } from '../../model/answer-phrases.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import type { AnswerVerdict } from './answer-verdict.ts';
import { BeepDetector } from './beep-detector.ts';
import { MusicDetector } from './music-detector.ts';
import { NetworkToneDetector } from './network-tones.ts';
import { toneOf } from './tones.ts';

export interface AnswerTuning {
  /** Length of speech without a longer pause than PAUSE_MS from which it is a recording, in milliseconds. */
  longSpeechMs: number;
  /** Whether the recogniser has an open vocabulary: only then the absence of a machine's words counts. */
  hasOpenWords: boolean;
}

export interface AnswerSupervisorOptions extends AnswerTuning {
  onVerdict: (verdict: AnswerVerdict) => void;
}

/** Level below which a tone is none of a machine. */
const TONE_DB_MIN = -40;
/** Longest pause inside a greeting. */
const PAUSE_MS = 700;
/** Silence after which a person waits for an answer: after a word or two, and after more. */
const WAIT_SHORT_MS = 600;
const WAIT_MS = 800;
const SHORT_SPEECH_MS = 1_300;
/** Time without any word after which the result is "unknown". */
const SILENT_MS = 10_000;
/** Silence after which a voicemail without a beep records, and a menu or a screening waits. */
const READY_MS = 2_000;
const PROMPT_OVER_MS = 1_000;
/** Time in which a first verdict may still change; a voicemail's greeting is shorter. */
const WATCH_MS = 60_000;
/** Speech of a person who has been taken for one already, over which they are a recording after all: with the words of a
 *  machine it takes less. */
const REVISED_SHARE_MIN = 0.75;
const REVISED_MS_MAX = 20_000;
/** Speech in which a single hint counts. */
const HINTED_SPEECH_MS = 2_500;
/** Speech that may be as long again if none of its words are a machine's. */
const WORDS_FACTOR = 1.7;
/** Longest first words of a person who takes a call from a queue, a menu or call screening. */
const PICKED_UP_MS_MAX = 3_500;
/** Time by which words may come after the voice. */
const WORDS_LATE_MS = 1_500;

/** Answerers from which a person may still take the call. */
const PASSING: ReadonlySet<Answerer> = new Set(['screening', 'menu', 'hold']);

export class AnswerSupervisor {
  readonly #options: AnswerSupervisorOptions;
  readonly #beep = new BeepDetector();
  readonly #network = new NetworkToneDetector();
  readonly #music = new MusicDetector();
  #startMs: number | undefined;
  #nowMs = 0;
  /** Begin of the current speech, without a longer pause than PAUSE_MS, and its last voice. */
  #speechMs: number | undefined;
  #voiceMs = 0;
  /** Voice in all, in milliseconds, and the time at which the first one began. */
  #voicedMs = 0;
  #firstMs: number | undefined;
  #wasVoice = false;
  #verdict: AnswerVerdict | undefined;
  /** Whether the agent has spoken, and the callee after it: two parties that take turns. */
  #hasAgentSpoken = false;
  #exchanges = 0;
  /** Words of the current speech, and those before it. */
  #words = '';
  #before = '';
  #language: string | undefined;

  constructor(options: AnswerSupervisorOptions) {
    this.#options = options;
  }

  /** Whether nothing more can change. */
  get isDone(): boolean {
    const who = this.#verdict?.who;
    if (who === 'fax' || who === 'out-of-service') return true;
    if (who === 'person' && this.#exchanges >= 2) return true;
    return this.#startMs !== undefined && !PASSING.has(who ?? 'unknown')
      ? this.#nowMs - this.#startMs > WATCH_MS
      : false;
  }

  /** Takes a frame of the callee, its level, and whether it is speech, in order of time. */
  push(frame: Int16Array, levelDb: number, isVoice: boolean, atMs: number): void {
    this.#startMs ??= atMs;
    const passedMs = Math.max(0, atMs - this.#nowMs);
    this.#nowMs = atMs;
    if (this.isDone) return;
    if (this.#takeTones(frame, levelDb, isVoice)) return;
    if (isVoice) this.#voice(passedMs);
    else this.#quiet();
    this.#wasVoice = isVoice;
    if (this.#music.isPlaying) this.#playing();
  }

  /** Takes the words of the current speech so far, or all words of a turn that is over. */
  words(text: string, { isFinal, language }: { isFinal: boolean; language?: string | undefined }) {
    if (this.isDone || text.trim() === '') return;
    this.#language = language ?? this.#language;
    this.#words = text;
    this.#weighWords();
    if (!isFinal) return;
    this.#before = `${this.#before} ${text}`.trim().slice(-1_000);
    this.#words = '';
  }

  /** Takes the result of the provider's detection, in its words. */
  provider(answeredBy: string): void {
    if (this.isDone) return;
    const isBeep = answeredBy.endsWith('_beep') || answeredBy === 'beep_detected';
    if (/^fax/.test(answeredBy)) this.#decide('fax', 'provider', false);
    else if (isBeep) this.#beeped('provider');
    else if (/^machine/.test(answeredBy)) this.#providerMachine(answeredBy);
    else if (/^human/.test(answeredBy) && this.#verdict === undefined) {
      this.#decide('person', 'provider', false);
    }
  }

  /** Takes the words of the callee's turns. */
  turnEvent(event: TurnEvent, language: string | undefined): void {
    if (event.type === 'partial') this.words(event.text, { isFinal: false, language });
    if (event.type === 'backchannel') this.words(event.text, { isFinal: true, language });
    if (event.type !== 'turn' || event.turn.source !== 'speech') return;
    this.words(event.turn.text, { isFinal: true, language });
  }

  /** Notes that the agent has said something to the callee. */
  agentSpoke(): void {
    this.#hasAgentSpoken = true;
  }

  #takeTones(frame: Int16Array, levelDb: number, isVoice: boolean): boolean {
    const hz = levelDb < TONE_DB_MIN ? 0 : toneOf(frame);
    this.#music.push(frame, { levelDb, hz, isVoice });
    const tone = this.#network.push(hz);
    if (tone !== undefined) {
      this.#decide(tone === 'fax' ? 'fax' : 'out-of-service', 'tones', false);
      return true;
    }
    if (this.#beep.push(frame, levelDb, hz) === undefined) return false;
    this.#beeped('beep');
    return true;
  }

  /** A beep: the voicemail records, or the screening does. */
  #beeped(by: 'beep' | 'provider'): void {
    const who = this.#verdict?.who;
    if (who === 'person' && this.#exchanges >= 1) return;
    const isPassing = who === 'screening' || who === 'no-message';
    this.#decide(isPassing ? who : 'voicemail', by, true);
  }

  /** The provider is surer than a silence or a doubt, and less sure than two parties that take turns. */
  #providerMachine(answeredBy: string): void {
    const own = this.#verdict;
    if (own !== undefined && own.who !== 'unknown' && own.who !== 'voicemail') return;
    const isEnd = /end_(silence|other)/.test(answeredBy);
    if (own === undefined || own.who === 'unknown' || isEnd) {
      this.#decide('voicemail', 'provider', isEnd);
    }
  }

  #voice(passedMs: number): void {
    const atMs = this.#nowMs;
    if (this.#speechMs === undefined || atMs - this.#voiceMs > PAUSE_MS) this.#speechStarted();
    this.#firstMs ??= atMs;
    if (this.#wasVoice) this.#voicedMs += passedMs;
    this.#voiceMs = atMs;
    const speechMs = atMs - (this.#speechMs ?? atMs);
    if (this.#verdict === undefined || this.#verdict.who === 'unknown') {
      if (speechMs > this.#longSpeechMs) this.#decide('voicemail', 'cadence', false);
    } else if (this.#verdict.who === 'person' && this.#isMonologue(speechMs)) {
      this.#decide('voicemail', 'cadence', false);
    }
  }

  /** Speech that began after the agent's words answers them. */
  #speechStarted(): void {
    this.#speechMs = this.#nowMs;
    if (!this.#hasAgentSpoken) return;
    this.#exchanges += 1;
    this.#hasAgentSpoken = false;
  }

  /** With words, and none of them a machine's, a long speech is rather a person's. */
  get #longSpeechMs(): number {
    const { longSpeechMs, hasOpenWords } = this.#options;
    const areClear = hasOpenWords && this.#words !== '' && this.#evidence.size === 0;
    return areClear ? longSpeechMs * WORDS_FACTOR : longSpeechMs;
  }

  /** Whether a "person" has spoken nearly all the time since, without regard to the agent. */
  #isMonologue(speechMs: number): boolean {
    if (this.#exchanges > 1 || this.#firstMs === undefined) return false;
    const sinceMs = this.#nowMs - this.#firstMs;
    if (sinceMs > REVISED_MS_MAX || speechMs < this.#longSpeechMs) return false;
    return this.#voicedMs / sinceMs >= REVISED_SHARE_MIN;
  }

  #quiet(): void {
    const { who } = this.#verdict ?? {};
    if (this.#speechMs === undefined) {
      const isSilent = this.#nowMs - (this.#startMs ?? 0) > SILENT_MS;
      if (isSilent && who === undefined) this.#decide('unknown', 'silence', false);
      return;
    }
    if (this.#beep.mayBeOne || this.#music.isPlaying) return;
    const silentMs = this.#nowMs - this.#voiceMs;
    if (who === undefined || who === 'unknown') this.#mayBePerson(silentMs);
    else if (PASSING.has(who)) this.#passing(silentMs);
    else this.#mayBeReady(silentMs);
  }

  /** A voicemail whose greeting ends without a beep. */
  #mayBeReady(silentMs: number): void {
    const { who, isReady } = this.#verdict as AnswerVerdict;
    if (isReady || silentMs <= READY_MS || (who !== 'voicemail' && who !== 'no-message')) return;
    this.#decide(who, 'silence', true);
  }

  #mayBePerson(silentMs: number): void {
    const speechMs = this.#voiceMs - (this.#speechMs ?? 0);
    const waitMs = speechMs <= SHORT_SPEECH_MS ? WAIT_SHORT_MS : WAIT_MS;
    if (silentMs > waitMs) this.#decide('person', 'cadence', false);
  }

  /** A menu, a screening or a queue has fallen silent: it waits, or a person has taken the call. */
  #passing(silentMs: number): void {
    const own = this.#verdict as AnswerVerdict;
    const speechMs = this.#voiceMs - (this.#speechMs ?? 0);
    const isNew = (this.#speechMs ?? 0) > own.atMs && own.isReady;
    if (!own.isReady) {
      if (silentMs > PROMPT_OVER_MS) this.#decide(own.who, own.by, true);
    } else if (isNew && silentMs > WAIT_SHORT_MS && speechMs <= PICKED_UP_MS_MAX) {
      const lateMs = this.#options.hasOpenWords && this.#words === '' ? WORDS_LATE_MS : 0;
      if (silentMs > WAIT_SHORT_MS + lateMs) this.#decide('person', 'cadence', false);
    }
  }

  #playing(): void {
    const who = this.#verdict?.who;
    if (who === 'hold' || who === 'voicemail' || who === 'no-message') return;
    if (who === 'person' && this.#exchanges > 0) return;
    this.#decide('hold', 'music', true);
  }

  get #evidence(): ReadonlyMap<AnswerPhrase, number> {
    return answerPhrasesIn(`${this.#before} ${this.#words}`, this.#language);
  }

  #weighWords(): void {
    const own = this.#verdict?.who;
    // In a queue or behind a screening, only what is said now counts.
    const isPassing = own !== undefined && PASSING.has(own);
    const found = isPassing ? answerPhrasesIn(this.#words, this.#language) : this.#evidence;
    const who = this.#answererOf(found);
    if (who === undefined || (own === 'person' && this.#exchanges > 1)) return;
    if (own === who && !(PASSING.has(who) && this.#isAgain)) return;
    this.#decide(who, 'words', false);
  }

  /** Whether the prompt of a menu or a screening is said once more, after it was over. */
  get #isAgain(): boolean {
    const own = this.#verdict;
    return own?.isReady === true && (this.#speechMs ?? 0) > own.atMs;
  }

  #answererOf(found: ReadonlyMap<AnswerPhrase, number>): Answerer | undefined {
    const has = (phrase: AnswerPhrase): boolean => found.has(phrase);
    if (has('outOfService')) return 'out-of-service';
    if (has('noMessage')) return 'no-message';
    if (has('screening')) return 'screening';
    if (has('voicemail')) return 'voicemail';
    if (has('menu')) return 'menu';
    if (has('screeningWait')) return this.#verdict?.who === 'screening' ? undefined : 'hold';
    if (has('hold')) return 'hold';
    if (has('joke')) return undefined;
    const hints = found.get('voicemailHint') ?? 0;
    const speechMs = this.#voiceMs - (this.#speechMs ?? this.#voiceMs);
    const isHinted = hints > 1 || (hints === 1 && speechMs > HINTED_SPEECH_MS);
    return isHinted ? 'voicemail' : undefined;
  }

  #decide(who: Answerer, by: AnswerEvidence, isReady: boolean): void {
    const last = this.#verdict;
    if (last?.who === who && last.isReady === isReady && by !== 'words') return;
    this.#verdict = { who, by, isReady, atMs: this.#nowMs };
    if (who === 'person' && last !== undefined && PASSING.has(last.who)) this.#begin();
    this.#options.onVerdict(this.#verdict);
  }

  /** Another party has taken the call: what was said before does not count. */
  #begin(): void {
    this.#before = '';
    this.#words = '';
    this.#exchanges = 0;
    this.#hasAgentSpoken = false;
    this.#startMs = this.#nowMs;
    this.#firstMs = this.#speechMs;
    this.#voicedMs = 0;
  }
}
