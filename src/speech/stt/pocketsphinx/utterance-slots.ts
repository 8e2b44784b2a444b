// Numbers the utterances of a thread's calls, and marks in the memory that is shared with the thread those whose words
// their call does not need any more: what waits in its queue is not decoded then.

import { GIVEN_UP } from './pocketsphinx-messages.ts';

/** Of one call. */
export interface UtteranceSlot {
  readonly slot: number;
  /** The number of the next utterance. */
  next(): number;
  /** The utterances up to this number are not needed. */
  giveUp(nth: number): void;
  /** The call is over. Called once. */
  release(): void;
}

export interface UtteranceSlots {
  /** Never more than `slotsMax` at a time. */
  take(): UtteranceSlot;
}

export function createUtteranceSlots(counts: Int32Array, slotsMax: number): UtteranceSlots {
  const free = Array.from({ length: slotsMax }, (_, slot) => slot);
  let utterances = 0;
  return {
    take() {
      const slot = free.pop();
      if (slot === undefined) throw new Error('no slot is free');
      const giveUp = (nth: number) => void Atomics.store(counts, GIVEN_UP + slot, nth);
      return {
        slot,
        next() {
          utterances += 1;
          return utterances;
        },
        giveUp,
        release() {
          giveUp(utterances);
          free.push(slot);
        },
      };
    },
  };
}
