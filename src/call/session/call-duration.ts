// Longest duration of a call, and the warning before its end.

import type { CallTimers } from '../dialogue/call-timers.ts';
import type { CallPlan } from '../setup/call-plan.ts';

/** A call shorter than this many times the warning's lead time ends without a warning. */
const WARNING_SHARE_MIN = 4;

/** Limits the call's duration, from the answer on. `text`: the author's words for the warning; may be empty. */
export function limitDuration(
  { settings, provider }: CallPlan,
  timers: CallTimers,
  listener: { onEndingSoon(text: string): void; onOver(): void },
): void {
  const { call_ending_warning_seconds: warningS, call_ending_warning_text: text } = settings;
  const callS = Math.min(settings.max_call_duration, provider.capabilities.callS.max);
  if (warningS > 0 && callS >= WARNING_SHARE_MIN * warningS) {
    timers.after((callS - warningS) * 1_000, () => listener.onEndingSoon(text));
  }
  timers.after(callS * 1_000, () => listener.onOver());
}
