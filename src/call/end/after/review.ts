// One review of a finished call by a language model: each node with speech is reviewed separately. It stores
// nothing. Source: contract §6.3 (QAResult), §8.10.

import { createHash } from 'node:crypto';
import { codeOf } from '../../../errors/gateway-error.ts';
import type { CallEvent } from '../../../model/call-event.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { LanguageModel, LlmResponse } from '../../../speech/llm/llm.ts';
import type { ReviewRecord } from '../../../store/deliveries/post-call-jobs.ts';
import type { ReviewNodeSettings } from '../../../workflow/graph/post-call-nodes.ts';
import { REVIEW_PROMPT } from '../../../workflow/nodes/qa-node.ts';
import { render } from '../../../workflow/variables/template.ts';
import { type ReviewModelDeps, reviewModel } from './review-model.ts';
import { type ReviewReply, readReview, tagNames } from './review-reply.ts';
import { type CallPart, partsOf } from './review-transcript.ts';

/** Parts of one call that are reviewed at most; each costs a request. */
const PARTS_MAX = 10;
const SUMMARY_CHARACTERS_MAX = 4_000;
const TOKENS_MAX = 2_000;

export interface ReviewedCall {
  run: Run;
  definition: WorkflowDefinition;
  /** Workflow configurations of the version that ran. */
  configurations: Record<string, unknown>;
  events: readonly CallEvent[];
}

export interface ReviewTry {
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
