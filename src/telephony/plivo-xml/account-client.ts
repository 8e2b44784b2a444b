// One JSON request to an account at Plivo or Vobiz: address, headers, and the meaning of errors. Their differences are
// in `AccountInterface`. The requests: calls.ts, account.ts, and each provider's account.ts. Source:
// plivo.com/docs/voice/api, docs.vobiz.ai

import { z } from 'zod';
import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import { isObject } from '../../std/json.ts';
import { accountKey } from '../provider/request-budget.ts';
import type { Rest, RestRequest, RestResponse } from '../provider/rest-client.ts';
import {
  contentOf,
  incompleteCredentials,
  type ProviderFault,
  unreadableAnswer,
} from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

/** Fields that both providers' credentials have. */
export interface Account {
  auth_id: string;
  auth_token: string;
  application_id: string | null;
  api_base_url: string | null;
}

export interface AccountInterface<A extends Account = Account> {
  provider: ProviderName;
  schema: z.ZodType<A>;
  /** Base URL without a trailing slash. */
  baseUrl: string;
  /** Path part between the base URL and `Account`. */
  version: string;
  headers(account: A): Record<string, string>;
  /** HTTP statuses besides 429 for "too many calls" or "no money for one". */
  capacityStatuses: ReadonlySet<number>;
}

/** A request below the account. */
export interface AccountRequest {
  action: string;
  method: RestRequest['method'];
  /** Path below the account, such as `Call/`; the trailing slash matters. */
  path: string;
  /** JSON body; null for none. */
  body: Record<string, unknown> | null;
  /** Whether the request is idempotent. */
  repeatable: boolean;
}

/** The answer's fields are read by `schema`, the errors are the provider's. */
export interface AccountClient<A extends Account = Account> {
  readonly provider: ProviderName;
  /** The account of the credentials. Throws PROVIDER_AUTH if they do not match this provider's schema. */
  account(credentials: ProviderCredentials): A;
  /** Sends one request; any status is an answer. Fails as `Rest.send` does. */
  send(
    credentials: ProviderCredentials,
    wanted: AccountRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
  /** The answer's content, or the PROVIDER_* error by its status and the provider's message. */
  contentOf<T>(response: RestResponse, wanted: AccountRequest, schema: z.ZodType<T>): T;
  /** The error for a success with unexpected content. */
  unreadable(wanted: AccountRequest): GatewayError;
}

/** Words of a refused dial that blame one of its two numbers. */
const ABOUT_NUMBERS =
  /\b(?:to|from|number|numbers|destination|source|src|dst|caller ?id|region|country)\b/i;

export function createAccountClient<A extends Account>(
  rest: Rest,
  api: AccountInterface<A>,
): AccountClient<A> {
  const { provider } = api;
  const account = (credentials: ProviderCredentials): A => {
    const config = api.schema.safeParse({ ...credentials, provider });
    if (!config.success) throw incompleteCredentials(provider, config.error);
    return config.data;
  };
  return {
    provider,
    account,
    send(credentials, { action, method, path, body, repeatable }, signal) {
      const config = account(credentials);
      const base = (config.api_base_url || api.baseUrl).replace(/\/+$/, '');
      const url = `${base}/${api.version}/Account/${encodeURIComponent(config.auth_id)}/${path}`;
      const headers = {
        ...api.headers(config),
        accept: 'application/json',
        ...(body !== null && { 'content-type': 'application/json' }),
      };
      const text = body === null ? null : JSON.stringify(body);
      const request = { action, method, url, headers, body: text, repeatable };
      const key = accountKey(`${base} ${config.auth_id}`, config.auth_token);
      return rest.send({ ...request, account: key }, signal);
    },
    contentOf(response, { action, repeatable }, schema) {
      const { status } = response;
      const classOf = (message: string): ProviderFault['class'] => {
        if (api.capacityStatuses.has(status)) return 'capacity';
        const isOfDial = action === 'dial' && (status === 400 || status === 422);
        return isOfDial && ABOUT_NUMBERS.test(message) ? 'destination' : undefined;
      };
      const faultOf = (body: unknown): ProviderFault => {
        const message = wordsOf(body);
        return { message, class: classOf(message ?? '') };
      };
      return contentOf(response, { provider, action, repeatable }, { schema, faultOf });
    },
    unreadable: ({ action, repeatable }) => unreadableAnswer({ provider, action, repeatable }),
  };
}

const said = z.string().min(1);

/** The message of a refusal: `{"error": "…"}`, `{"error": {"message": "…"}}` or `{"message": "…"}`. */
function wordsOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { error, message } = body;
  const nested = isObject(error) ? (error['message'] ?? error['error']) : error;
  return said.safeParse(nested).data ?? said.safeParse(message).data;
}
