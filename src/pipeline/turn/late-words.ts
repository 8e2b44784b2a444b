// Final words that arrive after their turn was reported with interim words: a recogniser is slow when it replays a turn
// to another service. Words that the turn did not have are reported.

import type { RecognizedWords } from '../../speech/stt/stt.ts';
import { joinTexts, letterSpans } from '../../std/text/unspaced-text.ts';
import { runsOf } from './endpointing.ts';
import type { SpokenTurn } from './spoken-turn.ts';

/** Turns that wait for their words. Recognisers have outstanding answers for two, for a few seconds. */
const TURNS_MAX = 8;

interface Overdue {
  /** Number of the recogniser's answers that belong to the turn. */
  due: number;
  turn: SpokenTurn;
  /** Words of the turn that no answer has had so far. */
  interim: string;
  /** Words of the answers behind those. */
  missing: string[];
  /** Whether an answer has other words, so that it is not known which belong together. */
  isOther: boolean;
}

/** Turns that were reported without all of their final words, in order. */
export class LateWords {
  #turns: Overdue[] = [];

  get isDue(): boolean {
    return this.#turns.length > 0;
  }

  /** Waits for the words of a turn. `owed`: outstanding answers to `finalize`, with those of earlier turns. `interim`:
   *  the words that replace them in this turn. */
  await(owed: number, turn: SpokenTurn, interim: string): void {
    const due = this.#turns.reduce((left, each) => left - each.due, owed);
    if (due <= 0) return;
    const last = this.#turns.at(-1);
    if (last !== undefined && this.#turns.length >= TURNS_MAX) last.due += due;
    else this.#turns.push({ due, turn, interim, missing: [], isOther: false });
  }

  reset(): void {
    this.#turns = [];
  }

  /** The interim words without those of turns whose final ones are outstanding. */
  withoutLate(words: RecognizedWords): RecognizedWords {
    const interim = joinTexts(this.#turns.map((each) => each.interim));
    if (interim === '' || !beginAlike(interim, words.text)) return words;
    return { ...words, text: wordsBehind(interim, words.text), words: undefined };
  }

  /** Takes one of these answers. Returns the words that its turn did not have, once all of the turn have come;
   *  undefined if there are none. */
  take({ text, confidence, language }: RecognizedWords, nowMs: number): SpokenTurn | undefined {
    const [first] = this.#turns;
    if (first === undefined) return undefined;
    first.due -= 1;
    first.isOther ||= !beginAlike(first.interim, text);
    first.missing.push(wordsBehind(first.interim, text));
    first.interim = wordsBehind(text, first.interim);
    if (first.due > 0) return undefined;
    this.#turns.shift();
    const missing = joinTexts(first.missing);
    const { turn, isOther } = first;
    if (missing === '' || isOther || this.#hasNext(missing)) return undefined;
    const known = language ?? turn.language;
    return { ...turn, text: missing, confidence, language: known, finalMs: nowMs };
  }

  /** Whether the next turn was reported with these words as its first ones. */
  #hasNext(words: string): boolean {
    const [next] = this.#turns;
    if (next === undefined || !goesOn(spokenOf(words), spokenOf(next.interim))) return false;
    next.interim = wordsBehind(words, next.interim);
    return true;
  }
}

/** Whether the text is the beginning of one of the others, or one of them is its beginning. */
export function beginAlike(text: string, ...others: (string | undefined)[]): boolean {
  const words = spokenOf(text);
  return others.some((each) => {
    if (each === undefined) return false;
    const other = spokenOf(each);
    return words.length <= other.length ? goesOn(words, other) : goesOn(other, words);
  });
}

/** The words of `all` behind those of `known`, whose last one may be unfinished. Empty where they differ otherwise. */
function wordsBehind(known: string, all: string): string {
  const words = spokenOf(known);
  const spoken = spokenOf(all);
  return goesOn(words, spoken) ? all.slice(spoken[words.length]?.start ?? all.length).trim() : '';
}

interface SpokenWord {
  /** The word in the form of `runsOf`. */
  plain: string;
  /** Index of its start in the text. */
  start: number;
}

function spokenOf(text: string): SpokenWord[] {
  return letterSpans(text)
    .map(({ start, end }) => ({ plain: runsOf(text.slice(start, end)).join(' '), start }))
    .filter(({ plain }) => plain !== '');
}

/** Whether `spoken` begins with `known`, whose last word may be unfinished. */
function goesOn(known: readonly SpokenWord[], spoken: readonly SpokenWord[]): boolean {
  const last = known.length - 1;
  return known.every(({ plain: begun }, at) => {
    const { plain: whole = '' } = spoken[at] ?? {};
    return at === last ? whole.startsWith(begun) : whole === begun;
  });
}
