// Final words that come after their turn was reported with interim words: a recogniser is slow where it replays a turn to
// another service. What the turn did not have is not lost.

import type { RecognizedWords } from '../../speech/stt/stt.ts';
import { wordsOf } from './endpointing.ts';
import type { SpokenTurn } from './spoken-turn.ts';

/** Of the last turn that was reported without all of its final words. */
export class LateWords {
  /** How many answers of the recogniser belong to turns that are over. */
  #due = 0;
  #turn: SpokenTurn | undefined;
  #interim = '';
  #texts: string[] = [];

  get isDue(): boolean {
    return this.#due > 0;
  }

  /** `due`: answers to `finalize` that have not come. `interim`: the words that stood for them in the turn. */
  await(due: number, turn: SpokenTurn, interim: string): void {
    this.#due = due;
    this.#turn = turn;
    this.#interim = interim;
    this.#texts = [];
  }

  reset(): void {
    this.#due = 0;
  }

  /** One of these answers. The words that the turn did not have, once all have come, if there are any. */
  take({ text, confidence, language }: RecognizedWords, nowMs: number): SpokenTurn | undefined {
    this.#due -= 1;
    this.#texts.push(text);
    const turn = this.#turn;
    if (this.#due > 0 || turn === undefined) return undefined;
    const missing = missingWords(this.#interim, this.#texts.join(' '));
    if (missing === '') return undefined;
    const known = language ?? turn.language;
    return { ...turn, text: missing, confidence, language: known, finalMs: nowMs };
  }
}

/** The words of `final` behind those of `interim`, the last of which may be unfinished. Empty where they differ otherwise:
 *  which words belong together is not known then. */
function missingWords(interim: string, final: string): string {
  const spoken = final.split(/\s+/).filter((word) => wordsOf(word).length > 0);
  const known = interim.split(/\s+/).filter((word) => wordsOf(word).length > 0);
  if (spoken.length <= known.length) return '';
  const isSame = known
    .slice(0, -1)
    .every((word, at) => wordsOf(word).join(' ') === wordsOf(spoken[at] ?? '').join(' '));
  const unfinished = wordsOf(known.at(-1) ?? '').join(' ');
  const finished = wordsOf(spoken[known.length - 1] ?? '').join(' ');
  return isSame && finished.startsWith(unfinished) ? spoken.slice(known.length).join(' ') : '';
}
