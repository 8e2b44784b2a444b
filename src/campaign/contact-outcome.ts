// Outcome of a finished run for its campaign, and whether the contact is called again. Source: contract §9.5, §9.8.

import type { AttemptOutcome, RetrySettings } from '../model/campaign.ts';
import { faultReasons } from '../model/end-reason.ts';
import type { CallStatus } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { isObject } from '../std/json.ts';
import type { OpenAttempt, Settlement } from '../store/campaigns/dial-attempts.ts';

/** Pause after the end of an interrupted call before it is repeated: the phone can ring again a moment later. */
const INTERRUPTED_AGAIN_MS = 15_000;

const byDisposition = new Map<string | null, AttemptOutcome>([
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
  ['system_cancelled', 'canceled'],
]);
/** End reasons of a conversation that the gateway or the provider interrupted. */
const BROKEN: ReadonlySet<string> = new Set([...faultReasons, 'error']);

/** Outcome of an attempt. `look-up`: the provider gave no clear answer to the dial, or the gateway stopped before an
 *  answer; only the provider has the result. */
export function contactOutcomeOf(attempt: OpenAttempt): AttemptOutcome | 'look-up' {
  const { run } = attempt;
  if (run === undefined) return 'unknown';
  if (run.state !== 'completed') return 'look-up';
  if (run.startedAt === null) return unconnected(run, attempt);
  if (run.disposition === 'number_not_in_service') return 'failed';
  if (isMachine(run)) return 'voicemail';
  return BROKEN.has(run.disposition ?? '') ? 'error' : 'answered';
}

/** Outcome of a call without audio from the callee. */
function unconnected(
  run: Run,
  { state, isInDoubt }: Pick<OpenAttempt, 'state' | 'isInDoubt'>,
): AttemptOutcome | 'look-up' {
  if (isStopped(run)) return 'look-up';
  const told = byDisposition.get(run.disposition);
  if (told !== undefined) return told;
  if (state === 'placed' || run.providerCallId !== null) return 'error';
  return isInDoubt ? 'look-up' : 'failed'; // Without doubt, the dial was refused.
}

/** Outcome of a call whose state the gateway lost, by the provider's report. A call that the gateway's stop
 *  interrupted counts as interrupted if any event followed. */
export function contactOutcomeAfterCrash(fate: CallStatus, run: Run): AttemptOutcome {
  const told = byDisposition.get(fate);
  if (told !== undefined && told !== 'canceled') return told;
  return isStopped(run) ? 'interrupted' : 'error';
}

/** Whether a machine answered, by the gateway's verdict, else by the provider's detection, even if reported after the
 *  end. */
function isMachine({ disposition, gatheredContext, logs }: Run): boolean {
  if (disposition === 'voicemail_detected') return true;
  if (gatheredContext['answered_by'] === 'human') return false;
  const callbacks = logs['telephony_status_callbacks'];
  const told = Array.isArray(callbacks)
    ? callbacks.filter(isObject).map((callback) => callback['answered_by'])
    : [];
  return [gatheredContext['answered_by'], ...told].some(
    (who) => typeof who === 'string' && /^(machine|fax)/.test(who),
  );
}

/** Whether the gateway stopped during the call. */
function isStopped({ gatheredContext }: Run): boolean {
  const tags = gatheredContext['call_tags'];
  return Array.isArray(tags) && tags.includes('gateway_stopped');
}

export interface ContactHistory {
  /** Calls made, including this one. */
  number: number;
  /** Earlier calls that the gateway's own stops interrupted. */
  interruptions: number;
  run?: Pick<Run, 'gatheredContext'> | undefined;
}

export interface AttemptLimits {
  retry: RetrySettings;
  /** Calls in addition to those of `retry`, at most one for each call that the gateway's own stops interrupted. */
  interruptedExtra: number;
}

/** The contact's next state. An interrupted call counts as a call: it is repeated while calls are left, whatever
 *  `retry` says about busy and unanswered calls. */
export function settlementOf(
  outcome: AttemptOutcome,
  { number, interruptions, run }: ContactHistory,
  { retry, interruptedExtra }: AttemptLimits,
): Settlement {
  const isInterrupted = outcome === 'interrupted';
  const extra = Math.min(interruptedExtra, interruptions + (isInterrupted ? 1 : 0));
  const callsMax = 1 + (retry.enabled ? retry.maxRetries : 0) + extra;
  const hasMessage = run?.gatheredContext['voicemail_message'] === 'left';
  if (number >= callsMax || hasMessage) return { outcome, again: null };
  if (isInterrupted) {
    return { outcome, again: { delayMs: INTERRUPTED_AGAIN_MS, reason: outcome } };
  }
  const wanted = {
    busy: retry.onBusy,
    no_answer: retry.onNoAnswer,
    voicemail: retry.onVoicemail,
  };
  const reason = (['busy', 'no_answer', 'voicemail'] as const).find((each) => each === outcome);
  if (reason === undefined || !retry.enabled || !wanted[reason]) return { outcome, again: null };
  return { outcome, again: { delayMs: retry.delayS * 1_000, reason } };
}
