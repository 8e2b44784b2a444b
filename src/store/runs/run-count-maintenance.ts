// Recounts the runs of one agent and day after the other, in the background. Triggers update the counts
// (run-counts.ts), but not while they are disabled, as for a replica or a restored table.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import type { StoreContext } from '../db/store-context.ts';
import { dayToRecount, type RecountedDay, recountDay } from './run-counts.ts';

const EVERY_MS = 60_000;
/** Days of one step, each a transaction of its own: a hundred agents of a year are recounted within a day. */
const DAYS_MAX = 25;
const STOP_MS_MAX = 5_000;

export class RunCountMaintenance {
  readonly #context: Pick<StoreContext, 'db'>;
  readonly #log: Log;
  readonly #loop: JobLoop;
  #last: RecountedDay | undefined;

  constructor(context: Pick<StoreContext, 'db'>, { clock, log }: { clock: Clock; log: Log }) {
    this.#context = context;
    this.#log = log;
    this.#loop = new JobLoop({
      clock,
      everyMs: EVERY_MS,
      run: () => this.step(),
      onError: (error) => log.warn({ err: error }, 'runs were not recounted'),
    });
  }

  start(): void {
    this.#loop.startAfter(EVERY_MS);
  }

  stop(): Promise<void> {
    return this.#loop.stop(STOP_MS_MAX);
  }

  /** Recounts the next days; after the last one it starts again. */
  async step(): Promise<void> {
    for (let days = 0; days < DAYS_MAX; days++) {
      this.#last = await dayToRecount(this.#context, this.#last);
      if (this.#last === undefined) return;
      const { workflowId, day } = this.#last;
      if (!(await recountDay(this.#context, workflowId, day))) continue;
      this.#log.warn({ workflowId, day }, 'the stored number of runs was wrong, and is corrected');
    }
  }
}
