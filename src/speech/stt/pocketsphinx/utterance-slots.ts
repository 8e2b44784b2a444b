// Numbers the utterances of a thread's calls, and marks those whose words are no longer needed, in memory shared with
// the thread: queued ones are then not decoded.

import { GIVEN_UP } from './pocketsphinx-messages.ts';

/** Slot of one call. */
export interface UtteranceSlot {
  readonly slot: number;
  /** Returns the number of the next utterance. */
  next(): number;
  /** Marks the utterances up to this number as no longer needed. */
  giveUp(nth: number): void;
  /** Frees the slot at the end of the call. Called once. */
  release(): void;
}

export interface UtteranceSlots {
  /** Takes a slot, at most `slotsMax` at a time. */
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
