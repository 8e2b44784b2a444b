// The middle one of some figures: what one of them that was disturbed does not change.

/** The median; for an even number of figures the upper of the two in the middle, NaN for none. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
