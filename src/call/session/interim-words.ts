// The caller's interim words (partial transcript) on their way to those who watch the call live. They are never
// stored. Source: contract §8.10.

import type { Clock, Timer } from '../../std/clock.ts';
import type { RunLog } from '../log/event-log.ts';

/** A recogniser may revise its words with every frame; nobody reads faster than this. */
const INTERVAL_MS_MIN = 100;
/** Of a longer text the last words: half a minute of speech. */
const CHARACTERS_MAX = 500;

export class InterimWords {
  readonly #clock: Clock;
  readonly #runLog: Pick<RunLog, 'isWatched' | 'emitLive'>;
  #sentAt = Number.NEGATIVE_INFINITY;
  #waiting: string | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, runLog: Pick<RunLog, 'isWatched' | 'emitLive'>) {
    this.#clock = clock;
    this.#runLog = runLog;
  }

  /** The turn's words so far. Those that come too soon after the last ones wait, and newer ones replace them. */
  partial(text: string): void {
    if (!this.#runLog.isWatched()) return;
    this.#waiting = text;
    const dueMs = this.#sentAt + INTERVAL_MS_MIN - this.#clock.monotonicMs();
    if (dueMs <= 0) this.#send();
    else this.#timer ??= this.#clock.after(dueMs, () => this.#send());
  }

  /** The words are final, or nothing came of them: what waits is out of date. */
  drop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waiting = undefined;
  }

  #send(): void {
    const text = this.#waiting;
    this.drop();
    if (text === undefined) return;
    this.#sentAt = this.#clock.monotonicMs();
    const payload = { text: lastWords(text), final: false, source: 'speech' };
    this.#runLog.emitLive('rtf-user-transcription', payload);
  }
}

function lastWords(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  return text.slice(-CHARACTERS_MAX).replace(/^\S*\s+/, '');
}
