// From few calls to many: each count measured several times, medians taken, until one does not hold the
// goal; then the highest count between that holds is looked for.

import { missesOf } from './goal.ts';
import type { LoadFigures } from './measure.ts';

/** The search ends when the counts are this close: a share of them, or so many calls. */
const CLOSE_SHARE = 0.05;
const CLOSE_CALLS = 10;

export interface Step {
  calls: number;
  runs: LoadFigures[];
  /** Figure by figure. */
  median: LoadFigures;
  misses: string[];
}

export interface RampOptions {
  /** Rising. */
  counts: readonly number[];
  runs: number;
  goalMs: number;
  /** Whether to look between the last count that held and the first that did not. */
  search: boolean;
  measure: (calls: number) => Promise<LoadFigures>;
  onRun: (figures: LoadFigures) => void;
}

/** Every count that was measured, rising. */
export async function climb(options: RampOptions): Promise<Step[]> {
  const steps: Step[] = [];
  let held = 0;
  let missed = Number.POSITIVE_INFINITY;
  for (const calls of options.counts) {
    const step = await measureStep(options, calls);
    steps.push(step);
    if (step.misses.length > 0) {
      missed = calls;
      break;
    }
    held = calls;
  }
  while (options.search && Number.isFinite(missed) && !isClose(held, missed)) {
    const calls = Math.round((held + missed) / 2);
    const step = await measureStep(options, calls);
    steps.push(step);
    if (step.misses.length > 0) missed = calls;
    else held = calls;
  }
  return steps.sort((a, b) => a.calls - b.calls);
}

/** The step with the most calls that holds the goal. */
export function highestHeld(steps: readonly Step[]): Step | undefined {
  return steps.filter(({ misses }) => misses.length === 0).at(-1);
}

/** The median of each figure over all runs; failures are those of all runs. */
export function medianOf(runs: readonly LoadFigures[]): LoadFigures {
  const [first] = runs;
  if (first === undefined) throw new Error('no run');
  const names = Object.keys(first) as (keyof LoadFigures)[]; // Made of the object itself.
  const medians = names.map((name) => {
    const values = runs.map((run) => run[name]);
    if (Array.isArray(values[0])) return [name, values.flat()];
    return [name, middle(values.filter((value) => typeof value === 'number'))];
  });
  return Object.fromEntries(medians) as unknown as LoadFigures; // The same names, the same kinds.
}

function middle(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  // Of an even number the greater one: no figure looks better than half of the runs.
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

function isClose(held: number, missed: number): boolean {
  return missed - held <= Math.max(CLOSE_CALLS, missed * CLOSE_SHARE);
}

async function measureStep(options: RampOptions, calls: number): Promise<Step> {
  const runs: LoadFigures[] = [];
  for (let run = 0; run < options.runs; run++) {
    const figures = await options.measure(calls);
    options.onRun(figures);
    runs.push(figures);
  }
  const median = medianOf(runs);
  return { calls, runs, median, misses: missesOf(median, options.goalMs) };
}
