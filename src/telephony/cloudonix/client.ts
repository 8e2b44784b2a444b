// Requests to Cloudonix' REST interface for one domain, within its budget of ten requests in ten seconds, hang-ups and
// reads included, and the meaning of its refusals. Source: providers §5.1, §5.8. Cloudonix documents statuses, but no
// shape of a refusal's body.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { AccountBudgets, accountKey, RequestBudget } from '../provider/request-budget.ts';
import type { Rest, RestRequest, RestResponse } from '../provider/rest-client.ts';
import { contentOf, type ProviderFault } from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { type CloudonixConfig, cloudonixCredentials } from './config.ts';

const provider = 'cloudonix';
const BASE_URL = 'https://api.cloudonix.io';
const TOO_MANY = 429;
/** Attempts of an urgent request after Cloudonix refused it because the domain's budget was used up: a refused request
 *  had no effect. */
const ATTEMPTS_MAX = 4;
const PAUSE_MS = 1_000;

export interface CloudonixRequest {
  action: string;
  method: RestRequest['method'];
  /** Path with `{domain}` for the account's domain; other parts are percent-encoded already. */
  path: string;
  /** Null for none. */
  json: unknown;
  /** Whether the request is idempotent. */
  repeatable: boolean;
  /** Urgent requests go first: a caller waits for them, or the call costs money until then. */
  isUrgent?: boolean;
}

export interface CloudonixClient {
  /** Any status is an answer; fails as `Rest.send` does, and with PROVIDER_CAPACITY. */
  send(
    credentials: ProviderCredentials,
    wanted: CloudonixRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
}

export function createCloudonixClient(options: {
  rest: Rest;
  clock: Clock;
  /** Requests of one domain in ten seconds. Default: Cloudonix' limit. */
  requestsMax?: number | undefined;
}): CloudonixClient {
  const { rest, clock, requestsMax } = options;
  const budgets = new AccountBudgets(() =>
    domainBudget({ clock, ...(requestsMax && { requestsMax }) }),
  );
  return {
    async send(credentials, wanted, signal) {
      const config = checkedCredentials(credentials);
      const { action, isUrgent = false } = wanted;
      const request = restRequest(config, wanted);
      const { domain_id: domain, bearer_token: secret } = config;
      const budget = budgets.of(accountKey(`${baseUrl(config)} ${domain}`, secret));
      for (let attempt = 1; ; attempt++) {
        await budget.claim(action, isUrgent, signal);
        const response = await rest.send(request, signal);
        if (response.status !== TOO_MANY) return response;
        if (!isUrgent || attempt === ATTEMPTS_MAX) return response;
        await pause(clock, attempt * PAUSE_MS, signal);
      }
    },
  };
}

/** Resolves early if `signal` is aborted; the next request then fails. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, done);
    function done(): void {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

function baseUrl({ api_base_url }: CloudonixConfig): string {
  return (api_base_url || BASE_URL).replace(/\/+$/, '');
}

function restRequest(config: CloudonixConfig, wanted: CloudonixRequest): RestRequest {
  const { action, method, json, repeatable } = wanted;
  const path = wanted.path.replace('{domain}', encodeURIComponent(config.domain_id));
  return {
    action,
    method,
    url: `${baseUrl(config)}${path}`,
    headers: {
      authorization: `Bearer ${config.bearer_token}`,
      accept: 'application/json',
      ...(json !== null && { 'content-type': 'application/json' }),
    },
    body: json === null ? null : JSON.stringify(json),
    repeatable,
  };
}

/** The credentials by Cloudonix' schema. Throws PROVIDER_AUTH if they do not match. */
export function checkedCredentials(credentials: ProviderCredentials): CloudonixConfig {
  const config = cloudonixCredentials.schema.safeParse({ ...credentials, provider });
  if (!config.success) throw new GatewayError('PROVIDER_AUTH', { provider }, config.error);
  return config.data;
}

/** The answer's content, or the PROVIDER_* error by its status and Cloudonix' message. */
export function answerOf<T>(
  response: RestResponse,
  { action, repeatable }: CloudonixRequest,
  schema: z.ZodType<T>,
): T {
  return contentOf(response, { provider, action, repeatable }, { schema, faultOf });
}

const words = z.string().min(1);
const refusal = z.object({
  message: words.optional().catch(undefined),
  error: z
    .union([words, z.object({ message: words })])
    .optional()
    .catch(undefined),
  code: z.union([words, z.number()]).optional().catch(undefined),
});

function faultOf(body: unknown): ProviderFault {
  const { message, error, code } = refusal.safeParse(body).data ?? {};
  const sentence = message ?? (typeof error === 'object' ? error.message : error);
  return { code: code?.toString(), message: sentence, class: classOf(sentence) };
}

/** Class of a refusal. Only the message distinguishes a number that cannot be called from another fault of the
 *  request. */
function classOf(sentence: string | undefined): ProviderFault['class'] {
  return /\bdestination\b/i.test(sentence ?? '') ? 'destination' : undefined;
}

/** Cloudonix' limit. */
export const REQUESTS_MAX = 10;
/** A little longer than Cloudonix' ten seconds: requests do not all take equally long to arrive. */
export const WINDOW_MS = 10_500;
/** Requests of the limit that only urgent ones may use. */
export const RESERVED_REQUESTS = 3;
/** Longest queue. Fewer requests than these start within the longest wait. */
const WAITING_MAX = 50;

export function domainBudget({
  clock,
  requestsMax = REQUESTS_MAX,
}: {
  clock: Clock;
  requestsMax?: number;
}): RequestBudget {
  const words = `the ${REQUESTS_MAX} requests in 10 seconds that a domain may send`;
  const limit = { requestsMax, windowMs: WINDOW_MS, reserved: RESERVED_REQUESTS, words };
  return new RequestBudget({
    clock,
    provider: 'cloudonix',
    limit: { ...limit, waitingMax: WAITING_MAX },
  });
}
