// Phrase matching: how well the caller's words fit each expected phrase. Pure; `rank` computes scores, and `decide`
// whether a score is high enough.

import { plainWords } from '../../model/control-phrases.ts';
import { trustIn, type WordTrust } from '../../model/word-trust.ts';

/** Score from which on a phrase counts as said, and the lower one from which on it is confirmed. */
const FIT_ACCEPTED_MIN = 0.75;
const FIT_CONFIRMED_MIN = 0.5;
/** Smallest lead of the best score over that of the next different choice. */
const MARGIN_MIN = 0.15;

const FIT_WITHIN = 0.9;
const FIT_OVERLAP_MAX = 0.85;
/** Factor of a negated score: "not tomorrow" fits "tomorrow" badly. */
const NEGATION_FACTOR = 0.6;
const NEGATIONS = new Set(['no', 'not', "don't", "doesn't", "isn't", "won't", "can't", 'never']);
const UNIMPORTANT = new Set(
  "a an the to of for in on at my me i i'd i'm it is please and would like want".split(' '),
);

/** Longest turn that can answer a closed question. */
const WORDS_MAX = 60;

export interface Candidate<T> {
  phrase: string;
  /** Key of the choice: candidates with the same key are one. */
  key: string;
  target: T;
}

export interface Ranked<T> extends Candidate<T> {
  /** Score, 0 to 1; 1 if the caller said the phrase and nothing else. */
  fit: number;
}

export type Decision = WordTrust;

/** The best candidate of every choice with a score above 0, best first. */
export function rank<T>(text: string, candidates: readonly Candidate<T>[]): Ranked<T>[] {
  const words = plainWords(text).split(' ').slice(0, WORDS_MAX);
  const placed = candidates.map((candidate) => {
    const phrase = plainWords(candidate.phrase).split(' ');
    return { candidate, phrase, at: indexOfPhrase(words, phrase) };
  });
  const best = new Map<string, Ranked<T>>();
  for (const { candidate, phrase, at } of placed) {
    const covered = placed.some(
      (other) =>
        other.candidate.key !== candidate.key &&
        other.at >= 0 &&
        at >= other.at &&
        at + phrase.length <= other.at + other.phrase.length &&
        phrase.length < other.phrase.length,
    );
    const fit = covered ? 0 : fitOf(words, phrase, at);
    if (fit > (best.get(candidate.key)?.fit ?? 0)) best.set(candidate.key, { ...candidate, fit });
  }
  return [...best.values()].sort((a, b) => b.fit - a.fit);
}

/** The decision for the best of `ranked`. `confidence` is null where the recogniser has none. */
export function decide<T>(ranked: readonly Ranked<T>[], confidence: number | null): Decision {
  const [best, next] = ranked;
  if (best === undefined || best.fit - (next?.fit ?? 0) < MARGIN_MIN) return 'reject';
  const trust = trustIn(confidence);
  if (best.fit < FIT_CONFIRMED_MIN || trust === 'reject') return 'reject';
  return best.fit < FIT_ACCEPTED_MIN ? 'confirm' : trust;
}

function fitOf(words: readonly string[], phrase: readonly string[], at: number): number {
  if (phrase[0] === '') return 0;
  if (at === 0 && words.length === phrase.length) return 1;
  if (at >= 0) {
    const outside = [...words.slice(0, at), ...words.slice(at + phrase.length)];
    return isDenied(outside) ? FIT_WITHIN * NEGATION_FACTOR : FIT_WITHIN;
  }
  const said = new Set(words.filter((word) => !UNIMPORTANT.has(word)));
  const meant = new Set(phrase.filter((word) => !UNIMPORTANT.has(word)));
  const both = [...meant].filter((word) => said.has(word)).length;
  const fit = FIT_OVERLAP_MAX * (both / Math.max(1, new Set([...said, ...meant]).size));
  const denied = isDenied(words) !== isDenied(phrase);
  return denied ? fit * NEGATION_FACTOR : fit;
}

function isDenied(words: readonly string[]): boolean {
  return words.some((word) => NEGATIONS.has(word));
}

/** The index at which the phrase begins in the words; -1 if they do not contain it. */
function indexOfPhrase(words: readonly string[], phrase: readonly string[]): number {
  return words.findIndex((_word, at) => phrase.every((word, index) => words[at + index] === word));
}
