// When runs that nobody runs any more are looked for: at the start, and now and then for those of other
// processes that have died since. How one is closed is orphaned-runs.ts' business.

import type { Run } from '../../model/run.ts';
import { JobLoop } from '../../std/job-loop.ts';
import { closeOrphanedRuns, type RecoveryDeps } from './orphaned-runs.ts';

/** A process is dead after a minute of silence; twice as often an outage cannot hide between looks. */
const LOOK_MS = 30_000;

export class CrashRecovery {
  readonly #deps: RecoveryDeps;
  readonly #loop: JobLoop;
  /** The store was away: the living have not been able to report either. */
  #wasAway = false;
  /** Taken over, but not closed yet. */
  #left: Run[] = [];

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => {
        this.#wasAway = true;
        deps.log.error({ err: error }, 'runs of dead processes not looked up');
      },
    });
  }

  /** Closes every open run of this node's former processes and of dead nodes; returns how many. Providers
   *  are told meanwhile. Called once. Throws STORE_UNAVAILABLE. */
  async start(): Promise<number> {
    const closed = await this.#close(await this.#deps.store.runs.openRuns());
    this.#loop.startAfter(LOOK_MS);
    return closed;
  }

  /** Looks at once: a process is known to have died. Nothing before `start` has settled. Never rejects. */
  wake(): void {
    void this.#loop.wake();
  }

  stop(): void {
    this.#loop.cancel();
  }

  async #look(): Promise<void> {
    const { runs } = this.#deps.store;
    if (this.#wasAway) {
      await runs.find(ANY_RUN);
      this.#wasAway = false; // By the next look, whoever lives has reported.
      return;
    }
    await this.#close([...this.#left, ...(await runs.openRuns())]);
  }

  async #close(runs: readonly Run[]): Promise<number> {
    const { closed, failed } = await closeOrphanedRuns(this.#deps, runs);
    this.#left = failed;
    if (closed > 0) {
      this.#deps.log.warn({ runs: closed }, 'runs left open by a killed process are closed');
    }
    return closed;
  }
}

/** Only whether the store answers is of interest. */
const ANY_RUN = '1';
