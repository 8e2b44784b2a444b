// Findings from the conversation itself: failed tools and transfers, circles in the graph, answers that were slow or never
// came, and a process that went on with the call of another.

import type { TurnLatency } from '../../model/call-event.ts';
import type { CallFacts, Moment, MomentOf, ToolUse } from './call-facts.ts';
import type { ServiceRef } from './explanation.ts';
import { OWN_WORDS } from './fault-findings.ts';
import { configuredService, type Finding, jobText, times } from './findings.ts';

/** Entries of one node, without a word of the caller in between, that are a circle. The engine stops at 26 moves, and at six
 *  answers of a model. */
const SAME_ENTRIES_MIN = 3;
/** Entries of one node in a whole call, more than the caller's turns explain. */
const ENTRIES_MIN = 8;
/** Shortest wait for an answer that makes callers leave, and that is slow. */
const WAITED_MS_MIN = 5_000;
const SLOW_MS_MIN = 4_000;
/** Turns of the caller after a fault, after which it is not the reason that they left. */
const TURNS_AFTER_MAX = 2;

export function talkFindings(facts: CallFacts): Finding[] {
  const found = [
    ...toolFindings(facts),
    loopFinding(facts),
    slowFinding(facts),
    missingAnswer(facts),
    resumedFinding(facts),
  ];
  return found.filter((finding) => finding !== undefined);
}

/** One finding for each tool that failed. */
function toolFindings(facts: CallFacts): Finding[] {
  const names = [...new Set(facts.tools.map(({ name }) => name))];
  return names.flatMap((name) => {
    const uses = facts.tools.filter((use) => use.name === name);
    const refused = uses.filter(isRefused);
    const bad = uses.filter(({ outcome }) => outcome === 'failed' || outcome === 'late');
    const [first] = bad;
    return [
      ...(first === undefined ? [] : [toolFinding(facts, uses, bad, first)]),
      ...refused.slice(0, 1).map((use) => refusedFinding(use, refused)),
    ];
  });
}

/** Whether the tool was not asked because the model's arguments were wrong. */
function isRefused({ outcome, problem }: ToolUse): boolean {
  return outcome === 'not-called' && problem.startsWith('The arguments are invalid');
}

function refusedFinding({ name, called, problem }: ToolUse, all: readonly ToolUse[]): Finding {
  const values = { tool: name, problem, times: times(all.length) };
  const evidence = all.map((use) => use.returned ?? use.called);
  return {
    verdict: 'tool_arguments_wrong',
    weight: 'past',
    at: called,
    tool: name,
    values,
    evidence,
  };
}

function toolFinding(
  facts: CallFacts,
  uses: readonly ToolUse[],
  bad: readonly ToolUse[],
  first: ToolUse,
): Finding {
  const last = bad.at(-1) ?? first;
  const hasWorked = uses.some(({ called, outcome }) => {
    return outcome === 'ok' && called.seq > last.called.seq;
  });
  const turnsAfter = (facts.last?.turn ?? 0) - last.called.turn;
  const isOpen = !hasWorked && turnsAfter <= TURNS_AFTER_MAX;
  const transfer = transferOf(last);
  const waitedMs = (last.returned?.at ?? last.called.at) - last.called.at;
  return {
    verdict: transfer?.verdict ?? (last.outcome === 'late' ? 'tool_timed_out' : 'tool_failed'),
    weight: isOpen ? 'open' : 'past',
    at: last.called,
    tool: last.name,
    values: {
      tool: last.name,
      problem: last.problem,
      times: times(bad.length),
      waited_ms: Math.round(waitedMs),
      ...(transfer && { destination: transfer.destination }),
    },
    ...(transfer && { isAtProvider: true }),
    evidence: bad.flatMap(({ called, returned }) => (returned ? [called, returned] : [called])),
  };
}

/** Reasons of a failed transfer that are the destination's. */
const NOBODY = /^(busy|no_answer|answering_machine|declined)\b/;

function transferOf({ problem, called }: ToolUse) {
  if (!TRANSFER.test(problem)) return undefined;
  const { destination } = called.body.arguments;
  return {
    verdict: NOBODY.test(problem)
      ? ('transfer_not_answered' as const)
      : ('transfer_failed' as const),
    destination:
      typeof destination === 'string' ? destination : `the destination of ${called.body.name}`,
  };
}

/** A reason of a failed transfer (model/engine-input.ts), then its text. */
const TRANSFER =
  /^(no_destination|provider_\w+|declined|busy|no_answer|answering_machine|call_failed|timeout|execution_error|interrupted|resolver_\w+): /;

function loopFinding({ nodes, turns, last }: CallFacts): Finding | undefined {
  const inOneTurn = mostOf(nodes, ({ nodeId, turn }) => `${turn} ${nodeId}`);
  const inAll = mostOf(nodes, ({ nodeId }) => String(nodeId));
  const circle =
    inOneTurn.length >= SAME_ENTRIES_MIN
      ? { entries: inOneTurn, between: ' without a word of the caller in between' }
      : { entries: inAll, between: ` in ${turns.length} turns of the caller` };
  const { entries, between } = circle;
  const [first] = entries;
  const isCircle =
    entries === inOneTurn || (entries.length >= ENTRIES_MIN && isLate(entries, last));
  if (first === undefined || !isCircle) return undefined;
  return {
    verdict: 'agent_loop',
    weight: 'open',
    at: first,
    values: { loop_node: first.body.nodeName, entries: entries.length, between },
    evidence: entries,
  };
}

/** Whether the circle lasted to the end of the call. */
function isLate(entries: readonly Moment[], last: Moment | undefined): boolean {
  return (last?.turn ?? 0) - (entries.at(-1)?.turn ?? 0) <= TURNS_AFTER_MAX;
}

/** The largest group of equal keys. */
function mostOf<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].reduce<readonly T[]>(
    (most, group) => (group.length > most.length ? group : most),
    [],
  );
}

/** The parts of an answer's latency that somebody can be asked about. */
const PARTS = [
  ['modelMs', 'llm'],
  ['speechMs', 'tts'],
  ['recognitionMs', 'stt'],
  ['gatewayMs', undefined],
] as const satisfies readonly (readonly [keyof TurnLatency, ServiceRef['job'] | undefined])[];

function slowFinding(facts: CallFacts): Finding | undefined {
  const slow = facts.latencies.filter(({ body }) => body.parts.totalMs >= SLOW_MS_MIN);
  const worst = slow.reduce<MomentOf<'turn.latency'> | undefined>(
    (most, one) => (one.body.parts.totalMs > (most?.body.parts.totalMs ?? 0) ? one : most),
    undefined,
  );
  if (worst === undefined) return undefined;
  const { parts } = worst.body;
  const [name, job] = PARTS.reduce<(typeof PARTS)[number]>(
    (most, one) => (parts[one[0]] > parts[most[0]] ? one : most),
    PARTS[0],
  );
  const service = job && configuredService(facts, job);
  const { latencies } = facts;
  const isLast = latencies.at(-1)?.seq === worst.seq;
  return {
    verdict: service === undefined ? 'slow_gateway' : 'slow_answers',
    weight: isLast ? 'open' : 'past',
    at: worst,
    ...(service && { service }),
    values: {
      waited_ms: Math.round(parts.totalMs),
      part_ms: Math.round(parts[name]),
      ...(service && { what: jobText(service.job) }),
    },
    evidence: slow,
  };
}

/** The caller's last words were not answered before they left. */
function missingAnswer(facts: CallFacts): Finding | undefined {
  const turn = facts.turns.at(-1);
  const { ended } = facts;
  if (turn === undefined || ended === undefined) return undefined;
  const isAnswered = facts.said.some(({ seq, body }) => seq > turn.seq && OWN_WORDS.has(body.kind));
  const pending = facts.tools.findLast(({ outcome }) => outcome === 'pending');
  const sinceMs = pending?.called.atMs ?? turn.atMs;
  const waitedMs = ended.atMs - sinceMs;
  if (waitedMs < WAITED_MS_MIN) return undefined;
  if (pending !== undefined) {
    const { name: tool, called } = pending;
    const values = { tool, waited_ms: waitedMs };
    return {
      verdict: 'tool_pending',
      weight: 'open',
      at: called,
      tool,
      values,
      evidence: [called],
    };
  }
  if (isAnswered) return undefined;
  const service = configuredService(facts, 'llm');
  // Without a model, the engine's answer is there at once.
  if (service.name === SCRIPTED) return undefined;
  return {
    verdict: 'answer_missing',
    weight: 'open',
    at: turn,
    service,
    values: { waited_ms: waitedMs, what: jobText('llm') },
    evidence: [turn, ...facts.modelUses.filter(({ seq }) => seq > turn.seq)],
  };
}

/** What the run's row says of a call without a language model. */
export const SCRIPTED = 'scripted';

function resumedFinding({ moments }: CallFacts): Finding | undefined {
  const resumed = moments.filter(
    (moment): moment is MomentOf<'call.resumed'> => moment.body.type === 'call.resumed',
  );
  const [first] = resumed;
  if (first === undefined) return undefined;
  const values = { waited_ms: Math.round(first.body.gapMs) };
  return { verdict: 'call_resumed', weight: 'past', at: first, values, evidence: resumed };
}
