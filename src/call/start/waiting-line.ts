// The line of callers who wait for a place, of any provider: who joins it, whose turn it is, and how a wait ends. The
// store has it, so that any process serves a caller next; in the order in which the calls came. How a caller is kept on
// the line: hosted-waits.ts, pbx-waits.ts.

import type { Log } from '../../log.ts';
import { waitingSeconds, waits } from '../../metrics/metrics.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { OverflowPolicy, WaitOutcome } from '../../model/overflow.ts';
import type { PhoneNumber, TelephonyConfiguration } from '../../model/telephony.ts';
import type { Clock } from '../../std/clock.ts';
import type { NewRun, StartedRun } from '../../store/runs/run-insertion.ts';
import type { Store } from '../../store/store.ts';
import type { UnconnectedCall } from '../end/closing/unconnected-calls.ts';
import type { EventLog } from '../events/event-log.ts';

/** Time in which a caller is looked after again; then those behind do not wait for it any more. A provider plays an
 *  announcement and audio of 20 s at most before it asks again. */
const SEEN_MS = 45_000;
/** A caller far behind is looked after this much less often; each look locks the organization for a moment. */
const PATIENCE_MAX = 5;

export interface WaitingLineDeps {
  store: Pick<Store, 'runs' | 'waitingCalls'>;
  events: EventLog;
  closing: {
    end(
      run: UnconnectedCall['run'],
      ending: {
        reason: EndReason;
        by: 'caller' | 'provider' | 'gateway';
        provider: UnconnectedCall['provider']['name'];
        onClaimed: () => Promise<void>;
      },
    ): Promise<void>;
  };
  hangUps: { attempt(route: UnconnectedCall, callId: string, runId?: string): Promise<void> };
  /** Whether this process takes calls now. If not, callers wait for another process or a later moment. */
  takesCalls: () => boolean;
  clock: Clock;
  log: Log;
}

export interface Joined extends StartedRun {
  /** Whether the call waits; false: it has a run that does not. */
  isWaiting: boolean;
}

/** What a waiting call does next. `gone`: it does not wait any more. */
export type WaitStep =
  | { kind: 'admitted' }
  | {
      kind: 'wait';
      policy: OverflowPolicy;
      isAnnounced: boolean;
      isAnswered: boolean;
      ahead: number;
    }
  | { kind: 'forward'; policy: OverflowPolicy; to: string; isAnswered: boolean }
  | { kind: 'timeout'; policy: OverflowPolicy }
  | { kind: 'gone' };

/** How many times longer a gateway waits between two looks for a call with that many callers ahead of it. */
export function patienceOf(ahead: number): number {
  return Math.min(PATIENCE_MAX, 1 + ahead);
}

/** The policy of calls to the number. */
export function overflowOf(
  { overflow: ofConfiguration }: Pick<TelephonyConfiguration, 'overflow'>,
  { overflow: ofNumber }: Pick<PhoneNumber, 'overflow'>,
): OverflowPolicy | undefined {
  const policy = ofNumber ?? ofConfiguration ?? undefined;
  return policy?.mode === 'busy' ? undefined : policy;
}

export class WaitingLine {
  readonly #deps: WaitingLineDeps;

  constructor(deps: WaitingLineDeps) {
    this.#deps = deps;
  }

  /** Puts a call at the end of the line; it goes to the fallback number instead where the policy says so, or if the line
   *  is full. Undefined if the call is to be refused. `dueMs`: as in `Joining`. */
  async join(
    input: NewRun,
    { policy, dueMs }: { policy: OverflowPolicy; dueMs: number | null },
  ): Promise<Joined | undefined> {
    const { waitingCalls } = this.#deps.store;
    const forwarding = { policy: { ...policy, mode: 'fallback' as const }, callersMax: null };
    const limits = { seenMs: SEEN_MS, dueMs };
    // A call that is sent on takes no place in the line.
    const atOnce = { ...limits, seenMs: 0 };
    let joined =
      policy.mode === 'wait'
        ? await waitingCalls.join(input, { ...limits, policy, callersMax: policy.callers_max })
        : await waitingCalls.join(input, { ...atOnce, ...forwarding });
    if (joined === undefined && policy.mode === 'wait') {
      waits.inc({ provider: input.mode, outcome: 'full' });
      if (policy.otherwise === 'fallback')
        joined = await waitingCalls.join(input, { ...atOnce, ...forwarding });
    }
    if (joined === undefined) return undefined;
    const { run, isNew } = joined;
    return { ...joined, isWaiting: isNew || (await this.isWaiting(run.id)) };
  }

  async isWaiting(runId: string): Promise<boolean> {
    return (await this.#deps.store.waitingCalls.find(runId)) !== undefined;
  }

  /** Stores the beginning of a wait; another process may be next to write to the run's log. */
  async noteBegun(runId: string): Promise<void> {
    const { events } = this.#deps;
    (await events.open(runId)).append({ type: 'wait.began' }, 0);
    await events.flush();
    events.release(runId);
  }

  /** Looks for a place for the call, and decides what is next. */
  async step(runId: string): Promise<WaitStep> {
    const { store, takesCalls } = this.#deps;
    const call = await store.waitingCalls.find(runId);
    if (call === undefined) return { kind: 'gone' };
    const { policy, waitedMs, announcedMs, isAnswered } = call;
    const to = policy.fallback_number;
    if (policy.mode === 'fallback' && to !== null)
      return { kind: 'forward', policy, to, isAnswered };
    const { verdict, ahead } = takesCalls()
      ? await store.waitingCalls.admit(runId, SEEN_MS)
      : await store.waitingCalls.keep(runId, SEEN_MS);
    if (verdict === 'gone') return { kind: 'gone' };
    if (verdict === 'admitted') {
      await this.#noteEnd(runId, 'admitted', waitedMs);
      return { kind: 'admitted' };
    }
    if (waitedMs >= policy.wait_seconds_max * 1_000) {
      return policy.otherwise === 'fallback' && to !== null
        ? { kind: 'forward', policy, to, isAnswered }
        : { kind: 'timeout', policy };
    }
    const isAnnounced =
      announcedMs === null || announcedMs >= policy.announce_every_seconds * 1_000;
    return { kind: 'wait', policy, isAnnounced, isAnswered, ahead };
  }

  /** The call is answered for its wait; with `isAnnounced` the announcement is being played. */
  noteAnswered(runId: string, { isAnnounced }: { isAnnounced: boolean }): Promise<void> {
    return this.#deps.store.waitingCalls.noteAnswered(runId, { isAnnounced });
  }

  /** Ends the wait of a call that gets no place, and its run. `by`: `gateway` hangs it up. False, without a change, if the
   *  call does not wait. Throws STORE_UNAVAILABLE, TIMED_OUT. */
  async end(
    call: UnconnectedCall,
    { outcome, by }: { outcome: Exclude<WaitOutcome, 'admitted'>; by: 'provider' | 'gateway' },
  ): Promise<boolean> {
    const { store, closing, hangUps } = this.#deps;
    const { run, provider } = call;
    const waiting = await store.waitingCalls.find(run.id);
    if (waiting === undefined) return false;
    await this.#noteEnd(run.id, outcome, waiting.waitedMs);
    const { providerCallId } = run;
    await closing.end(run, {
      reason: REASONS[outcome],
      by: outcome === 'abandoned' ? 'caller' : by,
      provider: provider.name,
      onClaimed: async () => {
        if (by === 'gateway' && providerCallId !== null)
          await hangUps.attempt(call, providerCallId, run.id);
      },
    });
    return true;
  }

  async #noteEnd(runId: string, outcome: WaitOutcome, waitedMs: number): Promise<void> {
    const { store, events, log } = this.#deps;
    // Another process may have written to the log since.
    events.release(runId);
    const runLog = await events.open(runId);
    if (runLog.events.some(({ body }) => body.type === 'wait.ended')) return;
    runLog.append({ type: 'wait.ended', outcome, waitedMs: Math.round(waitedMs) }, 0);
    const seconds = Math.round(waitedMs / 1_000);
    const gatheredContext = { wait_outcome: outcome, waited_seconds: seconds };
    const run = await store.runs.patch(runId, { gatheredContext });
    waits.inc({ provider: run?.mode ?? 'unknown', outcome });
    if (outcome !== 'forwarded' || waitedMs > 0)
      waitingSeconds.observe({ outcome }, waitedMs / 1_000);
    log.info({ runId, outcome, seconds }, 'wait for a place over');
  }
}

const REASONS: Readonly<Record<Exclude<WaitOutcome, 'admitted'>, EndReason>> = {
  abandoned: 'user_hangup',
  timeout: 'busy',
  forwarded: 'call_transferred',
};
