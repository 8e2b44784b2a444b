// Types of test-quick.mjs, for its test.

/** Test files by their distance from the changed ones, nearest first. */
export function nearestTests(
  changed: readonly string[],
  sources: ReadonlyMap<string, string>,
): string[];
