// What an edge's data means without a language model: taken always, or when nothing else fits.

/** Conditions that hold by themselves. */
const ALWAYS = new Set(['always', 'always.']);

/** Labels of an edge that is taken when nothing else was understood. */
const FALLBACK = new Set([
  'fallback',
  'otherwise',
  'else',
  'default',
  'no match',
  'not understood',
]);

/** An edge's data, checked or not. */
interface EdgeHints {
  label?: unknown;
  condition?: unknown;
  phrases?: unknown;
  dtmf?: unknown;
  slot?: unknown;
}

/** Taken as soon as the node has spoken: its condition is `always` and it waits for no word or key. */
export function isUnconditional(data: EdgeHints): boolean {
  return !hasHints(data) && ALWAYS.has(plain(data.condition));
}

/** Taken when the caller was not understood for the last time: its label is `fallback` or the like. */
export function isFallback(data: EdgeHints): boolean {
  return !hasHints(data) && FALLBACK.has(plain(data.label));
}

function hasHints(data: EdgeHints): boolean {
  const { phrases, dtmf, slot } = data;
  return (Array.isArray(phrases) && phrases.length > 0) || isSet(dtmf) || isSet(slot);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function plain(value: unknown): string {
  return typeof value === 'string'
    ? value
        .trim()
        .toLowerCase()
        .replace(/[_\s]+/g, ' ')
    : '';
}
