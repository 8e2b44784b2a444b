// The far end of a load measurement in a process of its own, so that it never shares a core with the
// gateway: told what to do by load-client.ts, one message a step.

import { z } from 'zod';
import type { LoadSummary } from '../figures/load-summary.ts';
import { type LoadOptions, LoadRun } from '../load-run.ts';

/** What the parent asks for. `place` may take a while; each order is answered once, in order. */
export type Order =
  | { order: 'place'; options: LoadOptions }
  | { order: 'series'; options: LoadOptions; series: Series }
  | { order: 'measure' }
  | { order: 'measured' }
  | { order: 'finish' };

/** Calls one after the other on each of the lines. */
export interface Series {
  total: number;
  callSeconds: number;
}

export interface Answer {
  /** CPU time that this process has used so far. */
  cpuMs: number;
  openCalls: number;
  /** Frames of clips that all calls have heard. */
  markedFrames: number;
  summary?: LoadSummary;
  error?: string;
}

const order = z.looseObject({
  order: z.enum(['place', 'series', 'measure', 'measured', 'finish']),
});
let run: LoadRun | undefined;

process.on('message', (message: unknown) => {
  order.parse(message);
  // The parent is of the same build; only the kind is looked at.
  carryOut(message as Order)
    .then((more) => answer(more))
    .catch((error: unknown) => answer({ error: String(error) }));
});
process.on('disconnect', () => process.exit(0));

async function carryOut(task: Order): Promise<{ summary?: LoadSummary }> {
  switch (task.order) {
    case 'place':
      run = new LoadRun(task.options);
      await run.placeAll();
      return {};
    case 'series':
      run = new LoadRun(task.options);
      run.measure();
      await run.holdSeries(task.series);
      return {};
    case 'measure':
      run?.measure();
      return {};
    case 'measured':
      run?.measured();
      return {};
    case 'finish':
      return run === undefined ? {} : { summary: await run.finish() };
  }
}

function answer(more: Partial<Answer>): void {
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuMs: (user + system) / 1_000,
    openCalls: run?.openCalls ?? 0,
    markedFrames: run?.markedFrames ?? 0,
    ...more,
  });
}
