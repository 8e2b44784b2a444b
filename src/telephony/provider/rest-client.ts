// Requests to a provider's REST interface: one attempt, a deadline, a bounded answer, typed failures.
// Nothing is ever retried here: a repeated request could place a second call.

import { Agent, type Dispatcher, request } from 'undici';
import { createEgress, type Egress } from '../../egress/egress-rule.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { providerRequestSeconds } from '../../metrics/metrics.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';

export interface RestRequest {
  /** Name for the metric: `dial`, `hang-up`, ... */
  action: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body: string | null;
  /** Whether the request is idempotent. */
  repeatable: boolean;
  /** Identifies the account for its request limit. No secret. */
  account?: string | undefined;
}

export interface RestResponse {
  status: number;
  body: string;
  /** Time of the header `Date`, milliseconds since 1970; null without one. */
  dateMs?: number | null;
  /** Pause of the header `Retry-After`, in milliseconds from now; null without one. */
  retryAfterMs?: number | null;
}

/** Sends requests. `send` fails with PROVIDER_TIMEOUT (no answer in time), PROVIDER_FAILED (certainly without effect,
 *  or idempotent) or PROVIDER_UNCERTAIN. Any status is an answer. */
export interface Rest {
  send(request: RestRequest, signal: AbortSignal): Promise<RestResponse>;
}

/** A `Rest` with connections of its own. */
export interface OwnRest extends Rest {
  /** Aborts current requests. To be called once. */
  close(): void;
}

/** A request that was sent, and its answer or error. */
export interface RestExchange {
  request: RestRequest;
  /** Undefined if the request failed with `error`. */
  response: RestResponse | undefined;
  error: unknown;
  tookMs: number;
}

export interface RestOptions {
  provider: ProviderName;
  clock: Clock;
  /** Called after each request, with its credentials. Must not throw. Default: nothing is observed. */
  onExchange?: ((exchange: RestExchange) => void) | undefined;
  /** Addresses where accounts may be. Default: the rules for closed sign-up. */
  egress?: Pick<Egress, 'connect' | 'hidesFaults'> | undefined;
  /** Deadline in milliseconds, from the request for a connection to the last byte of the answer. */
  deadlineMs?: number;
}

/** Options for a hosted provider. */
export type HostedOptions = Omit<RestOptions, 'provider' | 'egress'> & {
  egress?: Egress | undefined;
};

/** Default deadline. Providers answer within 2 s; the caller waits in silence meanwhile. */
const DEADLINE_MS = 10_000;
/** Longest answer. A page of numbers is below 100 KB. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** Sockets to one provider. Hang-ups must not queue behind a campaign's dials. */
const CONNECTIONS_MAX = 64;

/** Codes of errors that occur before anything was sent. */
const unsent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'OUTSIDE_FORBIDDEN',
]);

export function createRest(options: RestOptions): OwnRest {
  const { provider, clock, egress = createEgress(), deadlineMs = DEADLINE_MS } = options;
  const { onExchange } = options;
  const dispatcher = new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: egress.connect,
  });
  return {
    async send(wanted, signal) {
      const startedMs = clock.monotonicMs();
      const deadline = new AbortController();
      const timer = clock.after(deadlineMs, () => deadline.abort());
      let result = 'failed';
      let response: RestResponse | undefined;
      let error: unknown;
      try {
        const both = AbortSignal.any([signal, deadline.signal]);
        response = await exchange(wanted, both, dispatcher);
        result = `${Math.floor(response.status / 100)}xx`;
        return response;
      } catch (cause) {
        if (deadline.signal.aborted) result = 'timeout';
        error = deadline.signal.aborted
          ? new GatewayError('PROVIDER_TIMEOUT', { provider, action: wanted.action }, cause)
          : failure(wanted, cause, { provider, hidesFaults: egress.hidesFaults });
        throw error;
      } finally {
        timer.cancel();
        const tookMs = clock.monotonicMs() - startedMs;
        providerRequestSeconds.observe({ provider, action: wanted.action, result }, tookMs / 1_000);
        onExchange?.({ request: wanted, response, error, tookMs });
      }
    },

    close() {
      // Rejects only if it is closed twice.
      dispatcher.destroy().catch(() => undefined);
    },
  };
}

async function exchange(
  { method, url, headers, body }: RestRequest,
  signal: AbortSignal,
  dispatcher: Dispatcher,
): Promise<RestResponse> {
  const response = await request(url, { method, headers, body, signal, dispatcher });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('answer too long');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const { date, ['retry-after']: retryAfter } = response.headers;
  const dateMs = dateOf(date);
  const retryAfterMs = pauseOf(retryAfter, dateMs);
  return { status: response.statusCode, body: text, dateMs, retryAfterMs };
}

function dateOf(header: string | string[] | undefined): number | null {
  const ms = typeof header === 'string' ? Date.parse(header) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Milliseconds of seconds, or of a date relative to the answer's own. */
function pauseOf(header: string | string[] | undefined, dateMs: number | null): number | null {
  if (typeof header === 'string' && /^\d{1,6}$/.test(header)) return Number(header) * 1_000;
  const untilMs = dateOf(header);
  return untilMs === null || dateMs === null ? null : Math.max(0, untilMs - dateMs);
}

function failure(
  wanted: RestRequest,
  error: unknown,
  { provider, hidesFaults }: { provider: ProviderName; hidesFaults: boolean },
): GatewayError {
  const reason = reasonOf(error);
  const harmless = wanted.repeatable || unsent.has(reason);
  const isOfNetwork = reason !== 'OUTSIDE_FORBIDDEN';
  const shown = hidesFaults && isOfNetwork ? 'no usable answer from its address' : reason;
  return new GatewayError(
    harmless ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN',
    { provider, action: wanted.action, reason: shown },
    error,
  );
}

/** The system's or undici's error code. Never a message, which may contain addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'AbortError') return 'aborted';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
