// Summary of a run that is over, for lists of runs: whether somebody should look at it, how long the caller waited for
// answers, and the words to find it by. Computed by call/events/run-summary.ts, stored by store/runs/run-summaries.ts.

import { z } from 'zod';

/** Reasons why a run needs attention. `technical_end`: a fault of the gateway, a service or the provider ended it.
 *  `faults`: it had faults and went on. `unanswered_caller`: the caller spoke, or waited from the beginning, and got no
 *  answer until the end. `slow_answers`: waits for answers were long. `media_interrupted`: the media connection broke. */
export const attentionReason = z.enum([
  'technical_end',
  'faults',
  'unanswered_caller',
  'slow_answers',
  'media_interrupted',
]);
export type AttentionReason = z.infer<typeof attentionReason>;

export interface RunSummary {
  /** In the order of `attentionReason`; empty if there is nothing to look into. */
  attention: readonly AttentionReason[];
  faults: number;
  /** Milliseconds from the end of the caller's speech to the agent's first sample, over all answers; null without any. */
  answers: { p50Ms: number; p95Ms: number; maxMs: number } | null;
  endedBy: 'caller' | 'agent' | 'provider' | 'gateway' | null;
  /** Words to find the run by, from `searchWords`, each once. */
  words: readonly string[];
}

/** Words of one run that are stored, in the order of their first appearance: an hour of speech has fewer. */
const WORDS_MAX = 4_000;
/** Characters of a word that are stored and compared. */
const WORD_CHARACTERS_MAX = 40;

/** The words of texts: runs of letters and digits in lower case, without duplicates. Of `+1 415-555-0100` these are
 *  `1`, `415`, `555`, `0100`. */
export function searchWords(texts: Iterable<string>): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of text
      .normalize('NFKC')
      .toLowerCase()
      .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
      words.add([...word].slice(0, WORD_CHARACTERS_MAX).join(''));
      if (words.size >= WORDS_MAX) return [...words];
    }
  }
  return [...words];
}
