// Outcome of a call from its event log alone: gathered context, usage, disposition, duration. Used for calls that ended
// normally and for those whose process was killed. Source: contract §6.3, §8.9.

import type { CallEvent } from '../../model/call-event.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { RunChanges } from '../../model/run.ts';
import { answerOutcomeOf } from './answer-outcome.ts';

/** Characters of a disposition at most: a model may return any text, and lists are sorted and filtered by it. */
const DISPOSITION_LENGTH_MAX = 200;

/** Fields of the run that the outcome sets. */
type OutcomeField = 'disposition' | 'durationS' | 'gatheredContext' | 'usageInfo' | 'costInfo';

export interface RunOutcome extends Required<Pick<RunChanges, OutcomeField>> {
  reason: EndReason;
  /** The extracted variable `call_disposition`, else the model's reason when it ended the call, else the end
   *  reason. */
  disposition: string;
  /** Milliseconds since 1970; undefined for a log without an end. */
  endedAt: number | undefined;
}

/** Computes the outcome. `fallbackReason` is used for a log without an end. */
export function runOutcomeOf(events: readonly CallEvent[], fallbackReason: EndReason): RunOutcome {
  const end = events.find(({ body }) => body.type === 'call.ended');
  const ended = end?.body;
  const reason = ended?.type === 'call.ended' ? ended.reason : fallbackReason;
  const durationS = ended?.type === 'call.ended' ? ended.durationS : lastMediaMs(events) / 1_000;
  const extracted = extractedValues(events);
  const disposition = dispositionOf(extracted, givenDisposition(events) ?? reason);
  const error = lastFatal(events);
  const seconds = Math.round(durationS);
  return {
    reason,
    disposition,
    durationS,
    endedAt: end?.at,
    gatheredContext: {
      ...withoutSystemKeys(extracted),
      extracted_variables: extracted,
      nodes_visited: nodesVisited(events),
      call_disposition: disposition,
      mapped_call_disposition: disposition,
      call_status: reason,
      call_tags: callTags(events, { reason, disposition, extracted }),
      ...answerOutcomeOf(events),
      ...(error === undefined ? {} : { error }),
    },
    usageInfo: { ...usageOf(events), call_duration_seconds: seconds },
    costInfo: { dograh_token_usage: tokensOf(events), call_duration_seconds: seconds },
  };
}

function lastMediaMs(events: readonly CallEvent[]): number {
  return events.reduce((latest, event) => Math.max(latest, event.mediaMs), 0);
}

function extractedValues(events: readonly CallEvent[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { body } of events) {
    if (body.type === 'variables.extracted') Object.assign(values, body.values);
  }
  return values;
}

/** The gateway's own keys; a variable with such a name is under `extracted_variables` only. */
const SYSTEM_KEYS = new Set([
  'call_id',
  'call_leg',
  'previous_run_id',
  'provider',
  'call_tags',
  'nodes_visited',
  'call_status',
  'mapped_call_disposition',
  'extracted_variables',
  'answered_by',
  'answer_supervisor',
  'voicemail_message',
  'error',
  'triggered_by',
  'trigger_uuid',
  'hang_up_requested_by',
]);

function withoutSystemKeys(extracted: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(extracted).filter(([name]) => !SYSTEM_KEYS.has(name)));
}

/** Message of the last fatal fault, as a text for clients. */
function lastFatal(events: readonly CallEvent[]): string | undefined {
  const body = events.findLast((event) => event.body.type === 'fault' && event.body.fatal)?.body;
  return body?.type === 'fault' ? body.message : undefined;
}

function dispositionOf(extracted: Record<string, unknown>, otherwise: string): string {
  const own = extracted['call_disposition'];
  return typeof own === 'string' && own !== '' ? own.slice(0, DISPOSITION_LENGTH_MAX) : otherwise;
}

function givenDisposition(events: readonly CallEvent[]): string | undefined {
  const body = events.findLast((event) => event.body.type === 'disposition.given')?.body;
  return body?.type === 'disposition.given' ? body.disposition : undefined;
}

/** Names of the nodes in the order of their first entry. */
function nodesVisited(events: readonly CallEvent[]): string[] {
  const names = new Set<string>();
  for (const { body } of events) if (body.type === 'node.entered') names.add(body.nodeName);
  return [...names];
}

/** End reasons of calls whose callee was not reached. */
const NOT_CONNECTED = new Set<EndReason>(['no-answer', 'busy', 'failed', 'canceled', 'error']);

function callTags(
  events: readonly CallEvent[],
  end: { reason: EndReason; disposition: string; extracted: Record<string, unknown> },
): string[] {
  if (NOT_CONNECTED.has(end.reason)) return ['not_connected', `telephony_${end.reason}`];
  const tags = new Set([end.disposition]);
  if (events.some(({ body }) => body.type === 'user.turn')) tags.add('user_speech');
  if (end.reason === 'end_call_tool') tags.add('end_call_tool');
  if (events.some(({ body }) => body.type === 'fault' && body.code === 'GATEWAY_STOPPED')) {
    tags.add('gateway_stopped');
  }
  for (const [name, value] of Object.entries(end.extracted)) {
    if (name.startsWith('tag_') && typeof value === 'string') tags.add(value);
  }
  return [...tags];
}

interface Tokens {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

function usageOf(events: readonly CallEvent[]): Record<string, unknown> {
  const llm: Record<string, Tokens> = {};
  const tts: Record<string, number> = {};
  const stt: Record<string, number> = {};
  for (const { body } of events) {
    if (body.type === 'model.usage') addTokens(llm, body);
    if (body.type === 'speech.usage') add(tts, body, body.characters);
    if (body.type === 'recognition.usage') add(stt, body, body.seconds);
  }
  return { llm, tts, stt };
}

/** Tokens of the language models, under the name that the contract uses for the reference platform's credits. */
function tokensOf(events: readonly CallEvent[]): number {
  return events.reduce(
    (sum, { body }) =>
      body.type === 'model.usage' ? sum + body.promptTokens + body.completionTokens : sum,
    0,
  );
}

function serviceKey(body: { service: string; model: string }): string {
  return `${body.service}|||${body.model}`;
}

function add(
  sums: Record<string, number>,
  body: { service: string; model: string },
  amount: number,
): void {
  const key = serviceKey(body);
  // Rounded to a thousandth: corrections leave binary fractions.
  sums[key] = Math.round(((sums[key] ?? 0) + amount) * 1_000) / 1_000;
}

function addTokens(
  sums: Record<string, Tokens>,
  body: {
    service: string;
    model: string;
    promptTokens: number;
    completionTokens: number;
    cachedTokens: number;
    cacheWriteTokens?: number | undefined;
  },
): void {
  const key = serviceKey(body);
  const sum = sums[key] ?? {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  sum.prompt_tokens += body.promptTokens;
  sum.completion_tokens += body.completionTokens;
  sum.total_tokens += body.promptTokens + body.completionTokens;
  sum.cache_read_input_tokens += body.cachedTokens;
  sum.cache_creation_input_tokens += body.cacheWriteTokens ?? 0;
  sums[key] = sum;
}
