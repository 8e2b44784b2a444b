// An answer of low confidence to a question of the agent, who still speaks: hums sound alike. The caller is asked about
// it when the agent has finished, unless something newer has come.

import type { SpokenTurn } from './spoken-turn.ts';

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
