// One request to Telnyx' REST interface: address, key, and the meaning of its errors. The requests themselves:
// control.ts and account.ts. Source: developers.telnyx.com, API v2; providers §2.1, §2.6.

import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import { accountKey } from '../provider/request-budget.ts';
import type { Rest, RestRequest, RestResponse } from '../provider/rest-client.ts';
import { contentOf, incompleteCredentials, type ProviderFault } from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { type TelnyxConfig, telnyxCredentials } from './config.ts';

const provider = 'telnyx' as const;
const BASE_URL = 'https://api.telnyx.com';

/** Error codes for a number that is not `+` and digits. */
const destinationCodes = new Set(['10016']);
/** The account's limit of parallel calls, as Telnyx names it in the text of a 403. */
const CALLS_FULL = /\bD1\b/;
/** Error code for a call that has ended. */
const CALL_ENDED = '90018';

const faults = z.object({
  errors: z
    .array(
      z.object({
        code: z.coerce.string().optional(),
        title: z.string().nullish(),
        detail: z.string().nullish(),
      }),
    )
    .min(1),
});

/** A request below `/v2/`. */
export interface TelnyxRequest extends Pick<RestRequest, 'action' | 'method' | 'repeatable'> {
  path: string;
  body?: Record<string, unknown>;
}

export interface TelnyxClient {
  /** Sends one request; any status is an answer. Fails as `Rest.send` does. */
  send(
    credentials: ProviderCredentials,
    wanted: TelnyxRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
}

export function createTelnyxClient(rest: Rest): TelnyxClient {
  return {
    send(credentials, { action, method, path, body, repeatable }, signal) {
      const config = checkedCredentials(credentials);
      const base = (config.api_base_url || BASE_URL).replace(/\/+$/, '');
      const request = {
        action,
        method,
        repeatable,
        url: `${base}/v2/${path}`,
        headers: {
          authorization: `Bearer ${config.api_key}`,
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        account: accountKey(base, config.api_key),
      };
      return rest.send(request, signal);
    },
  };
}

/** The credentials by Telnyx' schema. Throws PROVIDER_AUTH if they do not match. */
export function checkedCredentials(credentials: ProviderCredentials): TelnyxConfig {
  const config = telnyxCredentials.schema.safeParse({ ...credentials, provider });
  if (!config.success) throw incompleteCredentials(provider, config.error);
  return config.data;
}

/** Whether the answer says that the call no longer exists. */
export function isCallGone(response: RestResponse): boolean {
  return response.status === 404 || faultOf(parseJson(response.body)).code === CALL_ENDED;
}

/** The answer's `data`, or the PROVIDER_* error by its status and Telnyx' code. */
export function dataOf<T>(
  response: RestResponse,
  { action, repeatable }: TelnyxRequest,
  schema: z.ZodType<T>,
): T {
  const asked = { provider, action, repeatable };
  return contentOf(response, asked, { schema: z.object({ data: schema }), faultOf }).data;
}

function faultOf(body: unknown): ProviderFault {
  const [first] = faults.safeParse(body).data?.errors ?? [];
  const code = first?.code;
  const message = first?.detail || first?.title || undefined;
  if (code !== undefined && destinationCodes.has(code))
    return { code, message, class: 'destination' };
  const isFull = CALLS_FULL.test(`${code} ${first?.title} ${first?.detail}`);
  return { code, message, class: isFull ? 'capacity' : undefined };
}
