// Reports of a call to its live watchers, which are never stored: when the agent stops listening and listens again (in
// between, the caller's words neither stop it nor get an answer; turn-taking and the engine do the muting), and the
// caller's interim words. Source: contract §8.4, §8.10.

import type { Clock, Timer } from '../../std/clock.ts';
import { wordSpans } from '../../std/text/unspaced-text.ts';
import { collectionIn } from '../../workflow/engine/hidden-digits.ts';
import type { DialogueState } from '../../workflow/engine.ts';
import type { RunLog } from '../events/event-log.ts';
import type { LiveType } from '../events/live-watchers.ts';

/** Shortest interval of updates: a recogniser may revise its words with every frame; no watcher reads faster than
 *  this. */
const INTERVAL_MS_MIN = 100;
/** Characters of an update at most, the last ones of a longer text: half a minute of speech. */
const CHARACTERS_MAX = 500;

/** Whether the agent listens. */
export class MuteState {
  readonly #emit: (type: LiveType) => void;
  /** Uninterruptible utterances that are being played. */
  readonly #heard = new Set<number>();
  #unanswered = false;
  #muted = false;

  /** `emit` is called at every change. The agent listens at first. */
  constructor(emit: (type: LiveType) => void) {
    this.#emit = emit;
  }

  /** Follows the state of the conversation after each event: the caller gets no answer before it begins, while tools
   *  run, and from its last words on, whichever side ends it; a goodbye that words withdraw is not the last. */
  follow({
    phase,
    tools,
    isWithdrawable = false,
  }: Pick<DialogueState, 'phase' | 'tools' | 'isWithdrawable'>): void {
    const isOpen =
      phase === 'talking' || phase === 'delayed' || (phase === 'closing' && isWithdrawable);
    const isEntering = collectionIn({ tools }) !== undefined;
    this.#unanswered = !isOpen || (tools !== null && !isEntering);
    this.#settle();
  }

  /** Reports that the first frame of an utterance was sent. */
  started(utterance: { utteranceId: number; interruptible: boolean }): void {
    if (utterance.interruptible) return;
    this.#heard.add(utterance.utteranceId);
    this.#settle();
  }

  /** Reports that the utterance is over. */
  finished(utteranceId: number): void {
    this.#heard.delete(utteranceId);
    this.#settle();
  }

  #settle(): void {
    const muted = this.#unanswered || this.#heard.size > 0;
    if (muted === this.#muted) return;
    this.#muted = muted;
    this.#emit(muted ? 'rtf-user-mute-started' : 'rtf-user-mute-stopped');
  }
}

/** The caller's interim words (partial transcript). */
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
