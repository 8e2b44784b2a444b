// The turns of a service that decides itself when they start and end, and the answers to `finalize` that follow from
// them: the end of an open turn is forced, a repeated end counts once, a lost one is made up for.

import type { Clock, Timer } from '../../../std/clock.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords, RecognizerListener, SttCapabilities } from '../stt.ts';
import { OwedFinals } from './owed-finals.ts';

/** After the end of a turn was forced. */
const FINAL_MS_MAX = 1_000;

/** With the turns that the settings want: the service's, our own alone, or whichever ends first. Default: the service's. */
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
  /** Without an open turn, words may be on their way for so long. */
  inFlightMsMax: number;
  /** Before that, no answer can come. */
  isReady: () => boolean;
  /** Asks the service to end the open turn. */
  force: () => void;
  /** The service does not answer any more. */
  fail: () => void;
}

export class ServiceTurns {
  readonly #options: ServiceTurnsOptions;
  readonly #owed: OwedFinals;
  #open: { index: number; words: RecognizedWords } | undefined;
  #endedIndex = -1;
  #mustForce = false;
  #inFlight: Timer | undefined;
  /** A message came since the end was forced. */
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

  /** The service sent a message. */
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

  /** The words of a turn so far. Words open it. */
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

  /** The end is probable, or was not one. */
  hint(turn: 'eager-end' | 'resumed', words: RecognizedWords): void {
    if (this.isOpen) this.#options.listener.onTurn?.(turn, words);
  }

  end(index: number, words: RecognizedWords): void {
    if (this.#isFresh(index)) this.#end(index, words);
  }

  /** The service has processed all audio up to `finalize`, and no turn is open. */
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

  /** The session has ended, which ends no turn: the words of the open one are the last. */
  finished(): void {
    if (this.#open !== undefined) this.#end(this.#open.index, this.#open.words);
  }

  close(): void {
    this.finishing();
    this.#open = undefined;
  }

  /** False for a turn that has ended. A later turn ends the open one, whose end was lost. */
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
    // What further demands ask for is contained in these words.
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

  /** A service that sends other messages lost the end; the last words are the best there is. */
  #overdue(): void {
    if (this.#open === undefined) this.nothingSaid();
    else if (this.#isAlive) this.#end(this.#open.index, this.#open.words);
    else this.#options.fail();
  }
}
