// Maps the errors of an OpenAI-compatible server to the gateway's codes. Facts hold the server's own short codes
// only: its messages may quote the request or the key.

import { type Facts, GatewayError } from '../../../errors/gateway-error.ts';
import { parseJson } from '../../../std/json.ts';
import { type Dialect, type ErrorFacts, errorSchema } from './openai-wire.ts';

/** Optional request fields: without them an answer is possible if a server refuses them. */
const OPTIONAL_FIELDS = ['stream_options', 'temperature', 'response_format'] as const;
/** A server that asks for a longer wait counts as down; the call cannot wait. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export function readError(body: string): ErrorFacts {
  const parsed = errorSchema.safeParse(parseJson(body));
  return parsed.success ? parsed.data : {};
}

/** The error for an HTTP status. `retryAfter` is the header's value; `now` is the wall clock in ms. */
export function errorOfStatus(
  status: number,
  error: ErrorFacts,
  retry: { retryAfter: string | undefined; now: number },
): GatewayError {
  const reason = shortReason(error) ?? `status ${status}`;
  const facts = { status, reason };
  if (status === 401 || status === 403) return new GatewayError('LLM_AUTH', facts);
  if (status === 429) return rateError(facts, retry);
  if (status === 408 || status === 409 || status === 425 || status >= 500) {
    return new GatewayError('LLM_FAILED', facts);
  }
  return new GatewayError('LLM_REFUSED', facts);
}

/** An error that a server sends within a stream. */
export function errorOfStream(error: ErrorFacts): GatewayError {
  const reason = shortReason(error) ?? 'error in the stream';
  const kind = `${error.type ?? ''} ${error.code ?? ''}`;
  if (/insufficient_quota/.test(kind)) return new GatewayError('LLM_REFUSED', { reason });
  if (/rate_?limit|\b429\b/i.test(kind)) return new GatewayError('LLM_RATE', { reason });
  if (/auth|invalid_api_key|\b40[13]\b/i.test(kind))
    return new GatewayError('LLM_AUTH', { reason });
  return new GatewayError('LLM_FAILED', { reason });
}

/** Whether the request may succeed in another form, which is stored in `dialect`. */
export function adaptDialect(dialect: Dialect, status: number, error: ErrorFacts): boolean {
  if (status !== 400 && status !== 422) return false;
  const said = `${error.param ?? ''} ${error.message ?? ''} ${error.code ?? ''}`;
  if (!dialect.completionTokens && said.includes('max_completion_tokens')) {
    dialect.completionTokens = true;
    return true;
  }
  const field = OPTIONAL_FIELDS.find((each) => said.includes(each) && !dialect.without.has(each));
  if (field === undefined) return false;
  dialect.without.add(field);
  return true;
}

function rateError(
  facts: Facts & { reason: string },
  retry: { retryAfter: string | undefined; now: number },
): GatewayError {
  // An exhausted quota does not recover by waiting.
  if (/insufficient_quota|billing/.test(facts.reason))
    return new GatewayError('LLM_REFUSED', facts);
  const retryAfterMs = parseRetryAfter(retry.retryAfter, retry.now);
  return new GatewayError('LLM_RATE', {
    ...facts,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from `now`. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), RETRY_AFTER_MS_MAX) : undefined;
}

function shortReason(error: ErrorFacts): string | undefined {
  const candidates = [error.code, error.type].map((each) => String(each ?? ''));
  return candidates.find((each) => /^[a-z][\w.-]{1,60}$/i.test(each) && !each.startsWith('sk-'));
}
