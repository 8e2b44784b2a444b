// Crash recovery: finds runs that a killed process left open and that no process runs any more. Closes each with what was
// stored and hangs up its call at the provider; a call that still rings and that only a command answers is answered
// again (start/inbound/left-answers.ts), one that talked goes on where its provider keeps it or asks (call-resumption.ts),
// one over a PBX where the connection to it is, which finds the call by itself.
// Which processes are dead: store/db/death-watch.ts.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { runsTakenOver } from '../../metrics/metrics.ts';
import type { EndReason } from '../../model/end-reason.ts';
import { providerName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import { TAKEN_MAX } from '../../store/runs/run-owners.ts';
import type { Store } from '../../store/store.ts';
import { isHosted } from '../../telephony/provider/provider.ts';
import type { EventLog } from '../events/event-log.ts';
import { isLeftAnswer, type ProviderNames } from '../start/inbound/left-answers.ts';
import { cutOffOf, leftDestinations, recordedMs, usageOf } from './closing/cut-off-call.ts';
import type { ProviderHangUp } from './closing/provider-hang-up.ts';
import type { RunClosing, RunClosingDeps } from './closing/run-closing.ts';

/** Interval of searches for runs without an owner although nobody was seen to die: a process may have died, or stopped,
 *  while it took them over. */
const SWEEP_MS = 30_000;

export class CrashRecovery {
  readonly #deps: RecoveryDeps;
  /** Checks for dead processes. */
  readonly #watch: JobLoop;
  /** Takes over and closes their runs: that may take longer than the interval of the checks. */
  readonly #closing: JobLoop;
  #lookMs = SWEEP_MS;
  /** Whether processes whose rows are gone have had the time to enter again, after an outage of the database. */
  #isCalm = false;
  #hasFailed = false;
  /** Runs that were taken over but are not closed yet. */
  #left: Run[] = [];
  /** Runs that were taken over and whose calls may go on. */
  #goingOn: LeftCall[] = [];
  /** Lets calls go on; undefined while media cannot come yet. */
  #continuations: Continuations | undefined;
  /** Until when providers may ask about calls of a process that has just died, monotonic milliseconds. */
  #askedUntilMs = Number.NEGATIVE_INFINITY;
  /** The hang-ups of one batch after those of the other, so that a provider gets a handful at a time. */
  #hangUps: Promise<void> = Promise.resolve();

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    const { clock } = deps;
    this.#watch = new JobLoop({
      clock,
      everyMs: () => this.#lookMs,
      run: () => this.#look(),
      onError: (error) => this.#noteAway(error),
    });
    this.#closing = new JobLoop({
      clock,
      everyMs: SWEEP_MS,
      run: async () => {
        const left = this.#left.splice(0);
        await this.#settle(left);
        await this.#takeAll({ onlyReplaced: !this.#isCalm });
      },
      onError: (error) => deps.log.error({ err: error }, 'runs of dead processes not looked up'),
    });
  }

  /** Closes every open run of this node's former processes and of dead nodes; returns how many. Calls are
   *  hung up meanwhile. Called once. Throws STORE_UNAVAILABLE. */
  async start(): Promise<number> {
    await this.#look();
    const closed = await this.#takeAll({ onlyReplaced: false });
    this.#watch.startAfter(this.#lookMs);
    this.#closing.startAfter(SWEEP_MS);
    return closed;
  }

  /** Lets calls go on, as media can come from now on. Called once. */
  serve(continuations: Continuations): void {
    this.#continuations = continuations;
    void this.#continue();
  }

  /** Checks at once, because a process of this gateway has just died. Does nothing before `start` has settled. Never
   *  rejects. */
  wake(): void {
    this.#askedUntilMs = this.#deps.clock.monotonicMs() + ASKED_MS_MAX;
    void this.#closing.wake();
  }

  stop(): void {
    this.#watch.cancel();
    this.#closing.cancel();
  }

  async #look(): Promise<void> {
    const { hasDied, isCalm, nextMs } = await this.#deps.store.nodes.look();
    this.#lookMs = nextMs;
    this.#isCalm = isCalm;
    this.#hasFailed = false;
    if (hasDied) void this.#closing.wake();
  }

  /** Notes an outage of the store: nobody is declared dead. Logs the first of a series. */
  #noteAway(error: unknown): void {
    const level = this.#hasFailed ? 'debug' : 'error';
    this.#hasFailed = true;
    this.#isCalm = false;
    this.#deps.log[level]({ err: error }, 'dead processes not looked up');
  }

  /** Takes over all runs without an owner, a batch at a time. Returns how many were closed. */
  async #takeAll(which: { onlyReplaced: boolean }): Promise<number> {
    let closed = 0;
    for (let isMore = true; isMore && !this.#closing.hasStopped; ) {
      const taken = await this.#deps.store.runs.takeOrphaned(which);
      runsTakenOver.inc(taken.length);
      closed += await this.#settle(taken);
      isMore = taken.length === TAKEN_MAX;
    }
    return closed;
  }

  /** Decides what becomes of runs that this process has taken over: their calls go on, or they are closed. Returns how
   *  many are closed. */
  async #settle(taken: readonly Run[]): Promise<number> {
    const nowMs = this.#deps.clock.now();
    const ended: Run[] = [];
    for (const run of taken) {
      const how = this.#continuationOf(run, nowMs);
      if (how === undefined) ended.push(run);
      else this.#goingOn.push({ run, how });
    }
    void this.#continue();
    return this.#closeAll(ended);
  }

  /** How the run's call may go on; undefined if it cannot. */
  #continuationOf(run: Run, nowMs: number): LeftCall['how'] | undefined {
    const { providers } = this.#deps;
    if (isLeftAnswer(run, { providers, nowMs })) return 'answered';
    const name = providerName.safeParse(run.mode).data;
    const provider = name && providers.byName(name);
    if (run.state !== 'running' || provider === undefined) return undefined;
    if (provider.capabilities.afterMedia === 'ends') return undefined;
    if (!isHosted(provider)) return 'kept';
    if (provider.capabilities.afterMedia === 'stays') return 'resumed';
    return this.#deps.clock.monotonicMs() < this.#askedUntilMs ? 'asked' : undefined;
  }

  /** Lets the calls go on that can, and closes the others. Never rejects. */
  async #continue(): Promise<void> {
    const continuations = this.#continuations;
    if (continuations === undefined || this.#closing.hasStopped) return;
    const left = this.#goingOn.splice(0);
    const asked = left.filter(({ how }) => how === 'asked');
    const kept = left.filter(({ how }) => how === 'kept');
    const others = left.filter(({ how }) => how === 'answered' || how === 'resumed');
    await Promise.all([
      this.#closeUnasked(asked),
      this.#closeUnfound(kept, continuations),
      eachOf(others, REQUESTS_MAX, ({ run, how }) =>
        this.#continueOne(
          run,
          how === 'answered' ? continuations.answerAgain : continuations.resume,
        ),
      ),
    ]);
  }

  async #continueOne(run: Run, goOn: (runId: string) => Promise<boolean>): Promise<void> {
    try {
      if (await goOn(run.id)) return;
    } catch (error) {
      this.#deps.log.warn({ err: error, runId: run.id }, 'left-over call does not go on');
    }
    await this.#closeOwn(run);
  }

  /** Closes the runs about which no provider has asked in time. */
  async #closeUnasked(calls: readonly LeftCall[]): Promise<void> {
    if (calls.length === 0) return;
    const { clock } = this.#deps;
    const ms = Math.max(0, this.#askedUntilMs - clock.monotonicMs());
    await new Promise<void>((resolve) => clock.after(ms, resolve));
    await eachOf(calls, CLOSINGS_MAX, ({ run }) => this.#closeOwn(run));
  }

  /** Closes the runs whose calls no connection to a PBX has found and taken in time. */
  async #closeUnfound(calls: readonly LeftCall[], { resume }: Continuations): Promise<void> {
    if (calls.length === 0) return;
    await new Promise<void>((resolve) => this.#deps.clock.after(FOUND_MS_MAX, resolve));
    await eachOf(calls, REQUESTS_MAX, ({ run }) => this.#continueOne(run, resume));
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
    const { closed, failed, hangUp } = await closeOrphanedRuns(this.#deps, runs);
    this.#left.push(...failed);
    this.#hangUps = this.#hangUps.then(hangUp);
    if (closed > 0) {
      this.#deps.log.warn({ runs: closed }, 'runs left open by a killed process are closed');
    }
    return closed;
  }
}

/** Lets calls of dead processes go on. Each returns false for a call that is over: its run is to be closed. */
export interface Continuations {
  /** Answers a call that still rings. */
  answerAgain: (runId: string) => Promise<boolean>;
  /** Connects a call that talked, and that its provider keeps, to our media again. A call over a PBX is not connected by
   *  this: true if a process of this gateway has it. */
  resume: (runId: string) => Promise<boolean>;
}

/** A run that was taken over, and how its call may go on: it is answered, its media are connected again, its provider
 *  asks, or the connection to its PBX finds it. */
interface LeftCall {
  run: Run;
  how: 'answered' | 'resumed' | 'asked' | 'kept';
}

/** Time in which the connection to a PBX finds a call of a dead process: it is there before the death is noticed, or opens
 *  when its own process has started again. */
const FOUND_MS_MAX = 15_000;

/** Time from the death of a process of this gateway to the last question of a provider about its calls: it asks when the
 *  socket closes, and the gateway may first have to start another worker. */
const ASKED_MS_MAX = 6_000;

/** Concurrent hang-ups. Providers accept a handful of requests a second for each account. */
const REQUESTS_MAX = 8;
/** Concurrent closings: they wait for the store, and share its statements. */
const CLOSINGS_MAX = 16;

/** Dependencies of crash recovery. Runs of other nodes are closed without a request to the provider. */
export interface RecoveryDeps {
  providers: ProviderNames;
  store: Pick<Store, 'runs' | 'nodes'>;
  files: RunClosingDeps['files'];
  events: EventLog;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  clock: Clock;
  log: Log;
}

export type OrphanedRunsDeps = Omit<RecoveryDeps, 'store'> & { store: Pick<Store, 'runs'> };

/** Why a call is closed that has talked. */
export interface ClosingCause {
  reason: EndReason;
  fault: { code: string; message: string };
}

const STOPPED: ClosingCause = {
  reason: 'unexpected_error',
  fault: { code: 'GATEWAY_STOPPED', message: 'The gateway stopped during the call' },
};

export interface OrphanedRuns {
  closed: number;
  /** Runs that could not be closed; each has been logged. */
  failed: Run[];
  /** Hangs up calls that may still be up at their provider. Never rejects. */
  hangUp: () => Promise<void>;
}

/** Closes runs without an owner. `why`: default, their process was killed. Never rejects. */
export async function closeOrphanedRuns(
  deps: OrphanedRunsDeps,
  runs: readonly Run[],
  why = STOPPED,
): Promise<OrphanedRuns> {
  const failed: Run[] = [];
  const lines: Run[] = [];
  await eachOf(runs, CLOSINGS_MAX, async (run) => {
    try {
      const destinations = await close(deps, { run, why }, () => lines.push(run));
      for (const providerCallId of destinations) lines.push({ ...run, providerCallId });
    } catch (error) {
      deps.log.error({ err: error, runId: run.id }, 'open run not closed');
      failed.push(run);
    }
  });
  return {
    closed: runs.length - failed.length,
    failed,
    hangUp: () => eachOf(lines, REQUESTS_MAX, (run) => hangUp(deps, run)),
  };
}

/** Closes one run. Resolves with the provider's ids of further calls without a second party. */
async function close(
  deps: OrphanedRunsDeps,
  { run, why }: { run: Run; why: ClosingCause },
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
    reason: run.state === 'running' ? why.reason : 'system_connect_error',
    by: 'gateway',
    fault: why.fault,
    // The call may have ended well before its outcome could be stored.
    onClaimed: async () => onLineOpen(),
  });
  if (run.state !== 'running') return [];
  // Reports that came before had no effect; later ones have (webhooks/transfer-results.ts).
  return leftDestinations((await deps.store.runs.find(run.id)) ?? run, events);
}

async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const next = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

/** Hangs up a call that may still be up at the provider. */
async function hangUp(deps: Pick<RecoveryDeps, 'hangUps' | 'log'>, run: Run): Promise<void> {
  try {
    await deps.hangUps.hangUpRun(run);
  } catch (error) {
    if (codeOf(error) === 'CALL_OUT_OF_REACH') return; // The run had no known call.
    deps.log.warn({ err: error, runId: run.id }, 'left-over call not hung up');
  }
}
