// One review of a finished call by a language model. The call is split by node, from its event log; each part is
// reviewed separately, and the model's reply is parsed leniently. Stores nothing.
// Source: contract §6.3 (QAResult), §8.10.

import { createHash } from 'node:crypto';
import { codeOf } from '../../../errors/gateway-error.ts';
import type { CallEvent } from '../../../model/call-event.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { LanguageModel, LlmResponse } from '../../../speech/llm/llm.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import { wordCount } from '../../../std/text/unspaced-text.ts';
import type { ReviewRecord } from '../../../store/deliveries/post-call-jobs.ts';
import type { ReviewNodeSettings } from '../../../workflow/graph/post-call-nodes.ts';
import { REVIEW_PROMPT } from '../../../workflow/nodes/qa-node.ts';
import { render } from '../../../workflow/variables/template.ts';
import { type ReviewModelDeps, reviewModel } from './review-model.ts';

/** Parts of one call that are reviewed at most; each costs a request. */
const PARTS_MAX = 10;
const SUMMARY_CHARACTERS_MAX = 4_000;
const TOKENS_MAX = 2_000;
/** Characters of one part: an hour of talk. A longer part loses its middle. */
const TRANSCRIPT_CHARACTERS_MAX = 60_000;
/** Characters of the conversation before a part. */
const BEFORE_CHARACTERS_MAX = 4_000;
const TAGS_MAX = 50;
const TAG_CHARACTERS_MAX = 200;
const TEXT_CHARACTERS_MAX = 4_000;
const RAW_CHARACTERS_MAX = 20_000;

interface ReviewedCall {
  run: Run;
  definition: WorkflowDefinition;
  /** Workflow configurations of the version that ran. */
  configurations: Record<string, unknown>;
  events: readonly CallEvent[];
}

interface ReviewTry {
  /** Whether this is the last attempt. A failure then becomes the result instead of an error that leads to a
   *  repetition, unless the process is stopping. */
  isLast: boolean;
  /** Wall clock, milliseconds since 1970. */
  now: number;
  signal: AbortSignal;
}

type NodeResult = { node_name: string } & (
  | ReviewReply
  | { tags: []; summary: ''; score: null; error: string }
);

export function annotationKey({ nodeId }: ReviewNodeSettings): string {
  return `qa_${nodeId}`;
}

/** Reviews a call. Throws the model's error, unless this is the last attempt. */
export async function reviewCall(
  deps: ReviewModelDeps,
  review: ReviewNodeSettings,
  call: ReviewedCall,
  attempt: ReviewTry,
): Promise<ReviewRecord> {
  const key = annotationKey(review);
  const bare = (annotation: Record<string, unknown>): ReviewRecord => {
    return { key, annotation, tags: [], usage: undefined };
  };
  const reason = reasonToSkip(review, call.run);
  if (reason !== undefined) return bare({ skipped: true, reason });
  const parts = partsOf(call.events);
  if (parts.length === 0) return bare({ node_results: {}, model: null, error: 'no_transcript' });
  const { organizationId } = call.run;
  const { configurations } = call;
  const opened = await reviewModel(deps, review, { organizationId, configurations });
  if (opened === undefined) return bare({ skipped: true, reason: 'no_model' });
  const { model } = opened;
  try {
    const reviewer = new Reviewer(model, review, call, attempt);
    for (const part of parts.slice(0, PARTS_MAX)) await reviewer.look(part);
    return { key, ...reviewer.result() };
  } finally {
    await opened.close();
  }
}

/** The result of a review that never finished. */
export function failedReview(review: ReviewNodeSettings, error: string): ReviewRecord {
  const annotation = { node_results: {}, model: null, error };
  return { key: annotationKey(review), annotation, tags: [], usage: undefined };
}

/** Why the review is skipped; undefined if it is due. Always the same for the same run and node: sampling uses a
 *  hash. */
function reasonToSkip(review: ReviewNodeSettings, run: Run): string | undefined {
  if ((run.durationS ?? 0) < review.durationMinS) return 'call_too_short';
  if (!review.reviewsVoicemail && isVoicemail(run)) return 'voicemail';
  const digest = createHash('sha256').update(`${run.id}:${review.nodeId}`).digest();
  const percent = (digest.readUInt32BE(0) / 2 ** 32) * 100;
  return percent < review.sampleRate ? undefined : 'not_sampled';
}

function isVoicemail({ gatheredContext, disposition }: Run): boolean {
  const status = gatheredContext['call_status'];
  const answeredBy = gatheredContext['answered_by'];
  const isMachine = typeof answeredBy === 'string' && answeredBy.startsWith('machine');
  return isMachine || [status, disposition].includes('voicemail_detected');
}

/** Whether the process is stopping, in which case another process may review the call. False at a deadline. */
function isStopped({ aborted, reason }: AbortSignal): boolean {
  return aborted && codeOf(reason) !== 'TIMED_OUT';
}

class Reviewer {
  readonly #model: LanguageModel;
  readonly #review: ReviewNodeSettings;
  readonly #call: ReviewedCall;
  readonly #attempt: ReviewTry;
  readonly #results: Record<string, NodeResult> = {};
  readonly #tags: string[] = [];
  readonly #usage = { prompt: 0, completion: 0, cached: 0 };

  constructor(
    model: LanguageModel,
    review: ReviewNodeSettings,
    call: ReviewedCall,
    attempt: ReviewTry,
  ) {
    this.#model = model;
    this.#review = review;
    this.#call = call;
    this.#attempt = attempt;
  }

  /** Reviews one part. Throws the model's error, unless this is the last attempt. */
  async look(part: CallPart): Promise<void> {
    const key = part.nodeId ?? 'whole_call';
    const named = { node_name: part.nodeName };
    try {
      const answer = await this.#ask(part);
      const reply = readReview(answer.text);
      this.#tags.push(...tagNames(reply.tags));
      this.#results[key] = { ...named, ...reply };
    } catch (error) {
      const { isLast, signal } = this.#attempt;
      if (!isLast || isStopped(signal)) throw error;
      const code = codeOf(error) ?? 'UNEXPECTED';
      this.#results[key] = { ...named, tags: [], summary: '', score: null, error: code };
    }
  }

  result(): Omit<ReviewRecord, 'key'> {
    const { prompt, completion, cached } = this.#usage;
    const tokens = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: 0,
    };
    const { model } = this.#model;
    return {
      annotation: { node_results: this.#results, model, token_usage: tokens },
      tags: [...new Set(this.#tags)],
      usage: { key: `QAAnalysis|||${model}`, tokens },
    };
  }

  async #ask(part: CallPart): Promise<LlmResponse> {
    const answer = await this.#model.respond(
      {
        messages: [
          { role: 'system', content: this.#systemPrompt(part) },
          { role: 'user', content: `Transcript:\n${part.transcript}` },
        ],
        tools: [],
        temperature: undefined,
        tokensMax: TOKENS_MAX,
        json: true,
      },
      { onText: () => undefined }, // The answer is parsed when it is complete.
      this.#attempt.signal,
    );
    this.#usage.prompt += answer.usage.promptTokens;
    this.#usage.completion += answer.usage.completionTokens;
    this.#usage.cached += answer.usage.cachedTokens;
    return answer;
  }

  #systemPrompt(part: CallPart): string {
    const context = {
      node_summary: this.#taskOf(part),
      previous_conversation_summary: part.before,
      transcript: part.transcript,
      metrics: JSON.stringify(part.metrics),
    };
    return render(this.#review.systemPrompt ?? REVIEW_PROMPT, context, { now: this.#attempt.now });
  }

  /** The author's instructions for that node. */
  #taskOf({ nodeId }: CallPart): string {
    const node = this.#call.definition.nodes.find(({ id }) => id === nodeId);
    const prompt = node?.data['prompt'];
    return typeof prompt === 'string' ? prompt.slice(0, SUMMARY_CHARACTERS_MAX) : '';
  }
}

interface CallPart {
  /** Null for a call whose turns have no node. */
  nodeId: string | null;
  nodeName: string;
  transcript: string;
  /** The end of the conversation before the part. */
  before: string;
  metrics: Record<string, number>;
}

interface Turn {
  role: 'user' | 'assistant';
  text: string;
  nodeId: string | null;
  nodeName: string | null;
  startMs: number;
  endMs: number;
}

/** Splits a call into parts, in the order in which their nodes were first used; several visits of one node are one
 *  part. Empty if the call has no speech. */
export function partsOf(events: readonly CallEvent[]): CallPart[] {
  const turns = turnsOf(events);
  const isByNode = turns.some(({ nodeId }) => nodeId !== null);
  const parts = new Map<string | null, Turn[]>();
  for (const turn of turns) {
    const key = isByNode ? (turn.nodeId ?? lastKey(parts)) : null;
    const part = parts.get(key);
    if (part === undefined) parts.set(key, [turn]);
    else part.push(turn);
  }
  const call = callMetrics(events);
  let before = '';
  return [...parts].map(([nodeId, own]) => {
    const transcript = textOf(own);
    const part = {
      nodeId,
      nodeName: own.find(({ nodeName }) => nodeName !== null)?.nodeName ?? 'whole_call',
      transcript: shortened(transcript),
      before: before.slice(-BEFORE_CHARACTERS_MAX),
      metrics: { ...metricsOf(own), ...call },
    };
    before += `${transcript}\n`;
    return part;
  });
}

function lastKey(parts: ReadonlyMap<string | null, unknown>): string | null {
  return [...parts.keys()].at(-1) ?? null;
}

function turnsOf(events: readonly CallEvent[]): Turn[] {
  const turns: Turn[] = [];
  for (const { body } of events) {
    if (body.type !== 'user.turn' && body.type !== 'agent.said') continue;
    if (body.text.trim() === '') continue;
    const { nodeId, nodeName, startMs, endMs } = body;
    const text = body.text.replace(/\s+/g, ' ').trim();
    const role = body.type === 'user.turn' ? 'user' : 'assistant';
    turns.push({ role, text, nodeId, nodeName, startMs, endMs });
  }
  return turns.sort((one, other) => one.startMs - other.startMs);
}

function textOf(turns: readonly Turn[]): string {
  return turns.map(({ role, text }) => `${role}: ${text}`).join('\n');
}

function shortened(text: string): string {
  if (text.length <= TRANSCRIPT_CHARACTERS_MAX) return text;
  const half = TRANSCRIPT_CHARACTERS_MAX / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
}

function metricsOf(turns: readonly Turn[]): Record<string, number> {
  const of = (role: Turn['role']) => turns.filter((turn) => turn.role === role);
  const seconds = (some: readonly Turn[]) =>
    tenths(some.reduce((sum, { startMs, endMs }) => sum + Math.max(0, endMs - startMs), 0) / 1_000);
  const words = (some: readonly Turn[]) => some.reduce((sum, { text }) => sum + wordCount(text), 0);
  const [user, assistant] = [of('user'), of('assistant')];
  return {
    user_turns: user.length,
    assistant_turns: assistant.length,
    user_words: words(user),
    assistant_words: words(assistant),
    user_speech_seconds: seconds(user),
    assistant_speech_seconds: seconds(assistant),
  };
}

function callMetrics(events: readonly CallEvent[]): Record<string, number> {
  const delays: number[] = [];
  let interruptions = 0;
  let durationS = 0;
  for (const { body } of events) {
    if (body.type === 'turn.latency') delays.push(body.parts.totalMs / 1_000);
    if (body.type === 'interruption') interruptions += 1;
    if (body.type === 'call.ended') durationS = body.durationS;
  }
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / Math.max(1, delays.length);
  return {
    call_duration_seconds: Math.round(durationS),
    call_interruptions: interruptions,
    call_response_seconds_average: tenths(mean),
    call_response_seconds_max: tenths(Math.max(0, ...delays)),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

type ReviewTag = string | { tag: string; reason: string };

interface ReviewReply {
  tags: ReviewTag[];
  summary: string;
  score: number | null;
  overall_sentiment: string | null;
  raw_response: string;
}

/** Parses a review. Never throws: any text gives a result. */
export function readReview(text: string): ReviewReply {
  const fields = objectIn(text);
  const { tags, summary, call_quality_score: score, overall_sentiment: sentiment } = fields;
  return {
    tags: Array.isArray(tags) ? tags.flatMap(tagIn).slice(0, TAGS_MAX) : [],
    summary: typeof summary === 'string' ? summary.slice(0, TEXT_CHARACTERS_MAX) : '',
    score: numberIn(score),
    overall_sentiment:
      typeof sentiment === 'string' ? sentiment.slice(0, TAG_CHARACTERS_MAX) : null,
    raw_response: text.slice(0, RAW_CHARACTERS_MAX),
  };
}

/** Names of the tags, without duplicates. */
export function tagNames(tags: readonly ReviewTag[]): string[] {
  return [...new Set(tags.map((tag) => (typeof tag === 'string' ? tag : tag.tag)))];
}

/** The outermost JSON object in a text; if the text is a list, its first object. */
function objectIn(text: string): Record<string, unknown> {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start) return {};
  const value = parseJson(text.slice(start, end + 1)) ?? parseJson(text.trim());
  if (Array.isArray(value)) return value.find(isObject) ?? {};
  return isObject(value) ? value : {};
}

function tagIn(value: unknown): ReviewTag[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [shortTag(value)];
  if (!isObject(value) || typeof value['tag'] !== 'string' || value['tag'].trim() === '') return [];
  const { reason } = value;
  return [
    {
      tag: shortTag(value['tag']),
      reason: typeof reason === 'string' ? reason.slice(0, TEXT_CHARACTERS_MAX) : '',
    },
  ];
}

function shortTag(tag: string): string {
  return tag.trim().slice(0, TAG_CHARACTERS_MAX);
}

/** A number, or a text that holds one: models write both. Null for anything else. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
