// Summary of a run from its event log, at its end. What it counts as slow or unanswered are the constants below.

import type { CallEvent } from '../../model/call-event.ts';
import { type EndReason, faultReasons } from '../../model/end-reason.ts';
import type { Run } from '../../model/run.ts';
import {
  type AttentionReason,
  attentionReason,
  type RunSummary,
  searchWords,
} from '../../model/run-summary.ts';
import type { RunOutcome } from './run-outcome.ts';

/** Answers are slow from this median, or from this longest wait on: callers say "hello?" after some two seconds. */
const SLOW_MEDIAN_MS = 2_000;
const SLOW_LONGEST_MS = 5_000;
/** Wait without an answer at the end of a call that counts as unanswered. A caller who hangs up sooner did not wait. */
const UNANSWERED_MS = 4_000;
/** Nesting of gathered values whose words are stored. */
const DEPTH_MAX = 3;

type SummarizedRun = Pick<Run, 'name' | 'mode' | 'initialContext'>;
type Outcome = Pick<RunOutcome, 'reason' | 'disposition' | 'durationS' | 'gatheredContext'>;

/** Computes the summary. `events` are those that count (`effectiveEvents`). */
export function runSummaryOf(
  events: readonly CallEvent[],
  run: SummarizedRun,
  outcome: Outcome,
): RunSummary {
  const answers = answersOf(events);
  const faults = events.filter(({ body }) => body.type === 'fault').length;
  const holds: Record<AttentionReason, boolean> = {
    technical_end: isTechnical(outcome.reason),
    faults: faults > 0,
    unanswered_caller: run.mode !== 'textchat' && isUnanswered(events),
    slow_answers:
      answers !== null && (answers.p50Ms >= SLOW_MEDIAN_MS || answers.maxMs >= SLOW_LONGEST_MS),
    media_interrupted: events.some(({ body }) => body.type === 'media.interrupted'),
  };
  const end = events.find(({ body }) => body.type === 'call.ended')?.body;
  return {
    attention: attentionReason.options.filter((reason) => holds[reason]),
    faults,
    answers,
    endedBy: end?.type === 'call.ended' ? end.by : null,
    words: searchWords(textsOf(events, run, outcome)),
  };
}

/** `busy`, `no-answer` and `canceled` are ordinary ends of a dial. */
function isTechnical(reason: EndReason): boolean {
  return faultReasons.has(reason) || reason === 'failed' || reason === 'error';
}

function answersOf(events: readonly CallEvent[]): RunSummary['answers'] {
  const waits = events
    .flatMap(({ body }) => (body.type === 'turn.latency' ? [Math.round(body.parts.totalMs)] : []))
    .sort((one, other) => one - other);
  const at = (share: number): number =>
    waits[Math.max(0, Math.ceil(waits.length * share) - 1)] ?? 0;
  return waits.length === 0 ? null : { p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}

/** Whether the call ended while the caller waited for the agent: since the caller's last words, or since the beginning
 *  of the media if the agent never spoke. */
function isUnanswered(events: readonly CallEvent[]): boolean {
  let waitsSinceMs: number | undefined;
  for (const { mediaMs, body } of events) {
    if (body.type === 'media.started') waitsSinceMs ??= mediaMs;
    if (body.type === 'user.turn') waitsSinceMs = body.endMs;
    if (body.type === 'agent.said' && body.text !== '') {
      // What was said before the caller's words is reported after them if they interrupted it.
      if (waitsSinceMs !== undefined && body.endMs > waitsSinceMs) waitsSinceMs = undefined;
    }
    if (body.type === 'call.ended') {
      return waitsSinceMs !== undefined && mediaMs - waitsSinceMs >= UNANSWERED_MS;
    }
  }
  return false;
}

function* textsOf(
  events: readonly CallEvent[],
  { name, initialContext }: SummarizedRun,
  { disposition, gatheredContext }: Outcome,
): Generator<string> {
  yield name;
  yield disposition;
  for (const key of ['caller_number', 'called_number', 'phone_number']) {
    yield* stringsIn(initialContext[key], 0);
  }
  yield* stringsIn(gatheredContext['extracted_variables'], 0);
  for (const { body } of events) {
    if (body.type === 'user.turn' || body.type === 'agent.said') yield body.text;
  }
}

function* stringsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') yield String(value);
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX) {
    for (const each of Object.values(value)) yield* stringsIn(each, depth + 1);
  }
}
