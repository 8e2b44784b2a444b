// One request to Vonage's REST interfaces: address, credentials, and the meaning of its errors. The requests themselves:
// control.ts and account.ts. Source: developer.vonage.com, Voice API, Application API v2, Numbers API.

import { z } from 'zod';
import type { Clock } from '../../std/clock.ts';
import { systemRandom } from '../../std/random.ts';
import { accountKey } from '../provider/request-budget.ts';
import type { Rest, RestResponse } from '../provider/rest-client.ts';
import { contentOf, incompleteCredentials, type ProviderFault } from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { type VonageConfig, vonageCredentials } from './config.ts';
import { requestToken } from './tokens.ts';

const provider = 'vonage' as const;
const API_BASE_URL = 'https://api.nexmo.com';
const REST_BASE_URL = 'https://rest.nexmo.com';
/** Vonage's hosts. Its regional ones serve calls only. */
const VONAGE_HOST = /(^|\.)(nexmo|vonage)\.com$/;

const fault = z.looseObject({
  title: z.string().optional(),
  detail: z.string().optional(),
  error_title: z.string().optional(),
  invalid_parameters: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});

export interface VonageRequest {
  action: string;
  method: 'GET' | 'POST' | 'PUT';
  /** Interface of the request: calls (a token of the application), applications, or numbers (key and secret). */
  api: 'calls' | 'applications' | 'numbers';
  path: string;
  body?: unknown;
  /** Form fields, in place of `body`. */
  form?: URLSearchParams;
  /** Whether the request is idempotent. */
  repeatable: boolean;
}

export interface VonageClient {
  /** Sends one request; any status is an answer. Fails as `Rest.send` does. */
  send(
    credentials: ProviderCredentials,
    wanted: VonageRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
}

export function createVonageClient(rest: Rest, clock: Clock): VonageClient {
  return {
    send(credentials, wanted, signal) {
      const config = checkedCredentials(credentials);
      const { body, form } = wanted;
      const contentType =
        form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
      const hasBody = body !== undefined || form !== undefined;
      const request = {
        action: wanted.action,
        method: wanted.method,
        url: `${baseUrl(config, wanted.api)}${wanted.path}`,
        headers: {
          authorization: authorization(config, wanted.api, clock.now()),
          accept: 'application/json',
          ...(hasBody && { 'content-type': contentType }),
        },
        body: form?.toString() ?? (body === undefined ? null : JSON.stringify(body)),
        repeatable: wanted.repeatable,
        account: accountKey(`${baseUrl(config, wanted.api)} ${config.api_key}`, config.api_secret),
      };
      return rest.send(request, signal);
    },
  };
}

/** The credentials by Vonage's schema. Throws PROVIDER_AUTH if they do not match. */
export function checkedCredentials(credentials: ProviderCredentials): VonageConfig {
  const config = vonageCredentials.schema.safeParse({ ...credentials, provider });
  if (!config.success) throw incompleteCredentials(provider, config.error);
  return config.data;
}

function baseUrl({ api_base_url: given }: VonageConfig, api: VonageRequest['api']): string {
  const own = given?.replace(/\/+$/, '') || undefined;
  const isOfCallsOnly = own !== undefined && VONAGE_HOST.test(new URL(own).hostname);
  if (api === 'calls') return own ?? API_BASE_URL;
  if (own !== undefined && !isOfCallsOnly) return own;
  return api === 'numbers' ? REST_BASE_URL : API_BASE_URL;
}

function authorization(config: VonageConfig, api: VonageRequest['api'], nowMs: number): string {
  const { api_key: key, api_secret: secret, application_id: applicationId } = config;
  if (api !== 'calls') return `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
  const id = systemRandom.uuid();
  return `Bearer ${requestToken({ applicationId, pem: config.private_key, nowMs, id })}`;
}

/** The answer's content, or the PROVIDER_* error by its status and Vonage's message. */
export function answerOf<T>(
  response: RestResponse,
  { action, repeatable }: VonageRequest,
  schema: z.ZodType<T>,
): T {
  return contentOf(response, { provider, action, repeatable }, { schema, faultOf });
}

function faultOf(body: unknown): ProviderFault {
  const { title, detail, error_title, invalid_parameters = [] } = fault.safeParse(body).data ?? {};
  const isOfNumber = invalid_parameters.some(({ name }) => /^(to|from)\b/.test(name ?? ''));
  return {
    code: title ?? error_title,
    message: detail,
    class: isOfNumber ? 'destination' : undefined,
  };
}
