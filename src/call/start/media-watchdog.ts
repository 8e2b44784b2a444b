// Watchdog of calls without media: looks up, at its provider, a dialled or answered call that has no media after a
// while, and closes its run. Callbacks can be lost; no run stays open for ever.

import type { Log } from '../../log.ts';
import { isTerminal } from '../../model/provider.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Store } from '../../store/store.ts';
import type { CallSnapshot } from '../../telephony/provider/provider.ts';
import {
  type UnconnectedCall,
  type UnconnectedCalls,
  unconnectedReason,
} from '../end/closing/unconnected-calls.ts';
import type { EventLog } from '../events/event-log.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import { RING_S } from './setup/callback-urls.ts';

/** Time for the media of an answered call. Providers open the media socket within a second or two. */
const ANSWERED_MS = 30_000;
/** First check of a dialled call: its ringing has ended for certain. */
const LOOK_MS = RING_S * 1_000 + ANSWERED_MS;
const AGAIN_MS = 30_000;
/** Checks of a call that, as its provider says, still rings: it may have waited in the provider's own queue. */
const LOOKS_MAX = 3;
/** Checks that may fail because of the store: half an hour. Runs still open then are closed at the next start. */
const FAILURES_MAX = 60;
const ASK_MS = 10_000;

export interface MediaWatchdogDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  registry: CallRegistry;
  unconnected: UnconnectedCalls;
  clock: Clock;
  log: Log;
}

export class MediaWatchdog {
  readonly #deps: MediaWatchdogDeps;
  /** Timers of the next checks, by run: one for the dial and one for each answer webhook. */
  readonly #timers = new Map<string, Set<Timer>>();

  constructor(deps: MediaWatchdogDeps) {
    this.#deps = deps;
    // Otherwise each call would be read once more after its end.
    deps.registry.onActivated = (id) => this.#stop(id);
  }

  /** Watches a dialled call: it rings from now on. */
  dialled(call: UnconnectedCall): void {
    this.#deps.registry.addRinging(call);
    this.watch(call);
  }

  /** Watches a call whose answer webhook has come, or whose answer the provider has reported: without media it soon
   *  frees its place. */
  answered(call: UnconnectedCall): void {
    // An inbound call may still ring at its provider when it asks for its answer.
    const looks = call.run.callType === 'outbound' ? LOOKS_MAX : 0;
    this.watch(call, ANSWERED_MS, looks);
  }

  /** `looks`: checks that count as done, of those that a ringing call has. */
  watch(call: UnconnectedCall, afterMs = LOOK_MS, looks = 0): void {
    const { clock, log, registry } = this.#deps;
    const { id } = call.run;
    const tries = { looks, failures: 0 };
    const schedule = (ms: number): void => {
      const timer = clock.after(ms, () => {
        this.#forget(id, timer);
        this.#look(call, tries).then(
          (more) => {
            if (more) schedule(AGAIN_MS);
          },
          (error: unknown) => {
            tries.failures += 1;
            log.error({ err: error, runId: id }, 'call not looked up');
            if (tries.failures < FAILURES_MAX) schedule(AGAIN_MS);
            else registry.removeUnconnected(id);
          },
        );
      });
      const timers = this.#timers.get(id) ?? new Set();
      this.#timers.set(id, timers.add(timer));
    };
    schedule(afterMs);
  }

  #stop(runId: string): void {
    for (const timer of this.#timers.get(runId) ?? []) timer.cancel();
    this.#timers.delete(runId);
  }

  #forget(runId: string, timer: Timer): void {
    const timers = this.#timers.get(runId);
    timers?.delete(timer);
    if (timers?.size === 0) this.#timers.delete(runId);
  }

  /** Checks a call once. Returns false if there is nothing more to watch. */
  async #look(call: UnconnectedCall, tries: { looks: number }): Promise<boolean> {
    const { store, registry, unconnected } = this.#deps;
    const { id } = call.run;
    // Its session closes the run.
    if (registry.session(id) !== undefined) return false;
    const run = await store.runs.find(id);
    const isOver = run === undefined || run.state !== 'initialized';
    if (isOver || (await this.#isElsewhere(id))) {
      this.release(id);
      return false;
    }
    const status = (await this.#ask({ ...call, run }))?.status;
    // The media came during the request, here or elsewhere.
    if (registry.connected(id) || (await this.#isElsewhere(id))) return true;
    tries.looks += 1;
    if ((status === 'initiated' || status === 'ringing') && tries.looks < LOOKS_MAX) return true;
    await unconnected.end(
      { ...call, run },
      status !== undefined && isTerminal(status)
        ? { reason: unconnectedReason(status), by: 'provider' }
        : { reason: 'system_connect_error', by: 'gateway' },
    );
    return false;
  }

  /** Whether another process owns and watches the call. Crash recovery takes the calls of a dead owner. */
  async #isElsewhere(runId: string): Promise<boolean> {
    return (await this.#deps.store.runs.owner(runId))?.isOwn === false;
  }

  /** Removes a call that this process does not have any more, and does not end it. */
  release(runId: string): void {
    const { registry, events } = this.#deps;
    this.#stop(runId);
    registry.removeUnconnected(runId);
    if (!registry.connected(runId)) events.release(runId);
  }

  async #ask({ run, configuration, provider }: UnconnectedCall): Promise<CallSnapshot | undefined> {
    const { providerCallId } = run;
    if (providerCallId === null) return undefined;
    const deadline = deadlineSignal(this.#deps.clock, ASK_MS, 'look up the call');
    try {
      const { credentials } = configuration;
      return await provider.control.getCall(credentials, providerCallId, deadline.signal);
    } catch (error) {
      this.#deps.log.warn({ err: error, runId: run.id }, 'call not looked up at the provider');
      return undefined;
    } finally {
      deadline.done();
    }
  }
}
