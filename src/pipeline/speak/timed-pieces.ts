// Splits the text of one utterance into the pieces that a voice gets: sentences, the first one early. A text without a
// boundary does not keep the caller waiting: its first words go out after 400 ms, later ones when the voice has nothing
// more to say. One timer, only while text is held.

import { createSentenceSplitter } from '../../speech/tts/sentence-splitter.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** The caller has waited for the turn's end and the model before. */
const FLUSH_MS = 400;
/** So many words are enough to begin with, unless the boundary is about to come. */
const FIRST_WORDS = 8;
const BOUNDARY_MS = 250;
/** So much text without a boundary has none soon. */
const BOUNDARY_CHARACTERS = 100;

export interface TimedPieces {
  push(delta: string): void;
  /** The last word, if it is not complete, is dropped. */
  breakOff(): void;
  /** The rest follows as pieces; then nothing. */
  end(): void;
  /** No more pieces. */
  stop(): void;
}

export function createTimedPieces(options: {
  clock: Clock;
  onPiece(piece: string): void;
  /** Whether the voice will soon have said everything it was given. */
  isDry(): boolean;
}): TimedPieces {
  const { clock, onPiece, isDry } = options;
  const splitter = createSentenceSplitter();
  let heldSince: number | undefined;
  let isFirst = true;
  let isOver = false;
  let timer: Timer | undefined;

  function give(pieces: readonly string[]): void {
    for (const piece of pieces) {
      isFirst = false;
      onPiece(piece);
    }
  }

  function giveWords(wordsMax: number): void {
    const words = splitter.takeWords(wordsMax);
    if (words === undefined) return;
    heldSince = clock.monotonicMs();
    give([words]);
  }

  /** Of a text without boundaries that comes at once. */
  function isLong(): boolean {
    return isFirst && splitter.held.length >= BOUNDARY_CHARACTERS;
  }

  function look(): void {
    timer = undefined;
    if (isOver || splitter.held.trim() === '') return;
    const heldMs = clock.monotonicMs() - (heldSince ?? 0);
    if (isFirst ? heldMs >= FLUSH_MS : heldMs >= FLUSH_MS && isDry()) giveWords(Infinity);
    watch();
  }

  function watch(): void {
    if (isOver || timer !== undefined || splitter.held.trim() === '') return;
    timer = clock.after(FLUSH_MS, look);
  }

  return {
    push(delta) {
      if (isOver) return;
      const now = clock.monotonicMs();
      if (splitter.held.trim() === '') heldSince = now;
      const pieces = splitter.push(delta);
      if (pieces.length > 0) heldSince = now;
      give(pieces);
      const wasEarly = isFirst && now - (heldSince ?? now) < BOUNDARY_MS;
      if (isFirst && (!wasEarly || isLong()) && wordsIn(splitter.held) >= FIRST_WORDS) {
        giveWords(FIRST_WORDS);
      }
      watch();
    },
    breakOff() {
      splitter.dropWord();
    },
    end() {
      if (isOver) return;
      this.stop();
      give(splitter.end());
    },
    stop() {
      isOver = true;
      timer?.cancel();
      timer = undefined;
    },
  };
}

function wordsIn(text: string): number {
  return text.match(/\S+\s/g)?.length ?? 0;
}
