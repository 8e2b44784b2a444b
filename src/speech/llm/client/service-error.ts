// Classifies errors of language model services. The fault keeps the service's own code and text; the text is for the
// owner of the call.

import { GatewayError } from '../../../errors/gateway-error.ts';
import {
  type FaultKind,
  faultKindOfStatus,
  retryAfterMs,
  ServiceFault,
} from '../../service/service-fault.ts';
import { saysUsedUp } from '../../service/used-up.ts';

/** Fields of a service's error, whatever its shape. */
export interface ErrorFacts {
  code?: string | number | null | undefined;
  type?: string | null | undefined;
  param?: string | null | undefined;
  message?: string | null | undefined;
  /** Retry delay that the body asks for, in milliseconds. */
  retryAfterMs?: number | undefined;
}

export interface ErrorContext {
  service: string;
  apiKey: string | undefined;
}

export interface HttpRefusal {
  status: number;
  /** Value of the Retry-After header. */
  retryAfter: string | undefined;
  /** Wall clock time in milliseconds. */
  now: number;
}

/** Maps codes and types of errors to kinds. Used-up credit does not recover by waiting. A tool call that the model's
 *  own server cannot parse may be correct in the next answer. */
const KINDS: readonly (readonly [FaultKind, RegExp])[] = [
  ['quota', /insufficient_(quota|balance)|billing|payment_required|\b402\b/i],
  ['protocol', /tool_use_failed|malformed_function_call/i],
  ['rate', /rate_?limit|too_many_requests|resource_exhausted|\b429\b/i],
  ['auth', /authentication|unauthenticated|invalid_api_key|api_key_invalid|\b401\b/i],
  ['forbidden', /permission|\b403\b/i],
  ['request', /invalid_request|not_found|request_too_large|invalid_argument/i],
];

/** HTTP statuses of a conversation that is too long. Undefined: an error event within an answer. */
const TOO_LONG_STATUSES: readonly (number | undefined)[] = [400, 413, 422, undefined];
/** Matches a conversation that is longer than the model accepts, in the codes and texts of OpenAI, Groq, Cerebras and
 *  llama.cpp (codes), vLLM, DeepSeek, Mistral and OpenRouter (maximum context length), xAI (maximum prompt length),
 *  Anthropic and Fireworks (prompt is too long), Gemini (input token count), MiniMax (context window exceeds limit),
 *  text-generation-inference (`inputs` tokens), and Groq's request that exceeds the tokens of a whole minute (413). */
const TOO_LONG = new RegExp(
  [
    'context_length_exceeded|exceed_context_size|available context size',
    'maximum (context|prompt) length|prompt is too long',
    "exceeds? (the |this |model's )*(maximum )?context (window|length|limit|size)",
    'context (window|length) exceeds|greater than the context length|input token count.*exceeds',
    'reduce (the length of the (messages|prompt|input)|your message size)',
    '`inputs` tokens \\+',
  ].join('|'),
  'i',
);

/** OpenAI's request that exceeds the tokens of a whole minute. Status 429 as for too many requests, but it is always
 *  refused. */
const TOO_LARGE = /request too large for/i;

/** HTTP statuses of a content filter's refusal. Undefined: an error event within an answer. */
const FILTERED_STATUSES: readonly (number | undefined)[] = [400, 403, 422, undefined];
/** Matches input that a content filter stopped before the model: Azure (a code, or its management policy) and MiniMax (a
 *  code), OpenAI (flagged), OpenRouter (input was flagged), DeepSeek (content exists risk), xAI (usage guidelines),
 *  Anthropic (filtering policy), Alibaba (data inspection). */
const FILTERED = new RegExp(
  [
    'content_filter|content_policy_violation|ResponsibleAIPolicyViolation',
    'content (filtering|management) policy|data_?inspection_?failed',
    '(prompt|input) was flagged|content exists risk|violates usage guidelines',
  ].join('|'),
  'i',
);

/** Returns LLM_REFUSED if the service's content filter stopped the conversation, undefined for any other error. The
 *  service and its settings are not at fault: other conversations get answers. */
export function filterRefusal(
  { service }: ErrorContext,
  { code, type, message }: ErrorFacts,
  status?: number,
): GatewayError | undefined {
  if (!FILTERED_STATUSES.includes(status)) return undefined;
  if (!FILTERED.test([code, type, message].join(' '))) return undefined;
  return new GatewayError('LLM_REFUSED', { service, reason: 'content filter' });
}

/** Classifies an error with an HTTP status, or one that a server sends within an answer after status 200. */
export function serviceFault(
  { service, apiKey }: ErrorContext,
  error: ErrorFacts,
  refusal?: HttpRefusal,
): ServiceFault {
  const words = [error.code, error.type].map((each) => String(each ?? ''));
  const vendorCode = words.find((each) => /^[a-z][\w.-]{1,60}$/i.test(each));
  const isUsedUp = saysUsedUp(refusal?.status ?? 400, {
    codes: words,
    message: error.message ?? '',
  });
  const named = isUsedUp
    ? 'quota'
    : KINDS.find(([, pattern]) => pattern.test(words.join(' ')))?.[0];
  const tooLong = TOO_LONG_STATUSES.includes(refusal?.status) ? TOO_LONG : TOO_LARGE;
  const isTooLong = tooLong.test([...words, error.message ?? ''].join(' '));
  return new ServiceFault('llm', service, isTooLong ? 'context' : kindOf(named, refusal), {
    detail: error.message ?? vendorCode ?? `status ${refusal?.status ?? 200}`,
    status: refusal?.status,
    vendorCode,
    retryAfterMs: retryAfterMs(refusal?.retryAfter, refusal?.now ?? 0) ?? error.retryAfterMs,
    redact: apiKey === undefined ? [] : [apiKey],
  });
}

function kindOf(named: FaultKind | undefined, refusal: HttpRefusal | undefined): FaultKind {
  if (refusal === undefined) return named ?? 'overload';
  const byStatus = kindOfStatus(refusal.status);
  if (named === 'quota') return named;
  // Some services always send 400: Google for a wrong key, Groq for a malformed tool call.
  return byStatus === 'request' ? (named ?? byStatus) : byStatus;
}

function kindOfStatus(status: number): FaultKind {
  // Groq sends 498 when it lacks capacity.
  if (status === 408) return 'overload';
  return status === 498 ? 'rate' : faultKindOfStatus(status);
}
