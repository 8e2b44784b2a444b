// The verdict on the end of a call by its reason (model/end-reason.ts): what ended it, if nothing worse is found.

import { type CallFacts, type Moment, textIn } from './call-facts.ts';
import { variableIn } from './fault-findings.ts';
import { configuredService, counted, type Finding, lineOf, times } from './findings.ts';
import { unreachedFinding } from './unreached-findings.ts';
import type { VerdictName } from './verdicts.ts';

/** Which findings may be the verdict in place of the end itself: none, only faults that the call could not continue after,
 *  or also those that may have made the caller leave. */
export type Precedence = 'none' | 'ended' | 'open';

interface End {
  verdict(facts: CallFacts): VerdictName | Finding;
  precedence: Precedence;
}

/** A caller without a word leaves within this time, in seconds: before the agent has said what it is about. */
const EARLY_S_MAX = 10;
/** Time between the end of the agent's cut words and the end of the call, in milliseconds. */
const MID_SENTENCE_MS_MAX = 1_500;

const ends: Readonly<Record<string, End>> = {
  user_qualified: { verdict: () => 'completed', precedence: 'none' },
  user_disqualified: { verdict: () => 'completed', precedence: 'none' },
  end_call_tool: { verdict: () => 'agent_ended', precedence: 'none' },
  transfer_call: { verdict: () => 'transferred', precedence: 'none' },
  call_transferred: { verdict: () => 'transferred', precedence: 'none' },
  voicemail_detected: { verdict: voicemailOf, precedence: 'none' },
  voicemail_no_message: { verdict: () => 'answered_by_other', precedence: 'none' },
  ivr_detected: { verdict: () => 'answered_by_other', precedence: 'none' },
  screening_message_missing: { verdict: () => 'answered_by_other', precedence: 'none' },
  screening_limit: { verdict: () => 'answered_by_other', precedence: 'none' },
  screening_timeout: { verdict: () => 'answered_by_other', precedence: 'none' },
  hold_timeout: { verdict: () => 'answered_by_other', precedence: 'none' },
  number_not_in_service: { verdict: () => 'number_out_of_service', precedence: 'none' },
  user_hangup: { verdict: hangUpOf, precedence: 'open' },
  user_idle_max_duration_exceeded: { verdict: silenceOf, precedence: 'open' },
  call_duration_exceeded: { verdict: () => 'time_limit', precedence: 'open' },
  unknown: { verdict: () => 'not_understood', precedence: 'open' },
  pipeline_error: { verdict: brokenOf, precedence: 'open' },
  unexpected_error: { verdict: () => 'gateway_fault', precedence: 'ended' },
  system_connect_error: { verdict: unconnectedOf, precedence: 'ended' },
  system_cancelled: { verdict: cancelledOf, precedence: 'none' },
  busy: { verdict: (facts) => unreachedFinding(facts, 'busy'), precedence: 'ended' },
  'no-answer': { verdict: (facts) => unreachedFinding(facts, 'no-answer'), precedence: 'ended' },
  failed: { verdict: (facts) => unreachedFinding(facts, 'failed'), precedence: 'ended' },
  canceled: { verdict: (facts) => unreachedFinding(facts, 'canceled'), precedence: 'ended' },
  error: { verdict: () => 'unclear', precedence: 'ended' },
};

/** The end as a finding, and what may precede it. Undefined for a reason that is not known. */
export function endFinding(
  facts: CallFacts,
  reason: string,
): { finding: Finding; precedence: Precedence } | undefined {
  const waited = waitFinding(facts);
  if (waited !== undefined) return { finding: waited, precedence: 'none' };
  const end = Object.hasOwn(ends, reason) ? ends[reason] : undefined;
  if (end === undefined) return undefined;
  const found = end.verdict(facts);
  const finding = typeof found === 'string' ? endOf(facts, found) : found;
  return { finding, precedence: end.precedence };
}

const waits: Readonly<Record<string, VerdictName>> = {
  abandoned: 'wait_abandoned',
  timeout: 'wait_timeout',
  forwarded: 'wait_forwarded',
};

/** The end of a call that got no place. */
function waitFinding(facts: CallFacts): Finding | undefined {
  const { waited, ended } = facts;
  const verdict = waited && waits[waited.body.outcome];
  if (waited === undefined || verdict === undefined) return undefined;
  const values = { waited_s: Math.round(waited.body.waitedMs / 1_000) };
  const evidence = ended === undefined ? [waited] : [waited, ended];
  return endOf(facts, verdict, { evidence, values });
}

export function endOf(
  facts: CallFacts,
  verdict: VerdictName,
  more: Partial<Finding> = {},
): Finding {
  const { ended, last } = facts;
  const evidence = ended === undefined ? [] : [ended];
  return { verdict, weight: 'past', at: ended ?? last, evidence, ...more };
}

function hangUpOf(facts: CallFacts): VerdictName | Finding {
  const { ended, turns, keys, said, mediaStarted } = facts;
  if (ended === undefined || mediaStarted === undefined) return 'caller_hung_up';
  if (ended.body.by === 'agent') return 'said_goodbye';
  const broke = breakOf(facts);
  if (broke !== undefined) {
    const evidence = [broke, ended];
    return endOf(facts, 'media_broke_off', { at: broke, isAtProvider: true, evidence });
  }
  const lastSaid = said.at(-1);
  const isCut =
    lastSaid?.body.interrupted === true &&
    ended.atMs - lastSaid.body.endMs < MID_SENTENCE_MS_MAX &&
    (turns.at(-1)?.seq ?? 0) < lastSaid.seq;
  if (turns.length === 0 && keys === 0 && ended.body.durationS <= EARLY_S_MAX) {
    const evidence = lastSaid === undefined ? [ended] : [lastSaid, ended];
    return endOf(facts, 'caller_hung_up_early', { evidence });
  }
  if (isCut) {
    const heard = Math.round(lastSaid.body.endMs - lastSaid.body.startMs);
    const evidence = [lastSaid, ended];
    return endOf(facts, 'caller_hung_up_mid_sentence', { evidence, values: { heard_ms: heard } });
  }
  return 'caller_hung_up';
}

/** The break of the media after which nothing came; undefined if the provider has reported the end of the call. */
function breakOf({ moments, statuses }: CallFacts): Moment | undefined {
  const isOfMedia = ({ body }: Moment): boolean =>
    body.type === 'media.interrupted' || body.type === 'media.restored';
  const last = moments.findLast(isOfMedia);
  const isReported = statuses.at(-1)?.body.status === 'completed';
  return last?.body.type === 'media.interrupted' && !isReported ? last : undefined;
}

function voicemailOf({ said }: CallFacts): VerdictName {
  const isLeft = said.some(({ body }) => body.kind === 'voicemail-message');
  return isLeft ? 'message_left' : 'voicemail';
}

function silenceOf({ run }: CallFacts): VerdictName {
  return run.mode === TEXT_CHAT ? 'chat_left' : 'caller_silent';
}

const TEXT_CHAT = 'textchat';

/** A call whose agent could not go on, without a fault that says why. */
function brokenOf(facts: CallFacts): VerdictName | Finding {
  const missing = facts.faults.findLast(({ body }) => body.code === 'VARIABLE_MISSING');
  if (missing === undefined) return endOf(facts, 'agent_speechless', { at: facts.ended });
  const values = { variable: variableIn(missing.body.message) };
  const evidence = facts.ended === undefined ? [missing] : [missing, facts.ended];
  return { verdict: 'variable_missing', weight: 'ended', at: missing, values, evidence };
}

function unconnectedOf(facts: CallFacts): VerdictName | Finding {
  const { statuses, mediaStarted, ended, created, moments } = facts;
  const isAtPbx = lineOf(facts).isPbx;
  const party = isAtPbx ? ('pbx' as const) : ('carrier' as const);
  const at = { isAtProvider: true, party };
  if (mediaStarted !== undefined) {
    const lost = moments.findLast(({ body }) => body.type === 'media.interrupted') ?? ended;
    const verdict = isAtPbx ? 'pbx_restarted' : 'media_lost';
    return endOf(facts, verdict, { ...at, at: lost, evidence: evidenceOf(lost, ended) });
  }
  const answered = statuses.find(({ body }) => body.status === 'in-progress') ?? statuses.at(-1);
  const from = answered ?? created;
  const waited = Math.round(((ended?.at ?? 0) - (from?.at ?? ended?.at ?? 0)) / 1_000);
  const hasRun = answered !== undefined || facts.run.callType === 'inbound';
  const verdict = hasRun ? 'media_never_connected' : 'never_heard_of';
  return endOf(facts, verdict, { ...at, values: { waited }, evidence: evidenceOf(from, ended) });
}

function evidenceOf(...moments: readonly (Moment | undefined)[]): Moment[] {
  const known = moments.filter((moment) => moment !== undefined);
  return [...new Set(known)];
}

function cancelledOf(facts: CallFacts): VerdictName | Finding {
  const stopped = facts.faults.find(({ body }) => body.code === 'GATEWAY_STOPPED');
  if (stopped !== undefined) {
    return endOf(facts, 'gateway_stopped', {
      at: stopped,
      evidence: evidenceOf(stopped, facts.ended),
    });
  }
  if (textIn(facts.run.gatheredContext, 'hang_up_requested_by') !== undefined) {
    return 'operator_hung_up';
  }
  return facts.mediaStarted === undefined ? 'unclear' : 'gateway_drained';
}

/** The values that sentences about an end use, beside those of the finding. */
export function valuesOf(facts: CallFacts): Record<string, string | number> {
  const { run, ended, turns, created, answeredBy } = facts;
  const called = created?.body.to ?? textIn(run.initialContext, 'called_number');
  const caller = created?.body.from ?? textIn(run.initialContext, 'caller_number');
  const transferred = facts.tools.findLast(({ outcome, returned }) => {
    return outcome === 'ok' && returned?.body.result.includes('transfer_success') === true;
  });
  const misses = turns.length === 0 ? 'without a recognised word' : times(turns.length);
  return {
    line: lineOf(facts).name,
    // Of an end without a fault that says more.
    message: 'the events have no details',
    said: 'no report',
    number: called ?? 'the number',
    from: caller ?? 'of the call',
    run: run.id,
    configuration: run.configurationId ?? 'ID',
    seconds: rounded(ended?.body.durationS ?? run.durationS ?? (facts.last?.atMs ?? 0) / 1_000),
    turns: counted(turns.length, 'turn'),
    misses,
    stt: configuredService(facts, 'stt').name,
    reason: ended?.body.reason ?? run.disposition ?? 'no reason is in the events',
    answered_by: answeredBy?.body.answeredBy ?? 'reported by the provider',
    destination: destinationOf(transferred?.returned?.body.result) ?? 'the destination',
  };
}

function destinationOf(result: string | undefined): string | undefined {
  return result === undefined ? undefined : /"destination":"([^"]+)"/.exec(result)?.[1];
}

function rounded(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
