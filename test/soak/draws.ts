// Chance for a soak: the same for each seed.

import { noise } from '../audio/sine.ts';

export class Draws {
  readonly #noise: () => number;

  constructor(seed: number) {
    this.#noise = noise(seed);
  }

  chance(share: number): boolean {
    return (this.#noise() + 1) / 2 < share;
  }

  /** A whole number, both ends included. */
  between(from: number, to: number): number {
    return from + Math.floor(((this.#noise() + 1) / 2) * (to - from + 1));
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.between(0, list.length - 1)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }
}
