// The far end of a load measurement in a process of its own, so that it never shares a core with the
// gateway: told what to do by load-client.ts, one message a step.

import { z } from 'zod';
import { type LoadOptions, LoadRun, type LoadSummary } from './load-run.ts';

/** What the parent asks for. `place` may take a while; each order is answered once, in order. */
export type Order =
  | { order: 'place'; options: LoadOptions }
  | { order: 'measure' }
  | { order: 'measured' }
  | { order: 'finish' };

export interface Answer {
  /** CPU time that this process has used so far. */
  cpuMs: number;
  openCalls: number;
  summary?: LoadSummary;
  error?: string;
}

const order = z.looseObject({ order: z.enum(['place', 'measure', 'measured', 'finish']) });
let run: LoadRun | undefined;

process.on('message', (message: unknown) => {
  const { order: what } = order.parse(message);
  // The parent is of the same build; only the kind is looked at.
  const { options } = message as { options?: LoadOptions };
  carryOut(what, options)
    .then((more) => answer(more))
    .catch((error: unknown) => answer({ error: String(error) }));
});
process.on('disconnect', () => process.exit(0));

async function carryOut(
  what: Order['order'],
  options: LoadOptions | undefined,
): Promise<{ summary?: LoadSummary }> {
  if (what === 'place' && options !== undefined) {
    run = new LoadRun(options);
    await run.placeAll();
  } else if (what === 'measure') {
    run?.measure(true);
  } else if (what === 'measured') {
    run?.measure(false);
  } else if (run !== undefined) {
    return { summary: await run.finish() };
  }
  return {};
}

function answer(more: Partial<Answer>): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, openCalls: run?.openCalls ?? 0, ...more });
}
