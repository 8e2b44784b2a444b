// Hang-up causes in both directions: how a call ended, by its cause and the events of its dialling; and the reasons for
// our own hang-ups. Pure. Source: asterisk §4.2 (measured); causes as in ITU-T Q.850.

import type { TerminalStatus } from '../../../model/provider.ts';
import type { RejectReason } from '../../provider/terms.ts';

/** State of a channel when it ended. */
export interface CallFacts {
  answered: boolean;
  /** Whether it rang, or had early media. */
  progressed: boolean;
  /** Whether it was dialled: a channel may be created and never dialled. */
  dialled: boolean;
  /** The last dial status: BUSY, CONGESTION, NOANSWER, ...; empty if there was none. */
  dialStatus: string;
  /** Whether we requested its end before the answer. */
  cancelled: boolean;
  /** Whether we refused it before the answer, for the cause that it has. */
  refused: boolean;
  /** Whether the call is inbound. */
  inbound: boolean;
  /** Whether the far end ended it, not our ring time. */
  endedByFarEnd: boolean;
  /** The far end's SIP status; 0 if it has none. */
  sipStatus: number;
}

/** Facts of a call that is not dialled yet. */
export const UNDIALLED: Readonly<CallFacts> = {
  answered: false,
  progressed: false,
  dialled: true,
  dialStatus: '',
  cancelled: false,
  refused: false,
  inbound: false,
  endedByFarEnd: false,
  sipStatus: 0,
};

export interface HangupOutcome {
  status: TerminalStatus;
  /** Hang-up cause for the run, as the PBX names it: `busy (cause 17)`. */
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

/** The outcome by the facts and the hang-up cause; 0 is no cause. A dial status alone is misleading: Asterisk reports
 *  NOANSWER for a rejection. */
export function hangupOutcomeOf(facts: CallFacts, cause: number): HangupOutcome {
  return { status: statusOf(facts, cause), providerStatus: wordsOf(facts, cause) };
}

function statusOf(facts: CallFacts, cause: number): TerminalStatus {
  if (facts.answered) return 'completed';
  if (facts.refused) return 'failed';
  if (facts.cancelled) return 'canceled';
  // A caller who gives up: a CANCEL has cause 127 over SIP, and other technologies have others.
  if (facts.inbound) return 'no-answer';
  if (cause === 0) return statusByDial[facts.dialStatus] ?? 'failed';
  if (cause === 16 && !facts.dialled) return 'failed';
  return statusByCause.get(cause) ?? 'failed';
}

/** Whether nobody replied (408), or the ring time ended without ringing: a dead trunk looks like this, and which of the
 *  two comes first depends on the ring time. The status is that of a call without an answer, only the words differ. A
 *  telephone that is switched off counts as reached: its provider replies with 480. */
function isUnreached(facts: CallFacts, cause: number): boolean {
  if (facts.progressed || (cause !== 18 && cause !== 19)) return false;
  return facts.sipStatus === 408 || cause === 18 || !facts.endedByFarEnd;
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
  58: 'no codec in common',
  31: 'normal',
  32: 'normal',
};

function wordsOf(facts: CallFacts, cause: number): string {
  const { dialStatus, dialled, inbound, answered, cancelled, refused, sipStatus } = facts;
  const isGivenUp = inbound && !answered && !cancelled && !refused;
  if (cause === 0 && !isGivenUp) return dialStatus === '' ? 'unknown' : dialStatus.toLowerCase();
  const sip = sipStatus === 0 ? '' : `, SIP ${sipStatus}`;
  const codes = `(cause ${cause}${sip})`;
  if (isGivenUp) return `given up by the caller ${codes}`;
  if (cause === 16 && !dialled) return `no such destination ${codes}`;
  if (!answered && !cancelled && isUnreached(facts, cause)) return `unreachable ${codes}`;
  return `${words[cause] ?? 'ended'} ${codes}`;
}
