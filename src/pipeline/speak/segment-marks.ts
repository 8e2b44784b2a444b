// Names of marks: the segment whose end is marked, and the number of clears before it.

import type { Segment, Utterance } from './utterance.ts';

export function markOf({ utterance, index }: Segment, generation: number): string {
  return `${generation}:${utterance.id}:${index}`;
}

/** The segment of a mark; undefined for one from before the last clear, or of an utterance that is over. */
export function segmentOfMark(
  name: string,
  queue: readonly Utterance[],
  generation: number,
): Segment | undefined {
  const [ofGeneration, id, index] = name.split(':').map(Number);
  if (ofGeneration !== generation) return undefined;
  return queue.find((each) => each.id === id)?.segments[index ?? -1];
}
