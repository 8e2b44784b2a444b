// Marks that end sentences and clauses, in the scripts that callers and models write, and what closes behind them. Bodies
// of character classes. The spaced ones end something only with white space behind them ("3.5", "a:b"); the free ones need
// none, but end nothing between digits.

/** Latin and others; Arabic, Urdu, Armenian. */
export const SPACED_SENTENCE_MARKS = '.!?…؟۔։';
/** Full width; Hindi and others of India, Khmer, Burmese, Amharic. */
export const FREE_SENTENCE_MARKS = '。！？．｡।॥៕។။።፧';
export const SPACED_CLAUSE_MARKS = ',;:–—،؛';
export const FREE_CLAUSE_MARKS = '，、；：､၊፣፤';
export const CLOSING_MARKS = String.raw`"'”’)\]»*」』】）》〉］`;

export const SENTENCE_MARKS = `${SPACED_SENTENCE_MARKS}${FREE_SENTENCE_MARKS}`;
export const CLAUSE_MARKS = `${SPACED_CLAUSE_MARKS}${FREE_CLAUSE_MARKS}`;
export const FREE_MARKS = `${FREE_SENTENCE_MARKS}${FREE_CLAUSE_MARKS}`;
