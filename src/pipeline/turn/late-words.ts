// Final words that come after their turn was reported with interim words: a recogniser is slow where it replays a turn to
// another service. What the turn did not have is not lost.

import type { RecognizedWords } from '../../speech/stt/stt.ts';
import { wordsOf } from './endpointing.ts';
import type { SpokenTurn } from './spoken-turn.ts';

/** Turns that wait for their words. Recognisers owe those of two for a few seconds. */
const TURNS_MAX = 8;

interface Overdue {
  /** How many answers of the recogniser belong to it. */
  due: number;
  turn: SpokenTurn;
  /** The words that stood for them in the turn. */
  interim: string;
  texts: string[];
}

/** Of the turns that were reported without all of their final words, in order. */
export class LateWords {
  #turns: Overdue[] = [];

  get isDue(): boolean {
    return this.#turns.length > 0;
  }

  /** `owed`: answers to `finalize` that have not come, with those of the turns before. `interim`: the words that stand for
   *  them in this turn. */
  await(owed: number, turn: SpokenTurn, interim: string): void {
    const due = this.#turns.reduce((left, each) => left - each.due, owed);
    if (due <= 0) return;
    const last = this.#turns.at(-1);
    if (last !== undefined && this.#turns.length >= TURNS_MAX) last.due += due;
    else this.#turns.push({ due, turn, interim, texts: [] });
  }

  reset(): void {
    this.#turns = [];
  }

  /** Whether these interim words are those of a turn whose final ones are still to come. */
  areOfTurn(text: string): boolean {
    const [first] = this.#turns;
    if (first === undefined || first.interim === '' || first.texts.length > 0) return false;
    return beginAlike(first.interim, text);
  }

  /** One of these answers. The words that its turn did not have, once all of the turn have come, if there are any. */
  take({ text, confidence, language }: RecognizedWords, nowMs: number): SpokenTurn | undefined {
    const [first] = this.#turns;
    if (first === undefined) return undefined;
    first.due -= 1;
    first.texts.push(text);
    if (first.due > 0) return undefined;
    this.#turns.shift();
    const { turn, interim, texts } = first;
    const missing = missingWords(interim, texts.join(' '));
    if (missing === '') return undefined;
    const known = language ?? turn.language;
    return { ...turn, text: missing, confidence, language: known, finalMs: nowMs };
  }
}

/** Whether one of the two is the begin of the other. */
export function beginAlike(one: string, other: string): boolean {
  const [words, others] = [spokenOf(one), spokenOf(other)];
  return words.length <= others.length ? goesOn(words, others) : goesOn(others, words);
}

/** The words of `final` behind those of `interim`, the last of which may be unfinished. Empty where they differ otherwise:
 *  which words belong together is not known then. */
function missingWords(interim: string, final: string): string {
  const known = spokenOf(interim);
  const spoken = spokenOf(final);
  return goesOn(known, spoken) ? spoken.slice(known.length).join(' ') : '';
}

function spokenOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => wordsOf(word).length > 0);
}

/** Whether `spoken` begins with `known`, whose last word may be unfinished. */
function goesOn(known: readonly string[], spoken: readonly string[]): boolean {
  const last = known.length - 1;
  return known.every((word, at) => {
    const [begun, whole] = [wordsOf(word).join(' '), wordsOf(spoken[at] ?? '').join(' ')];
    return at === last ? whole.startsWith(begun) : whole === begun;
  });
}
