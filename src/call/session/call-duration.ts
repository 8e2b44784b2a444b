// Longest duration of a call, and the warning before its end.

import type { CallPlan } from '../start/setup/call-plan.ts';
import type { CallTimers } from './dialogue/call-timers.ts';

/** A call shorter than this many times the warning's lead time ends without a warning. */
const WARNING_SHARE_MIN = 4;
/** Longest time by which a caller who speaks puts off the end, and the interval in which that is checked. */
const OVERTIME_MS_MAX = 10_000;
const OVERTIME_CHECK_MS = 200;

export interface DurationListener {
  isCallerSpeaking(): boolean;
  onEndingSoon(text: string): void;
  onOver(): void;
}

/** Limits the call's duration, from the answer on. `text`: the author's words for the warning; may be empty. A caller
 *  who speaks is not cut off: the call ends at the next pause, or when the overtime is over. */
export function limitDuration(
  { settings, provider }: CallPlan,
  timers: CallTimers,
  listener: DurationListener,
): void {
  const { call_ending_warning_seconds: warningS, call_ending_warning_text: text } = settings;
  const callS = Math.min(settings.max_call_duration, provider.capabilities.callS.max);
  if (warningS > 0 && callS >= WARNING_SHARE_MIN * warningS) {
    timers.after((callS - warningS) * 1_000, () => listener.onEndingSoon(text));
  }
  const end = (overtimeMs: number): void => {
    if (overtimeMs >= OVERTIME_MS_MAX || !listener.isCallerSpeaking()) listener.onOver();
    else timers.after(OVERTIME_CHECK_MS, () => end(overtimeMs + OVERTIME_CHECK_MS));
  };
  timers.after(callS * 1_000, () => end(0));
}
