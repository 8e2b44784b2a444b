// Final words that come after their turn was reported with interim words: a recogniser is slow where it replays a turn to
// another service. What the turn did not have is not lost.

import type { RecognizedWords } from '../../speech/stt/stt.ts';
import { joinTexts, letterSpans } from '../../std/text/unspaced-text.ts';
import { runsOf } from './endpointing.ts';
import type { SpokenTurn } from './spoken-turn.ts';

/** Turns that wait for their words. Recognisers owe those of two for a few seconds. */
const TURNS_MAX = 8;

interface Overdue {
  /** How many answers of the recogniser belong to it. */
  due: number;
  turn: SpokenTurn;
  /** The words of the turn that no answer has had so far. */
  interim: string;
  /** What the answers have behind those. */
  missing: string[];
  /** An answer has other words: which belong together is not known. */
  isOther: boolean;
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
    else this.#turns.push({ due, turn, interim, missing: [], isOther: false });
  }

  reset(): void {
    this.#turns = [];
  }

  /** Interim words without those of turns whose final ones are still to come. */
  withoutLate(words: RecognizedWords): RecognizedWords {
    const interim = joinTexts(this.#turns.map((each) => each.interim));
    if (interim === '' || !beginAlike(interim, words.text)) return words;
    return { ...words, text: wordsBehind(interim, words.text), words: undefined };
  }

  /** One of these answers. The words that its turn did not have, once all of the turn have come, if there are any. */
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

  /** Whether the next turn was reported with these words, as its first ones. */
  #hasNext(words: string): boolean {
    const [next] = this.#turns;
    if (next === undefined || !goesOn(spokenOf(words), spokenOf(next.interim))) return false;
    next.interim = wordsBehind(words, next.interim);
    return true;
  }
}

/** Whether it is the begin of one of the others, or one of them is its begin. */
export function beginAlike(text: string, ...others: (string | undefined)[]): boolean {
  const words = spokenOf(text);
  return others.some((each) => {
    if (each === undefined) return false;
    const other = spokenOf(each);
    return words.length <= other.length ? goesOn(words, other) : goesOn(other, words);
  });
}

/** The words of `all` behind those of `known`, the last of which may be unfinished. Empty where they differ otherwise. */
function wordsBehind(known: string, all: string): string {
  const words = spokenOf(known);
  const spoken = spokenOf(all);
  return goesOn(words, spoken) ? all.slice(spoken[words.length]?.start ?? all.length).trim() : '';
}

interface SpokenWord {
  /** As `runsOf` has it. */
  plain: string;
  /** Where it begins in its text. */
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
