// Crash recovery: finds runs that a killed process left open and that no process runs any more, at the start and every
// half minute. Closes each with what was stored and hangs up its call at the provider; a call that still rings and that
// only a command answers is answered again (start/inbound/left-answers.ts).

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { providerName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import type { Store } from '../../store/store.ts';
import type { EventLog } from '../events/event-log.ts';
import { isLeftAnswer, type ProviderNames } from '../start/inbound/left-answers.ts';
import { cutOffOf, leftDestinations, recordedMs, usageOf } from './closing/cut-off-call.ts';
import type { ProviderHangUp } from './closing/provider-hang-up.ts';
import type { RunClosing, RunClosingDeps } from './closing/run-closing.ts';

/** Interval of the checks. A process counts as dead after a minute without a heartbeat; with two checks in that time
 *  no outage of the store passes unnoticed. */
const LOOK_MS = 30_000;

export class CrashRecovery {
  readonly #deps: RecoveryDeps;
  readonly #loop: JobLoop;
  /** Whether the store was unavailable at the last check: live processes could not write their heartbeats either. */
  #wasAway = false;
  /** Runs that were taken over but are not closed yet. */
  #left: Run[] = [];
  /** Runs that were taken over and are to be answered again. */
  #unanswered: Run[] = [];
  /** Answers ringing calls; undefined while media cannot come yet. */
  #answerAgain: AnswerAgain | undefined;

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

  /** Closes every open run of this node's former processes and of dead nodes; returns how many. Calls are
   *  hung up meanwhile. Called once. Throws STORE_UNAVAILABLE. */
  async start(): Promise<number> {
    const closed = await this.#close(await this.#deps.store.runs.openRuns());
    this.#loop.startAfter(LOOK_MS);
    return closed;
  }

  /** Answers ringing calls by `answerAgain`, as media can come from now on; it returns false for a call that is to
   *  be closed. Called once. */
  serve(answerAgain: AnswerAgain): void {
    this.#answerAgain = answerAgain;
    void this.#answerLeft();
  }

  /** Checks at once, because a process is known to have died. Does nothing before `start` has settled. Never
   *  rejects. */
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
      this.#wasAway = false; // Live processes write their heartbeats before the next check.
      return;
    }
    const taken = await runs.openRuns();
    await this.#close([...this.#left.splice(0), ...taken]);
  }

  /** Closes the runs, except those that may be answered again. */
  async #close(taken: readonly Run[]): Promise<number> {
    const of = { providers: this.#deps.providers, nowMs: this.#deps.clock.now() };
    const unanswered = taken.filter((run) => isLeftAnswer(run, of));
    const runs = taken.filter((run) => !unanswered.includes(run));
    this.#unanswered.push(...unanswered);
    void this.#answerLeft();
    return this.#closeAll(runs);
  }

  /** Answers the calls that still ring. Never rejects. */
  async #answerLeft(): Promise<void> {
    const answerAgain = this.#answerAgain;
    if (answerAgain === undefined || this.#loop.hasStopped) return;
    const runs = this.#unanswered.splice(0);
    await eachOf(runs, async (run) => {
      try {
        if (await answerAgain(run.id)) return;
        await this.#closeAll([run]);
      } catch (error) {
        this.#deps.log.warn({ err: error, runId: run.id }, 'left-over call not answered again');
        await this.#closeOwn(run);
      }
    });
  }

  /** Closes a run that this process took over. If another process has the run and dies or fails with it, the next
   *  check takes it. Never rejects. */
  async #closeOwn(run: Run): Promise<void> {
    try {
      const owner = await this.#deps.store.runs.owner(run.id);
      if (owner?.isOwn === true) await this.#closeAll([run]);
    } catch (error) {
      this.#deps.log.error({ err: error, runId: run.id }, 'owner of a run not read');
      this.#left.push(run);
    }
  }

  async #closeAll(runs: readonly Run[]): Promise<number> {
    const { closed, failed } = await closeOrphanedRuns(this.#deps, runs);
    this.#left.push(...failed);
    if (closed > 0) {
      this.#deps.log.warn({ runs: closed }, 'runs left open by a killed process are closed');
    }
    return closed;
  }
}

type AnswerAgain = (runId: string) => Promise<boolean>;

/** A run id for a test read: it only matters whether the store answers. */
const ANY_RUN = '1';

/** Concurrent hang-ups. Providers accept a handful of requests a second for each account. */
const REQUESTS_MAX = 8;

/** Dependencies of crash recovery. Runs of other nodes are closed without a request to the provider. */
export interface RecoveryDeps {
  providers: ProviderNames;
  store: Pick<Store, 'runs'>;
  files: RunClosingDeps['files'];
  events: EventLog;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  clock: Clock;
  log: Log;
}

export interface OrphanedRuns {
  closed: number;
  /** Runs that could not be closed; each has been logged. */
  failed: Run[];
  /** Hangs up calls that may still be up at their provider. Never rejects. */
  hungUp: Promise<void>;
}

/** Closes runs without an owner. Never rejects, and does not wait for the providers. */
export async function closeOrphanedRuns(
  deps: RecoveryDeps,
  runs: readonly Run[],
): Promise<OrphanedRuns> {
  const failed: Run[] = [];
  const lines: Run[] = [];
  for (const run of runs) {
    try {
      const destinations = await close(deps, run, () => lines.push(run));
      for (const providerCallId of destinations) lines.push({ ...run, providerCallId });
    } catch (error) {
      deps.log.error({ err: error, runId: run.id }, 'open run not closed');
      failed.push(run);
    }
  }
  return {
    closed: runs.length - failed.length,
    failed,
    hungUp: eachOf(lines, (run) => hangUp(deps, run)),
  };
}

/** Closes one run. Resolves with the provider's ids of further calls without a second party. */
async function close(
  deps: RecoveryDeps,
  run: Run,
  onLineOpen: () => void,
): Promise<readonly string[]> {
  const { events, append } = await deps.events.open(run.id);
  const cutOff = cutOffOf(run, events, await recordedMs(deps, run.id));
  const { durationS, mediaMs, endedAt } = cutOff;
  if (durationS !== undefined) {
    for (const usage of usageOf(run, events, durationS)) append(usage, mediaMs, endedAt);
  }
  const provider = providerName.safeParse(run.mode).data;
  await deps.closing.end(run, {
    ...cutOff,
    ...(provider === undefined ? {} : { provider }),
    reason: run.state === 'running' ? 'unexpected_error' : 'system_connect_error',
    by: 'gateway',
    fault: { code: 'GATEWAY_STOPPED', message: 'The gateway stopped during the call' },
    // The call may have ended well before its outcome could be stored.
    onClaimed: async () => onLineOpen(),
  });
  if (run.state !== 'running') return [];
  // Reports that came before had no effect; later ones have (webhooks/transfer-results.ts).
  return leftDestinations((await deps.store.runs.find(run.id)) ?? run, events);
}

async function eachOf(runs: readonly Run[], work: (run: Run) => Promise<void>): Promise<void> {
  const waiting = runs.values();
  const next = async (): Promise<void> => {
    for (const run of waiting) await work(run);
  };
  await Promise.all(Array.from({ length: REQUESTS_MAX }, next));
}

/** Hangs up a call that may still be up at the provider. */
async function hangUp(deps: RecoveryDeps, run: Run): Promise<void> {
  try {
    await deps.hangUps.hangUpRun(run);
  } catch (error) {
    if (codeOf(error) === 'CALL_OUT_OF_REACH') return; // The run had no known call.
    deps.log.warn({ err: error, runId: run.id }, 'left-over call not hung up');
  }
}
