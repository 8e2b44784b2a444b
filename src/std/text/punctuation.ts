// Punctuation that ends sentences and clauses in the scripts of callers and models, and closing marks after it, as
// bodies of character classes. Spaced marks end something only if white space follows ("3.5", "a:b"). Free marks need
// none, but end nothing between digits.

/** Spaced marks: Latin and others; Arabic, Urdu, Armenian. */
export const SPACED_SENTENCE_MARKS = '.!?…؟۔։';
/** Free marks: full-width; Hindi and other Indian scripts, Khmer, Burmese, Amharic. */
export const FREE_SENTENCE_MARKS = '。！？．｡।॥៕។။።፧';
export const SPACED_CLAUSE_MARKS = ',;:–—،؛';
export const FREE_CLAUSE_MARKS = '，、；：､၊፣፤';
export const CLOSING_MARKS = String.raw`"'”’)\]»*」』】）》〉］`;

export const SENTENCE_MARKS = `${SPACED_SENTENCE_MARKS}${FREE_SENTENCE_MARKS}`;
export const CLAUSE_MARKS = `${SPACED_CLAUSE_MARKS}${FREE_CLAUSE_MARKS}`;
export const FREE_MARKS = `${FREE_SENTENCE_MARKS}${FREE_CLAUSE_MARKS}`;
