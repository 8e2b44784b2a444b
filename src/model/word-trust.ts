// Trust in recognised words by the recogniser's confidence. One scale for turn-taking, which decides whether
// words stop the agent, and for the dialogue, which accepts words, asks about them or asks again.

/** `accept`: believed. `confirm`: the caller is asked about them. `reject`: as good as no words. */
export type WordTrust = 'accept' | 'confirm' | 'reject';

const ACCEPTED_MIN = 0.55;
const CONFIRMED_MIN = 0.3;

/** `confidence`: 0..1, or null where the recogniser has none, which is accepted. */
export function trustIn(confidence: number | null): WordTrust {
  if (confidence === null || confidence >= ACCEPTED_MIN) return 'accept';
  return confidence >= CONFIRMED_MIN ? 'confirm' : 'reject';
}
