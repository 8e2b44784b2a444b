// Turns of a service with its own endpointing, and the answers to `finalize` that follow from them: the end of an open
// turn is forced, a repeated end counts once, a lost one is replaced.

import type { Clock, Timer } from '../../../std/clock.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords, RecognizerListener, SttCapabilities } from '../stt.ts';
import { OwedFinals } from './owed-finals.ts';

/** Wait for final words after the end of a turn was forced. */
const FINAL_MS_MAX = 1_000;

/** Adapts turns to the settings: the service's endpointing, the gateway's alone, or whichever ends first. Default: the
 *  service's. */
export function withTurns(
  capabilities: SttCapabilities,
  turns: 'vendor' | 'ours' | 'both' | undefined,
): SttCapabilities {
  if (turns === 'ours') return { ...capabilities, ownTurns: 'none' };
  return turns === 'both' ? { ...capabilities, silenceEnds: true } : capabilities;
}

export interface ServiceTurnsOptions {
  clock: Clock;
  listener: RecognizerListener;
  /** Longest delay of words outside an open turn, in milliseconds. */
  inFlightMsMax: number;
  /** Whether the service is ready. Before that, no answer can arrive. */
  isReady: () => boolean;
  /** Asks the service to end the open turn. */
  force: () => void;
  /** Called when the service no longer answers. */
  fail: () => void;
}

export class ServiceTurns {
  readonly #options: ServiceTurnsOptions;
  readonly #owed: OwedFinals;
  #open: { index: number; words: RecognizedWords } | undefined;
  #endedIndex = -1;
  #mustForce = false;
  #inFlight: Timer | undefined;
  /** Whether a message arrived since the end was forced. */
  #isAlive = false;

  constructor(options: ServiceTurnsOptions) {
    this.#options = options;
    this.#owed = new OwedFinals({
      clock: options.clock,
      afterMs: FINAL_MS_MAX,
      isReady: options.isReady,
      onOverdue: () => this.#overdue(),
    });
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Records a message of the service. */
  alive(): void {
    this.#isAlive = true;
  }

  finalize(): void {
    this.#owed.ask();
    this.#isAlive = false;
    if (this.isOpen) {
      this.#force();
      return;
    }
    this.#mustForce = true;
    if (this.#inFlight === undefined) this.#awaitWords();
  }

  /** Takes the words of a turn so far. Words open the turn. */
  update(index: number, words: RecognizedWords): void {
    if (!this.#isFresh(index)) return;
    if (this.#open === undefined) {
      if (words.text === '') return;
      this.#open = { index, words: NO_WORDS };
      this.#options.listener.onTurn?.('started', words);
      if (this.#mustForce) this.#force();
    }
    const isRepeated = words.text === this.#open.words.text;
    this.#open.words = words;
    if (!isRepeated && words.text !== '') this.#options.listener.onPartial(words);
  }

  /** Takes a hint that the turn probably ends, or that it did not. */
  hint(turn: 'eager-end' | 'resumed', words: RecognizedWords): void {
    if (this.isOpen) this.#options.listener.onTurn?.(turn, words);
  }

  end(index: number, words: RecognizedWords): void {
    if (this.#isFresh(index)) this.#end(index, words);
  }

  /** Handles a report that all audio up to `finalize` is processed and no turn is open. */
  nothingSaid(): void {
    if (this.isOpen) return;
    this.#cancelForce();
    while (this.#owed.answer()) this.#options.listener.onFinal(NO_WORDS);
  }

  /** The session is about to end: nothing is forced or overdue any more. */
  finishing(): void {
    this.#owed.close();
    this.#cancelForce();
  }

  /** The session has ended without ending the turn: the words of the open turn are the last. */
  finished(): void {
    if (this.#open !== undefined) this.#end(this.#open.index, this.#open.words);
  }

  close(): void {
    this.finishing();
    this.#open = undefined;
  }

  /** Returns false for a turn that has ended. A later turn ends the open one, whose end was lost. */
  #isFresh(index: number): boolean {
    if (index <= this.#endedIndex) return false;
    if (this.#open !== undefined && index > this.#open.index) {
      this.#end(this.#open.index, this.#open.words);
    }
    return true;
  }

  #end(index: number, words: RecognizedWords): void {
    const { listener } = this.#options;
    this.#open = undefined;
    this.#endedIndex = index;
    this.#cancelForce();
    this.#owed.answer();
    listener.onFinal(words);
    listener.onTurn?.('ended', words);
    // These words contain all that further calls of `finalize` request.
    while (this.#owed.answer()) listener.onFinal(NO_WORDS);
  }

  #awaitWords(): void {
    const { clock, inFlightMsMax, isReady } = this.#options;
    this.#inFlight = clock.after(inFlightMsMax, () => {
      if (isReady()) this.nothingSaid();
      else this.#awaitWords();
    });
  }

  #force(): void {
    this.#cancelForce();
    this.#options.force();
  }

  #cancelForce(): void {
    this.#mustForce = false;
    this.#inFlight?.cancel();
    this.#inFlight = undefined;
  }

  /** A service that still sends messages lost the end. Its last words are the best result. */
  #overdue(): void {
    if (this.#open === undefined) this.nothingSaid();
    else if (this.#isAlive) this.#end(this.#open.index, this.#open.words);
    else this.#options.fail();
  }
}
