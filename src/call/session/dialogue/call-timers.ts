// Timers of one call or chat: none outlives it, and none keeps the process alive. Among them are the limit of a call's
// duration and the idle timer.

import type { WorkflowConfigurations } from '../../../model/workflow.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';

/** A call shorter than this many times the warning's lead time ends without a warning. */
const WARNING_SHARE_MIN = 4;
/** Longest time by which a caller who speaks puts off the end, and the interval in which that is checked. */
const OVERTIME_MS_MAX = 10_000;
const OVERTIME_CHECK_MS = 200;

/** A clock whose timers pass errors of their work to `onError`. */
export function guardedClock(clock: Clock, onError: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    lastStall: () => clock.lastStall(),
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        try {
          run();
        } catch (error) {
          onError(error);
        }
      }),
  };
}

export class CallTimers {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(delayMs: number, run: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  cancelAll(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}

/** Idle timer: reports silence of both sides after a while, and again while it continues, except while either side
 *  is busy. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #busy: () => boolean;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: { clock: Clock; idleMs: number; busy: () => boolean; onIdle: () => void }) {
    this.#clock = options.clock;
    this.#idleMs = options.idleMs;
    this.#busy = options.busy;
    this.#onIdle = options.onIdle;
  }

  /** Restarts the silence, after activity. */
  reset(): void {
    this.#timer?.cancel();
    this.#timer = this.#isClosed ? undefined : this.#clock.after(this.#idleMs, () => this.#due());
  }

  /** Stops the timer for good: an ending call still reports what the agent was saying, which must not restart the
   *  silence. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #due(): void {
    const silent = !this.#busy();
    this.reset();
    if (silent) this.#onIdle();
  }
}

interface DurationListener {
  isCallerSpeaking(): boolean;
  onEndingSoon(text: string): void;
  onOver(): void;
}

/** Limits the call's duration, from the answer on, which was `talkedMs` ago. `text`: the author's words for the warning;
 *  may be empty. A caller who speaks is not cut off: the call ends at the next pause, or when the overtime is over. */
export function limitDuration(
  { settings, provider }: { settings: WorkflowConfigurations; provider: TelephonyProvider },
  timers: CallTimers,
  listener: DurationListener,
  talkedMs = 0,
): void {
  const { call_ending_warning_seconds: warningS, call_ending_warning_text: text } = settings;
  const callS = Math.min(settings.max_call_duration, provider.capabilities.callS.max);
  const warnedMs = (callS - warningS) * 1_000 - talkedMs;
  if (warningS > 0 && callS >= WARNING_SHARE_MIN * warningS && warnedMs >= 0) {
    timers.after(warnedMs, () => listener.onEndingSoon(text));
  }
  const end = (overtimeMs: number): void => {
    if (overtimeMs >= OVERTIME_MS_MAX || !listener.isCallerSpeaking()) listener.onOver();
    else timers.after(OVERTIME_CHECK_MS, () => end(overtimeMs + OVERTIME_CHECK_MS));
  };
  timers.after(Math.max(0, callS * 1_000 - talkedMs), () => end(0));
}
