// Turns of the caller that are kept until the agent has finished: words during speech that cannot be interrupted, and an
// answer to a question that does not stop the agent.

import { joinTexts } from '../../std/text/unspaced-text.ts';
import type { Utterance } from '../speak/utterance.ts';
import { questionsIn } from './questions.ts';
import type { SpokenTurn } from './spoken-turn.ts';
import { leastConfidence } from './turn-detector.ts';

/** Pieces of speech of one turn: more than anybody says against a few sentences of the agent. */
const PIECES_MAX = 16;

/** Words during speech of the agent that cannot be interrupted. They are one turn when the agent has finished. */
export class MutedTurn {
  #pieces: SpokenTurn[] = [];

  get isPending(): boolean {
    return this.#pieces.length > 0;
  }

  keep(turn: SpokenTurn): void {
    this.#pieces = [...this.#pieces, turn].slice(-PIECES_MAX);
  }

  /** Removes and returns the pieces, each as it was said. */
  drop(): readonly SpokenTurn[] {
    return this.#pieces.splice(0);
  }

  /** Removes the pieces and returns them as one turn that is decided now, with `next` behind them. Undefined if there
   *  is nothing. */
  take(nowMs: number, next?: SpokenTurn): SpokenTurn | undefined {
    const [first] = this.#pieces;
    if (first === undefined) return next;
    const pieces = [...this.#pieces.splice(0), ...(next === undefined ? [] : [next])];
    const last = pieces.at(-1) ?? first;
    return {
      text: joinTexts(pieces.map(({ text }) => text)),
      confidence: leastConfidence(pieces),
      language: pieces.findLast(({ language }) => language !== undefined)?.language,
      unvoiced: false,
      startMs: first.startMs,
      endMs: last.endMs,
      decidedMs: next?.decidedMs ?? nowMs,
      finalMs: nowMs,
    };
  }
}

type Spoken = Pick<Utterance, 'heardText'>;

/** An answer that does not stop the agent: one of low confidence, as hums sound alike, or a "yes" long after the
 *  question. It is reported when the agent has finished, unless something newer has come: words, or a question. */
export class DoubtedAnswer {
  readonly #onDropped: (turn: SpokenTurn) => void;
  #kept: { turn: SpokenTurn; utterance: Spoken; questions: number } | undefined;

  /** `onDropped`: called with an answer about which the caller is not asked. */
  constructor(onDropped: (turn: SpokenTurn) => void) {
    this.#onDropped = onDropped;
  }

  /** `utterance`: the one that has asked. */
  keep(turn: SpokenTurn, utterance: Spoken): void {
    this.drop();
    this.#kept = { turn, utterance, questions: questionsIn(utterance.heardText()) };
  }

  drop(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept !== undefined) this.#onDropped(kept.turn);
  }

  /** Removes and returns the answer, as decided now. Drops it if the agent has asked something else since, in the same
   *  utterance or in the `latest` one. */
  take(nowMs: number, latest: Spoken | undefined): SpokenTurn | undefined {
    const kept = this.#kept;
    if (kept === undefined) return undefined;
    const { turn, utterance, questions } = kept;
    const known = latest === utterance ? questions : 0;
    if (questionsIn(latest?.heardText() ?? '') > known) {
      this.drop();
      return undefined;
    }
    this.#kept = undefined;
    return { ...turn, decidedMs: nowMs, finalMs: nowMs };
  }
}
