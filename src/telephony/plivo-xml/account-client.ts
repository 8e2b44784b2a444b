// One JSON request below an account, as Plivo and Vobiz have it: address, headers, and the meaning of errors. What
// differs between the two is `AccountInterface`. The requests themselves: calls.ts, applications.ts, and each
// provider's numbers.ts. Source: plivo.com/docs/voice/api, docs.vobiz.ai

import { z } from 'zod';
import type { GatewayError } from '../../errors/gateway-error.ts';
import { isObject } from '../../std/json.ts';
import { accountKey } from '../provider/account-budgets.ts';
import type { Rest, RestRequest, RestResponse } from '../provider/rest-client.ts';
import {
  contentOf,
  incompleteCredentials,
  type ProviderFault,
  unreadableAnswer,
} from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

/** What the credentials of both have. */
export interface Account {
  auth_id: string;
  auth_token: string;
  application_id: string | null;
  api_base_url: string | null;
}

export interface AccountInterface<A extends Account = Account> {
  provider: 'plivo' | 'vobiz';
  schema: z.ZodType<A>;
  /** Without a slash at its end. */
  baseUrl: string;
  /** Between the base and `Account`. */
  version: string;
  headers(account: A): Record<string, string>;
  /** HTTP statuses for "too many calls", or "no money for one", beside 429. */
  capacityStatuses: ReadonlySet<number>;
}

/** A request below the account. */
export interface AccountRequest {
  action: string;
  method: RestRequest['method'];
  /** `Call/`; the slash at the end matters. */
  path: string;
  /** Null: no body. */
  body: Record<string, unknown> | null;
  /** Whether it is idempotent. */
  repeatable: boolean;
}

/** The answer's fields are read by `schema`, the errors are the provider's. */
export interface AccountClient<A extends Account = Account> {
  readonly provider: 'plivo' | 'vobiz';
  /** Throws PROVIDER_AUTH if the credentials cannot be this provider's. */
  account(credentials: ProviderCredentials): A;
  /** Any status is an answer; fails as `Rest.send` does. */
  send(
    credentials: ProviderCredentials,
    wanted: AccountRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
  /** The answer's content, or the PROVIDER_* error for its status and the provider's words. */
  contentOf<T>(response: RestResponse, wanted: AccountRequest, schema: z.ZodType<T>): T;
  /** A success with unexpected content. */
  unreadable(wanted: AccountRequest): GatewayError;
}

/** Words in the refusal of a dial that blame one of its two numbers. */
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

/** `{"error": "…"}`, `{"error": {"message": "…"}}` or `{"message": "…"}`. */
function wordsOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const { error, message } = body;
  const nested = isObject(error) ? (error['message'] ?? error['error']) : error;
  return said.safeParse(nested).data ?? said.safeParse(message).data;
}
