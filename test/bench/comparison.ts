// Two results of the benchmark, or two of the load tool, figure by figure: what is better, what is worse.

import { z } from 'zod';

const figures = z.record(z.string(), z.unknown());
const benchReport = z.looseObject({
  at: z.string(),
  machine: figures,
  sections: z.array(z.looseObject({ title: z.string(), figures })),
});
const loadReport = z.looseObject({
  at: z.string(),
  machine: figures,
  scenario: z.string(),
  workers: z.number().nullish(),
  steps: z.array(z.looseObject({ calls: z.number(), median: figures })),
});

export interface Report {
  /** What it is compared with: `bench`, or a load with the same scenario and as many workers. */
  kind: string;
  at: string;
  machine: Record<string, unknown>;
  /** By section and name. */
  figures: Map<string, number>;
}

export interface Change {
  name: string;
  before: number;
  after: number;
  percent: number;
  verdict: 'better' | 'worse' | 'same' | 'unjudged';
}

/** More of these is better; of the others less is. */
const MORE_IS_BETTER = /requests\/s/;
/** These tell what was done, not how well. */
const UNJUDGED =
  /: (calls|framesReceived|markedFrames|responses|bargeIns|answers|interruptions|client\w*|others\w*|gatewayRssKb)$/;
/** Facts of a machine without which figures can not be compared. */
const SAME_MACHINE = ['cpu', 'cores', 'node'];

/** Undefined if it is neither's. */
export function readReport(json: unknown): Report | undefined {
  const bench = benchReport.safeParse(json);
  if (bench.success) {
    const { at, machine, sections } = bench.data;
    return { kind: 'bench', at, machine, figures: named(sections, ({ title }) => title) };
  }
  const load = loadReport.safeParse(json);
  if (!load.success) return undefined;
  const { at, machine, scenario, workers } = load.data;
  const kind = `load, ${scenario}, workers: ${workers ?? 1}`;
  const steps = load.data.steps.map(({ calls, median }) => ({ calls, figures: median }));
  const titled = named(steps, ({ calls }) => `${scenario}, ${calls} calls`);
  return { kind, at, machine, figures: titled };
}

/** Figures that both have. Less than `noisePercent` of change is none. */
export function compareReports(before: Report, after: Report, noisePercent: number): Change[] {
  const changes: Change[] = [];
  for (const [name, old] of before.figures) {
    const value = after.figures.get(name);
    if (value === undefined) continue;
    const percent = old === value ? 0 : ((value - old) / Math.abs(old)) * 100;
    changes.push({ name, before: old, after: value, percent, verdict: 'same' });
  }
  for (const change of changes) change.verdict = verdictOf(change, noisePercent);
  return changes;
}

/** In what the machines differ, as far as it matters. */
export function machineDifferences(before: Report, after: Report): string[] {
  return SAME_MACHINE.filter((fact) => before.machine[fact] !== after.machine[fact]).map(
    (fact) => `${fact}: ${String(before.machine[fact])}, then ${String(after.machine[fact])}`,
  );
}

function verdictOf({ name, percent }: Change, noisePercent: number): Change['verdict'] {
  if (UNJUDGED.test(name)) return 'unjudged';
  if (Math.abs(percent) < noisePercent) return 'same';
  return percent > 0 === MORE_IS_BETTER.test(name) ? 'better' : 'worse';
}

function named<T extends { figures: Record<string, unknown> }>(
  sections: readonly T[],
  titleOf: (section: T) => string,
): Map<string, number> {
  const all = new Map<string, number>();
  for (const section of sections) {
    for (const [name, value] of Object.entries(section.figures)) {
      if (typeof value === 'number') all.set(`${titleOf(section)}: ${name}`, value);
    }
  }
  return all;
}
