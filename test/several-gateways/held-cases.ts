// Cases of `npm run cluster` as tests: skipped, with the reason, where an engine is not installed.

import { expect, it } from 'vitest';
import { runCase } from './case-run.ts';
import type { ClusterCase } from './cluster-case.ts';
import { missing } from './needs.ts';

/** Time for the gateways and engines to end. */
const END_MS_MAX = 30_000;

/** Defines a test for each case, which has `msMax`. Prints the figures. */
export function expectHeld(cases: readonly ClusterCase[], msMax: number): void {
  it.for(cases)('$title', { timeout: msMax + END_MS_MAX }, async (each, { skip }) => {
    const reason = missing(each.needs);
    if (reason !== undefined) skip(reason);
    const result = await runCase(each, {
      limitMs: msMax,
      signal: new AbortController().signal,
      say: () => undefined,
      awaySeconds: 0,
      contacts: 0,
      next: undefined,
      build: undefined,
    });
    const figures = result.findings.map(({ what, value }) => [what, value]);
    process.stderr.write(`${JSON.stringify(figures)}\n`);
    expect(result).toMatchObject({ outcome: 'held' });
  });
}
