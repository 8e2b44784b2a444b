// Hang-up causes in both directions: how a call ended at the PBX, by its cause and the events of its dialling; and
// the reasons for our own hang-ups. Pure.
// Source: asterisk §4.2 (measured); causes as in ITU-T Q.850.

import type { TerminalStatus } from '../../../model/provider.ts';
import type { RejectReason } from '../../provider/terms.ts';

/** State of a channel that we dialled, or of one that rang. */
export interface CallFacts {
  answered: boolean;
  /** It rang, or there was early media. */
  progressed: boolean;
  /** Whether it was dialled: a channel may be created and never dialled. */
  dialled: boolean;
  /** The last dial status, empty if there was none: BUSY, CONGESTION, NOANSWER, ... */
  dialStatus: string;
  /** We requested its end before the answer. */
  cancelled: boolean;
}

export interface HangupOutcome {
  status: TerminalStatus;
  /** In the PBX's words, for the run: `busy (cause 17)`. */
  providerStatus: string;
}

/** The `reason` of a DELETE that rejects a call. Source: asterisk §4.1. */
export const rejectReasons: Readonly<Record<RejectReason, string>> = {
  'not-configured': 'unallocated',
  'no-workflow': 'congestion',
  signature: 'rejected',
  busy: 'busy',
  draining: 'congestion',
  error: 'failure',
};

/** Hang-up reasons for a call with early media, because the far end's tones would go on. */
export const unreachableReason: Readonly<Record<string, string>> = {
  BUSY: 'busy',
  CONGESTION: 'congestion',
};

/** Causes for busy, unanswered and refused calls; 16 is a normal end. Every other cause is a failure. */
const statusByCause = new Map<number, TerminalStatus>([
  [16, 'no-answer'], // Ended normally before the answer.
  [17, 'busy'],
  [18, 'no-answer'],
  [19, 'no-answer'],
  [20, 'no-answer'],
  [21, 'failed'],
]);

const statusByDial: Readonly<Record<string, TerminalStatus>> = {
  BUSY: 'busy',
  NOANSWER: 'no-answer',
  CANCEL: 'canceled',
};

/** `cause` 0 means none. A dial status alone is misleading: Asterisk reports NOANSWER for a rejection. */
export function hangupOutcomeOf(facts: CallFacts, cause: number): HangupOutcome {
  return { status: statusOf(facts, cause), providerStatus: wordsOf(facts, cause) };
}

function statusOf(facts: CallFacts, cause: number): TerminalStatus {
  if (facts.answered) return 'completed';
  if (facts.cancelled) return 'canceled';
  if (cause === 0) return statusByDial[facts.dialStatus] ?? 'failed';
  if (cause === 16 && !facts.dialled) return 'failed';
  // The ring time is over without a sign of ringing: the phone was not reached.
  if (cause === 19 && !facts.progressed) return 'failed';
  return statusByCause.get(cause) ?? 'failed';
}

const words: Readonly<Record<number, string>> = {
  1: 'unallocated number',
  3: 'no route',
  16: 'normal clearing',
  17: 'busy',
  18: 'no user responding',
  19: 'no answer',
  20: 'subscriber absent',
  21: 'rejected',
  26: 'answered elsewhere',
  27: 'destination out of order',
  28: 'invalid number',
  34: 'congestion',
  38: 'network out of order',
  41: 'temporary failure',
  42: 'switch congestion',
  31: 'normal',
  32: 'normal',
};

function wordsOf({ dialStatus, progressed, dialled }: CallFacts, cause: number): string {
  if (cause === 0) return dialStatus === '' ? 'unknown' : dialStatus.toLowerCase();
  if (cause === 16 && !dialled) return 'no such destination (cause 16)';
  if (cause === 19 && !progressed) return 'unreachable (cause 19)';
  return `${words[cause] ?? 'ended'} (cause ${cause})`;
}
