// Trust in recognised words by the recogniser's confidence, on one scale: turn-taking uses it to decide whether words
// stop the agent, the dialogue to accept words, confirm them, or ask again.

/** `accept`: the words are used. `confirm`: the caller is asked to confirm them. `reject`: they count as no words. */
export type WordTrust = 'accept' | 'confirm' | 'reject';

const ACCEPTED_MIN = 0.55;
const CONFIRMED_MIN = 0.3;

/** Trust in words. `confidence`: 0 to 1, or null where the recogniser has none, which is accepted. */
export function trustIn(confidence: number | null): WordTrust {
  if (confidence === null || confidence >= ACCEPTED_MIN) return 'accept';
  return confidence >= CONFIRMED_MIN ? 'confirm' : 'reject';
}
