// Watchdog for a recogniser that stays silent while the caller speaks, although its connection is open.

import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { CircuitBreaker } from '../../service/service-circuit-breaker.ts';
import type { ServiceFault } from '../../service/service-fault.ts';

/** Limit from the beginning of speech to the first message. Shorter speech may have no words. */
const FIRST_MS_MAX = 4_000;
const SPEECH_MS_MIN = 1_200;
/** Shortest duration of a word. */
const WORD_MS_MIN = 200;
/** Messages within this time after the beginning of speech concern earlier audio. */
const LATENCY_MS = 500;
/** Short turns in a call that are examined. Coughs and clicks have no words either, and each check delays the turn's
 *  end. Two, so that a word is found even if two sessions of a service have stopped. */
const SHORT_DOUBTS_MAX = 2;
/** Further short turns in a row without a message, of which the last is examined, because the service may have stopped.
 *  Doubled each time that it had not. */
const PASSED_MIN = 2;
/** Silences in a row without words that are examined. After that, the audio itself has no words. */
const SILENCES_MAX = 2;
/** Limit between two messages while the caller speaks. */
const BETWEEN_MS_MAX = 2_500;

export class SpeechWatchdog {
  /** Silences found since the last words. */
  silences = 0;
  readonly #clock: Clock;
  readonly #onSilent: (detail: string) => void;
  #timer: Timer | undefined;
  #shortDoubts = 0;
  /** Short turns in a row without a message that were not examined, and the number that triggers a check. */
  #passed = 0;
  #passedMax = PASSED_MIN;
  /** Position of the short speech that was examined last. */
  #doubtedMs: number | undefined;
  #isSpeaking = false;
  #hasEvent = false;
  /** Whether the service has sent a message that concerns this speech. */
  #isAlive = false;
  #speaksAt = 0;
  /** Position of the turn's speech in the call's audio, and its duration, in milliseconds. */
  #fromMs = 0;
  #spokeMs = 0;
  #suspect: { fault: ServiceFault; circuit: CircuitBreaker | undefined } | undefined;

  constructor(clock: Clock, onSilent: (detail: string) => void) {
    this.#clock = clock;
    this.#onSilent = onSilent;
  }

  /** Speech begins at this position of the call's audio. */
  speaks(atMs: number): void {
    this.#isSpeaking = true;
    this.#hasEvent = false;
    this.#isAlive = false;
    this.#speaksAt = this.#clock.monotonicMs();
    this.#fromMs = atMs;
    this.#spokeMs = 0;
    this.#await(FIRST_MS_MAX);
  }

  /** Speech continues after a pause within a turn. */
  speaksOn(): void {
    this.#isSpeaking = true;
    if (this.#timer === undefined) this.#await(this.#hasEvent ? BETWEEN_MS_MAX : FIRST_MS_MAX);
  }

  pauses(atMs: number): void {
    this.#isSpeaking = false;
    this.#spokeMs = atMs - this.#fromMs;
    if (this.#hasEvent || this.#spokeMs < SPEECH_MS_MIN) this.#cancel();
  }

  /** The service has sent a message. */
  event(): void {
    this.#hasEvent = true;
    if (this.#clock.monotonicMs() - this.#speaksAt >= LATENCY_MS) this.#isAlive = true;
    this.#cancel();
    if (this.#isSpeaking) this.#await(BETWEEN_MS_MAX);
  }

  /** Notes a silent service. It is at fault if another session finds words in the same audio. */
  suspect(fault: ServiceFault, circuit: CircuitBreaker | undefined): void {
    this.#suspect = { fault, circuit };
  }

  /** Words arrived. `endMs`: end of the last one in the call's audio, if the service reports it. */
  words(endMs: number | undefined): void {
    this.silences = 0;
    this.#passed = 0;
    if (endMs !== undefined && endMs > this.#fromMs) this.#isAlive = true;
    const suspect = this.#suspect;
    if (suspect === undefined) return;
    this.#suspect = undefined;
    this.#shortDoubts = 0;
    this.#passedMax = PASSED_MIN;
    const { fault, circuit } = suspect;
    serviceFaults.inc({ kind: 'stt', service: fault.service, fault: fault.kind });
    circuit?.failed(fault);
  }

  /** The other session found no words either. */
  noWords(): void {
    this.#suspect = undefined;
  }

  /** No words are expected. */
  stop(): void {
    this.#isSpeaking = false;
    this.#cancel();
  }

  /** Another session begins. */
  reset(): void {
    this.stop();
    this.#hasEvent = false;
    this.#isAlive = false;
    this.#spokeMs = 0;
  }

  /** Whether the service may have stopped, after a turn without words. `speech` counts as a silence. Short speech does
   *  not: it is tried on another session of the same service first (`word`), then on another service (`word-again`),
   *  because two sessions of one service may stop one after the other. */
  doubt(): 'speech' | 'word' | 'word-again' | undefined {
    if (this.#isAlive) this.#passed = 0;
    if (this.#isAlive || this.#spokeMs < WORD_MS_MIN) return undefined;
    if (this.#spokeMs < SPEECH_MS_MIN) return this.#shortDoubt();
    if (this.silences >= SILENCES_MAX) return undefined;
    this.silences += 1;
    return 'speech';
  }

  #shortDoubt(): 'word' | 'word-again' | undefined {
    const isAgain = this.#doubtedMs === this.#fromMs;
    if (this.#shortDoubts >= SHORT_DOUBTS_MAX) {
      if (isAgain) return undefined;
      this.#passed += 1;
      if (this.#passed < this.#passedMax) return undefined;
      this.#passed = 0;
      this.#passedMax *= 2;
      this.#shortDoubts = 0;
    }
    this.#shortDoubts += 1;
    this.#doubtedMs = this.#fromMs;
    return isAgain ? 'word-again' : 'word';
  }

  #await(ms: number): void {
    this.#cancel();
    if (this.silences >= SILENCES_MAX) return;
    this.#timer = this.#clock.after(ms, () => {
      this.#timer = undefined;
      this.silences += 1;
      this.#onSilent(this.#hasEvent ? 'silent while the caller speaks' : 'no sign of life');
    });
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
