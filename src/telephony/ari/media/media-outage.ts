// Outages of a call's media: pauses between attempts, the longest outage, and when it counts as long. A PBX that is
// reloaded, or a proxy or firewall that drops its connections, is back within seconds. Source: asterisk §0.17.

import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';

/** Longest time from the loss of the media to the end of the call. */
const OUTAGE_MS_MAX = 5_000;
const LONG_MS = 2_000;
/** Deadline of one attempt: an event or an answer may be lost with the connections. Usually it takes 5 ms. */
const ATTEMPT_MS_MAX = 2_000;
/** Pause before each attempt; the last is repeated. */
const PAUSES_MS = [0, 100, 200, 400, 800] as const;

export interface OutageOptions {
  clock: Clock;
  /** Aborted with the call. */
  signal: AbortSignal;
  /** Number of outages shortly before this one: the pauses begin later in their list. */
  before: number;
  /** Opens and joins other media. Rejects if that fails. */
  attempt(signal: AbortSignal): Promise<void>;
  /** The outage has lasted for a while: the caller should be informed. */
  onLong(): void;
}

export interface OutageReport {
  attempts: number;
  outageMs: number;
}

/** Settles when the media are back. Rejects with the last attempt's error, or with the reason of `signal`. */
export async function endOutage(options: OutageOptions): Promise<OutageReport> {
  const { clock, signal } = options;
  const sinceMs = clock.monotonicMs();
  const deadline = deadlineSignal(clock, OUTAGE_MS_MAX, 'replace the media', signal);
  const long = clock.after(LONG_MS, () => options.onLong());
  let why: unknown;
  try {
    for (let attempts = 1; ; attempts++) {
      await pause(clock, pauseMs(options.before + attempts - 1), deadline.signal);
      if (deadline.signal.aborted) throw signal.aborted ? signal.reason : why;
      try {
        await attemptOnce(options, deadline.signal);
        return { attempts, outageMs: clock.monotonicMs() - sinceMs };
      } catch (error) {
        why = error;
      }
    }
  } finally {
    long.cancel();
    deadline.done();
  }
}

async function attemptOnce({ clock, attempt }: OutageOptions, outage: AbortSignal): Promise<void> {
  const deadline = deadlineSignal(clock, ATTEMPT_MS_MAX, 'open other media', outage);
  try {
    await attempt(deadline.signal);
  } finally {
    deadline.done();
  }
}

function pauseMs(nth: number): number {
  return PAUSES_MS[Math.min(nth, PAUSES_MS.length - 1)] ?? 0;
}
