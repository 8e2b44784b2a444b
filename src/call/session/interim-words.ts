// The caller's interim words (partial transcript) for live watchers of the call. They are never stored. Source:
// contract §8.10.

import type { Clock, Timer } from '../../std/clock.ts';
import { wordSpans } from '../../std/text/unspaced-text.ts';
import type { RunLog } from '../events/event-log.ts';

/** Shortest interval of updates: a recogniser may revise its words with every frame; no watcher reads faster than
 *  this. */
const INTERVAL_MS_MIN = 100;
/** Characters of an update at most, the last ones of a longer text: half a minute of speech. */
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

  /** Sends the turn's words so far. Words that come too soon after the last ones wait, and newer ones replace them. */
  partial(text: string): void {
    if (!this.#runLog.isWatched()) return;
    this.#waiting = text;
    const dueMs = this.#sentAt + INTERVAL_MS_MIN - this.#clock.monotonicMs();
    if (dueMs <= 0) this.#send();
    else this.#timer ??= this.#clock.after(dueMs, () => this.#send());
  }

  /** Drops waiting words: the words are final, or were no turn. */
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
  // The first word may be cut, and its first character.
  const end = text.slice(-CHARACTERS_MAX).replace(/^[\uDC00-\uDFFF]/, '');
  return end.slice(wordSpans(end).find(({ start }) => start > 0)?.start ?? 0);
}
