// Why a call ended: what went wrong, where, whose fault it was and what to do, from its run and its events alone. Pure. The
// facts are in call-facts.ts, the findings in *-findings.ts, the words in verdicts.ts.

import type { CallEvent } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import { effectiveEvents } from '../events/event-log.ts';
import { type CallFacts, callFactsOf, type Moment, textIn } from './call-facts.ts';
import { endFinding, endOf, type Precedence, valuesOf } from './end-findings.ts';
import { eventText } from './event-text.ts';
import type { Explained, Explanation, Verdict } from './explanation.ts';
import { faultFindings } from './fault-findings.ts';
import type { Finding } from './findings.ts';
import { lineOf } from './findings.ts';
import { talkFindings } from './talk-findings.ts';
import { verdicts } from './verdicts.ts';

/** Further findings of one explanation, and events that prove a finding. */
const ALSO_MAX = 5;
const EVIDENCE_MAX = 6;
/** Characters of a value in a text: messages of services may be longer. */
const VALUE_CHARACTERS_MAX = 300;

/** Explains a run. `events`: in the order of the log, all or at least the first and the last ones. */
export function explain(run: Run, events: readonly CallEvent[]): Explanation {
  const facts = callFactsOf(run, effectiveEvents(events));
  const found = [...faultFindings(facts), ...talkFindings(facts)].sort(byImportance);
  const isFinal = run.state === 'completed';
  const { end, chosen } = isFinal ? endOfCall(facts, found) : endOfRunning(facts);
  const main = chosen ?? end;
  const shared = valuesOf(facts);
  const rest = [...(chosen === undefined ? [] : [end]), ...found].filter(
    (finding) => finding !== main && !(finding === end && isVague(end)),
  );
  const inWords = (finding: Finding): Explained => explained(facts, finding, shared);
  return { ...inWords(main), also: rest.slice(0, ALSO_MAX).map(inWords), isFinal };
}

interface CallEnd {
  /** What ended the call by its reason. */
  end: Finding;
  /** The finding that precedes it as the verdict. */
  chosen?: Finding | undefined;
}

function endOfRunning(facts: CallFacts): CallEnd {
  return { end: endOf(facts, 'in_progress') };
}

function endOfCall(facts: CallFacts, found: readonly Finding[]): CallEnd {
  const { run, ended } = facts;
  // Events that are lost leave the reason in the run's row.
  const reason = ended?.body.reason ?? textIn(run.gatheredContext, 'call_status') ?? '';
  const known = endFinding(facts, reason);
  const end = known?.finding ?? endOf(facts, 'unclear');
  const precedence = known?.precedence ?? 'ended';
  return { end, chosen: found.find((finding) => mayPrecede(finding, precedence, reason)) };
}

function mayPrecede({ weight, verdict }: Finding, precedence: Precedence, reason: string): boolean {
  if (precedence === 'none' || weight === 'past') return false;
  // An agent that ends a call in time has come so far: only a circle explains that there was no other end.
  if (reason === 'call_duration_exceeded') return weight === 'ended' || verdict === 'agent_loop';
  return weight === 'ended' || precedence === 'open';
}

/** Whether the end adds nothing to the verdict. */
function isVague({ verdict }: Finding): boolean {
  const vague: readonly string[] = [
    'unclear',
    'gateway_fault',
    'agent_speechless',
    'not_understood',
  ];
  return vague.includes(verdict) || verdict.startsWith('media_never');
}

const WEIGHTS = { ended: 0, open: 1, past: 2 } as const;
/** Faults of more weight first: among those of one weight, the earlier names are more often the cause of the later. */
const ORDER: readonly string[] = [
  'gateway_killed',
  'gateway_fault',
  'store_away',
  'no_audio_in',
  'service_key_refused',
  'service_used_up',
  'service_refused_request',
  'service_rate_limited',
  'service_stalled',
  'service_failed',
  'service_empty',
  'transfer_failed',
  'transfer_not_answered',
  'tool_failed',
  'tool_timed_out',
  'tool_pending',
  'agent_loop',
  'answer_missing',
  'slow_answers',
];

function byImportance(a: Finding, b: Finding): number {
  return (
    WEIGHTS[a.weight] - WEIGHTS[b.weight] ||
    placeIn(ORDER, a.verdict) - placeIn(ORDER, b.verdict) ||
    placeIn(JOBS, a.service?.job ?? '') - placeIn(JOBS, b.service?.job ?? '') ||
    (b.at?.seq ?? 0) - (a.at?.seq ?? 0)
  );
}

/** A conversation without a model or a voice is none; one without a recogniser has keys. */
const JOBS: readonly string[] = ['llm', 'tts', 'stt'];

function placeIn(order: readonly string[], name: string): number {
  const at = order.indexOf(name);
  return at < 0 ? order.length : at;
}

type Values = Readonly<Record<string, string | number>>;

function explained(facts: CallFacts, finding: Finding, shared: Values): Explained {
  const { verdict, at, service, tool, isAtProvider } = finding;
  const words: Verdict = verdicts[verdict];
  const values = {
    ...shared,
    known: knownOf(facts),
    ...momentValues(at),
    ...(service && { service: service.name }),
    ...finding.values,
  };
  return {
    verdict,
    party: finding.party ?? words.party,
    summary: filled(words.summary, values) ?? words.summary,
    where: {
      nodeId: at?.nodeId ?? null,
      nodeName: at?.nodeName ?? null,
      atMs: at?.atMs ?? null,
      turn: at?.turn ?? null,
      service: service ?? null,
      tool: tool ?? null,
      provider: isAtProvider === true ? facts.run.mode : null,
    },
    evidence: finding.evidence.slice(-EVIDENCE_MAX).map(evidenceOf),
    advice: words.advice.flatMap((line) => filled(line, values) ?? []),
  };
}

function momentValues(at: Moment | undefined): Values {
  if (at === undefined) return { place: '', at_ms: 0, time: 'that time' };
  const place = at.nodeName === null ? '' : ` at "${at.nodeName}"`;
  return { place, at_ms: at.atMs, time: `${new Date(at.at).toISOString().slice(0, 19)}Z` };
}

function evidenceOf({ seq, atMs, body }: Moment): Explained['evidence'][number] {
  return { seq, atMs, type: body.type, text: eventText(body) };
}

/** What an unclear end is known by. */
function knownOf(facts: CallFacts): string {
  const { run, ended, statuses, last } = facts;
  const reason = ended?.body.reason ?? textIn(run.gatheredContext, 'call_status');
  const status = statuses.at(-1)?.body.providerStatus;
  const parts = [
    `the reason is ${reason ?? 'not stored'}`,
    ...(ended === undefined ? [] : [`it was ended by the ${ended.body.by}`]),
    ...(status === undefined ? [] : [`${lineOf(facts).name} reported ${status}`]),
    ...(last === undefined ? ['no events'] : [`the last event is ${last.body.type}`]),
  ];
  return parts.join(', ');
}

/** Undefined if a value is missing. */
function filled(template: string, values: Values): string | undefined {
  let isWhole = true;
  const text = template.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) isWhole = false;
    return plain(String(value));
  });
  return isWhole ? text : undefined;
}

/** A value on one line. */
function plain(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, ' ');
  return line.length > VALUE_CHARACTERS_MAX ? `${line.slice(0, VALUE_CHARACTERS_MAX)}…` : line;
}
