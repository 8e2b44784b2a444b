// Similarity of names: whether one is a misspelling of another.

/** Shortest name that is compared: shorter ones resemble too many others. */
export const NAME_LENGTH_MIN = 5;
/** Length from which two letters may be wrong. */
const LONG = 9;

/** Whether `name` is `known` with one wrong letter, or two in a long name. False for names below five letters. */
export function isNear(name: string, known: string): boolean {
  if (Math.min(name.length, known.length) < NAME_LENGTH_MIN) return false;
  const allowed = known.length >= LONG ? 2 : 1;
  return Math.abs(name.length - known.length) <= allowed && editsBetween(name, known) <= allowed;
}

/** Number of letters added, left out, changed, or swapped with a neighbour (optimal string alignment distance). */
export function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_none, j) => j);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(isSwap ? Math.min(least, at(before, j - 2) + 1) : least);
    }
    before = above;
    above = row;
  }
  return at(above, other.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
