// Seeds of trials that end soon.

import { drawLot } from './fate.ts';

/** A seed with which no call's news are all lost, as those are looked up only after 90 seconds, and no dial fails
 *  without a call. */
export function kindSeed(contacts: number): string {
  for (let tries = 0; ; tries += 1) {
    const seed = `kind ${tries}`;
    const lots = Array.from({ length: contacts }, (_each, index) =>
      [0, 1, 2].map((dial) => drawLot(seed, `+1415${2_000_000 + index}`, dial)),
    ).flat();
    const isKind = lots.every(
      ({ news, reply }) => news !== 'lost' && reply !== 'broken' && reply !== 'silent',
    );
    if (isKind) return seed;
  }
}
