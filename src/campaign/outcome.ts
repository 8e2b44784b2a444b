// What a finished run came to for its campaign, and whether the contact is called again. Source: contract
// §9.5, §9.8.

import type { AttemptOutcome, RetrySettings } from '../model/campaign.ts';
import type { CallStatus } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import { isObject } from '../std/json.ts';
import type { OpenAttempt, Settlement } from '../store/contact-store.ts';

/** Times that our own stops may give a contact one more call. */
const INTERRUPTIONS_MAX = 3;
/** The provider has said that the line is down; the telephone may ring again after a breath. */
const INTERRUPTED_AGAIN_MS = 15_000;

const byDisposition = new Map<string | null, AttemptOutcome>([
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
  ['system_cancelled', 'canceled'],
]);
/** A conversation that broke. */
const BROKEN = new Set(['unexpected_error', 'pipeline_error', 'system_connect_error', 'error']);

/** `look-up`: the gateway stopped before anybody answered; only the provider knows. */
export function outcomeOf({ run, state }: OpenAttempt): AttemptOutcome | 'look-up' {
  if (run === undefined) return 'unknown';
  if (run.startedAt === null) return unconnected(run, state);
  if (isMachine(run)) return 'voicemail';
  return BROKEN.has(run.disposition ?? '') ? 'error' : 'answered';
}

/** Nobody's voice has reached us. */
function unconnected(run: Run, state: OpenAttempt['state']): AttemptOutcome | 'look-up' {
  if (hasTag(run, 'gateway_stopped')) return 'look-up';
  const told = byDisposition.get(run.disposition);
  if (told !== undefined) return told;
  return state === 'dialling' && run.providerCallId === null ? 'unknown' : 'error';
}

/** Of a call that our stop left behind, by what the provider says of it. Undefined: it knows of none. */
export function outcomeOfFate(fate: CallStatus | undefined): AttemptOutcome {
  if (fate === undefined) return 'unknown';
  const told = byDisposition.get(fate);
  return told === undefined || told === 'canceled' ? 'interrupted' : told;
}

/** By the provider's detection, also where its word came after the end, or by the gateway's own. */
function isMachine({ disposition, gatheredContext, logs }: Run): boolean {
  if (disposition === 'voicemail_detected') return true;
  const callbacks = logs['telephony_status_callbacks'];
  const told = Array.isArray(callbacks)
    ? callbacks.filter(isObject).map((callback) => callback['answered_by'])
    : [];
  return [gatheredContext['answered_by'], ...told].some(
    (who) => typeof who === 'string' && /^(machine|fax)/.test(who),
  );
}

function hasTag({ gatheredContext }: Run, tag: string): boolean {
  const tags = gatheredContext['call_tags'];
  return Array.isArray(tags) && tags.includes(tag);
}

export interface ContactHistory {
  /** Attempts made, this one included. */
  number: number;
  /** Those before this one that our own stops broke off. */
  interruptions: number;
}

/** What becomes of the contact. */
export function settlementOf(
  outcome: AttemptOutcome,
  { number, interruptions }: ContactHistory,
  retry: RetrySettings,
): Settlement {
  if (outcome === 'interrupted') {
    const again = { delayMs: INTERRUPTED_AGAIN_MS, reason: 'interrupted' } as const;
    return { outcome, again: interruptions < INTERRUPTIONS_MAX ? again : null };
  }
  const wanted = {
    busy: retry.onBusy,
    no_answer: retry.onNoAnswer,
    voicemail: retry.onVoicemail,
  };
  const reason = (['busy', 'no_answer', 'voicemail'] as const).find((each) => each === outcome);
  const isDue = retry.enabled && number - interruptions <= retry.maxRetries;
  if (reason === undefined || !wanted[reason] || !isDue) return { outcome, again: null };
  return { outcome, again: { delayMs: retry.delayS * 1_000, reason } };
}
