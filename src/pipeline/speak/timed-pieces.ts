// Splits the text of one utterance into pieces for a voice: sentences, the first one early. The first words of a text
// without a boundary are sent after 400 ms, later ones when the voice runs dry. One timer, only while text is held.

import { plainSpeech } from '../../speech/tts/plain-speech.ts';
import { completeWords, createSentenceSplitter } from '../../speech/tts/sentence-splitter.ts';
import { isSpeakable } from '../../speech/tts/speakable.ts';
import { spokenLength } from '../../speech/tts/spoken-length.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** Wait for a boundary. The caller has waited for the turn's end and the model before. */
const FLUSH_MS = 400;
/** Words that are enough to begin with, unless a boundary is near. */
const FIRST_WORDS = 8;
const BOUNDARY_MS = 250;
/** Text without a boundary, by its spoken length, after which none is near. */
const BOUNDARY_LETTERS = 100;

export interface TimedPiecesOptions {
  clock: Clock;
  onPiece(piece: string): void;
  /** Whether the voice will soon have spoken everything it was given. */
  isDry(): boolean;
}

export class TimedPieces {
  readonly #options: TimedPiecesOptions;
  readonly #splitter = createSentenceSplitter();
  #heldSince: number | undefined;
  #isFirst = true;
  #isOver = false;
  #timer: Timer | undefined;

  constructor(options: TimedPiecesOptions) {
    this.#options = options;
  }

  push(delta: string): void {
    if (this.#isOver) return;
    const now = this.#options.clock.monotonicMs();
    const splitter = this.#splitter;
    if (splitter.held.trim() === '') this.#heldSince = now;
    const pieces = splitter.push(delta);
    if (pieces.length > 0) this.#heldSince = now;
    this.#give(pieces);
    const wasEarly = this.#isFirst && now - (this.#heldSince ?? now) < BOUNDARY_MS;
    const isDue = this.#isFirst && (!wasEarly || this.#isLong());
    if (isDue && [...completeWords(splitter.held)].length >= FIRST_WORDS)
      this.#giveWords(FIRST_WORDS);
    this.#watch();
  }

  /** Drops an incomplete last word. */
  breakOff(): void {
    this.#splitter.dropWord();
  }

  /** Ends the text: the rest follows as pieces. */
  end(): void {
    if (this.#isOver) return;
    this.stop();
    this.#give(this.#splitter.end());
  }

  /** Stops without further pieces. */
  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #give(pieces: readonly string[]): void {
    for (const piece of pieces) {
      this.#isFirst = false;
      this.#options.onPiece(piece);
    }
  }

  #giveWords(wordsMax: number): void {
    const words = this.#splitter.takeWords(wordsMax);
    if (words === undefined) return;
    this.#heldSince = this.#options.clock.monotonicMs();
    this.#give([words]);
  }

  /** Whether the text is long, has no boundaries, and came at once. */
  #isLong(): boolean {
    return this.#isFirst && spokenLength(this.#splitter.held) >= BOUNDARY_LETTERS;
  }

  #watch(): void {
    if (this.#isOver || this.#timer !== undefined || this.#splitter.held.trim() === '') return;
    this.#timer = this.#options.clock.after(FLUSH_MS, () => this.#check());
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#isOver || this.#splitter.held.trim() === '') return;
    const heldMs = this.#options.clock.monotonicMs() - (this.#heldSince ?? 0);
    const isDue = heldMs >= FLUSH_MS && (this.#isFirst || this.#options.isDry());
    if (isDue) this.#giveWords(Infinity);
    this.#watch();
  }
}

/** The pieces of a text that is complete from the beginning. */
export function spokenPieces(text: string, clock: Clock): string[] {
  const spoken: string[] = [];
  const onPiece = (piece: string): void => {
    const plain = plainSpeech(piece);
    if (isSpeakable(plain)) spoken.push(plain);
  };
  const pieces = new TimedPieces({ clock, onPiece, isDry: () => false });
  pieces.push(text);
  pieces.end();
  return spoken;
}
