// Turns of the caller that are kept until the agent has finished: words during speech that cannot be interrupted, and an
// answer of low confidence to a question.

import { joinTexts } from '../../std/text/unspaced-text.ts';
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

/** An answer of low confidence while the agent still speaks: hums sound alike. The caller is asked about it when the agent
 *  has finished, unless something newer has come. */
export class DoubtedAnswer {
  readonly #onDropped: (turn: SpokenTurn) => void;
  #turn: SpokenTurn | undefined;

  /** `onDropped`: called with an answer about which the caller is not asked. */
  constructor(onDropped: (turn: SpokenTurn) => void) {
    this.#onDropped = onDropped;
  }

  keep(turn: SpokenTurn): void {
    this.drop();
    this.#turn = turn;
  }

  drop(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn !== undefined) this.#onDropped(turn);
  }

  /** Removes and returns the answer, as decided now. */
  take(nowMs: number): SpokenTurn | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    return turn && { ...turn, decidedMs: nowMs, finalMs: nowMs };
  }
}
