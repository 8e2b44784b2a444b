// Classifies the errors of language model services, of any shape. The fault has the service's own code and
// words; the words are for the owner of the call.

import { GatewayError } from '../../../errors/gateway-error.ts';
import {
  type FaultKind,
  faultKindOfStatus,
  retryAfterMs,
  ServiceFault,
} from '../../service/service-fault.ts';
import { saysUsedUp } from '../../service/used-up.ts';

/** What a service says about an error, of any shape. */
export interface ErrorFacts {
  code?: string | number | null | undefined;
  type?: string | null | undefined;
  param?: string | null | undefined;
  message?: string | null | undefined;
  /** The wait that the service asks for in the body. */
  retryAfterMs?: number | undefined;
}

export interface ErrorContext {
  service: string;
  apiKey: string | undefined;
}

export interface HttpRefusal {
  status: number;
  /** The header's value. */
  retryAfter: string | undefined;
  /** Wall clock in ms. */
  now: number;
}

/** Codes and types of errors. Exhausted money does not recover by waiting; a tool call that the model's own server
 *  cannot read may be readable in the next answer. */
const KINDS: readonly (readonly [FaultKind, RegExp])[] = [
  ['quota', /insufficient_(quota|balance)|billing|payment_required|\b402\b/i],
  ['protocol', /tool_use_failed|malformed_function_call/i],
  ['rate', /rate_?limit|too_many_requests|resource_exhausted|\b429\b/i],
  ['auth', /authentication|unauthenticated|invalid_api_key|api_key_invalid|\b401\b/i],
  ['forbidden', /permission|\b403\b/i],
  ['request', /invalid_request|not_found|request_too_large|invalid_argument/i],
];

/** Statuses of a request that is too long; undefined: an error within an answer. */
const TOO_LONG_STATUSES: readonly (number | undefined)[] = [400, 413, 422, undefined];
/** A conversation that is longer than the model takes, in the codes and words of OpenAI, Groq, Cerebras and llama.cpp
 *  (codes), vLLM, DeepSeek, Mistral and OpenRouter (maximum context length), xAI (maximum prompt length), Anthropic and
 *  Fireworks (prompt is too long), Gemini (input token count), MiniMax (context window exceeds limit),
 *  text-generation-inference (`inputs` tokens), and Groq's request that no minute has room for (413). */
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

/** OpenAI's request that no minute has room for: 429 as for too many requests, but it is refused at any time. */
const TOO_LARGE = /request too large for/i;

/** Statuses of words that a filter stops; undefined: an error within an answer. */
const FILTERED_STATUSES: readonly (number | undefined)[] = [400, 403, 422, undefined];
/** What somebody has said, stopped by a filter before the model: Azure and MiniMax (a code), OpenAI (flagged), OpenRouter
 *  (input was flagged), DeepSeek (content exists risk), xAI (usage guidelines). */
const FILTERED =
  /content_filter|content_policy_violation|(prompt|input) was flagged|content exists risk|violates usage guidelines/i;

/** LLM_REFUSED for a conversation whose words a filter of the service has stopped; undefined for any other error. The
 *  service works, and its settings are right: other conversations have their answers. */
export function filterRefusal(
  { service }: ErrorContext,
  { code, type, message }: ErrorFacts,
  status?: number,
): GatewayError | undefined {
  if (!FILTERED_STATUSES.includes(status)) return undefined;
  if (!FILTERED.test([code, type, message].join(' '))) return undefined;
  return new GatewayError('LLM_REFUSED', { service, reason: 'content filter' });
}

/** An error with an HTTP status; or one that a server sends within an answer, after status 200. */
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
  // 400 is all that some services have: Google for a wrong key, Groq for a broken tool call.
  return byStatus === 'request' ? (named ?? byStatus) : byStatus;
}

function kindOfStatus(status: number): FaultKind {
  // 498 is Groq's lack of capacity.
  if (status === 408) return 'overload';
  return status === 498 ? 'rate' : faultKindOfStatus(status);
}
