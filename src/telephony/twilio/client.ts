// One request to Twilio's REST interface: address, credentials, and the meaning of its errors. The requests
// themselves: control.ts and account.ts. Source: twilio.com/docs/usage/requests-to-twilio; error codes from
// twilio.com/docs/api/errors

import { z } from 'zod';
import type { GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import { accountKey } from '../provider/request-budget.ts';
import type { Rest, RestResponse } from '../provider/rest-client.ts';
import {
  contentOf,
  incompleteCredentials,
  type ProviderFault,
  unreadableAnswer,
} from '../provider/rest-failure.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { type TwilioConfig, twilioCredentials } from './config.ts';

const provider = 'twilio' as const;
const BASE_URL = 'https://api.twilio.com';

/** Error code for a call that had ended, or never began, at the time of the request. */
const NOT_IN_PROGRESS = 21_220;
/** Error codes for a fault of one of the two numbers. */
const destinationCodes = new Set([
  13_223, 13_224, 13_225, 13_226, 13_227, 21_210, 21_211, 21_212, 21_213, 21_214, 21_215, 21_216,
  21_217, 21_219, 21_401,
]);
/** Error codes for too many requests and for too many parallel calls. */
const capacityCodes = new Set([20_429, 10_004]);

const fault = z.object({ code: z.int().optional(), message: z.string().optional() });

/** A request below the account. */
export interface TwilioRequest {
  action: string;
  path: string;
  /** Form fields; null for a GET. */
  form: URLSearchParams | null;
  /** Whether the request is idempotent. */
  repeatable: boolean;
}

export interface TwilioClient {
  /** Sends one request; any status is an answer. Fails as `Rest.send` does. */
  send(
    credentials: ProviderCredentials,
    wanted: TwilioRequest,
    signal: AbortSignal,
  ): Promise<RestResponse>;
}

export function createTwilioClient(rest: Rest): TwilioClient {
  return {
    send(credentials, wanted, signal) {
      const config = checkedCredentials(credentials);
      const base = (config.api_base_url || BASE_URL).replace(/\/+$/, '');
      // The path of the account itself is `.json`.
      const separator = wanted.path.startsWith('.') ? '' : '/';
      const login = Buffer.from(`${config.account_sid}:${config.auth_token}`).toString('base64');
      const request = {
        action: wanted.action,
        method: wanted.form === null ? ('GET' as const) : ('POST' as const),
        url: `${base}/2010-04-01/Accounts/${encodeURIComponent(config.account_sid)}${separator}${wanted.path}`,
        headers: {
          authorization: `Basic ${login}`,
          accept: 'application/json',
          ...(wanted.form && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body: wanted.form?.toString() ?? null,
        repeatable: wanted.repeatable,
        account: accountKey(`${base} ${config.account_sid}`, config.auth_token),
      };
      return rest.send(request, signal);
    },
  };
}

/** The credentials by Twilio's schema. Throws PROVIDER_AUTH if they do not match. */
export function checkedCredentials(credentials: ProviderCredentials): TwilioConfig {
  const config = twilioCredentials.schema.safeParse({ ...credentials, provider });
  if (!config.success) throw incompleteCredentials(provider, config.error);
  return config.data;
}

/** Whether the answer says that the call has ended. */
export function isTwilioNotFound(response: RestResponse): boolean {
  return response.status === 404 || codeOf(response) === NOT_IN_PROGRESS;
}

/** The answer's content, or the PROVIDER_* error by its status and Twilio's code. */
export function answerOf<T>(
  response: RestResponse,
  { action, repeatable }: TwilioRequest,
  schema: z.ZodType<T>,
): T {
  return contentOf(response, { provider, action, repeatable }, { schema, faultOf });
}

/** The error for a success with unexpected content: the request has probably taken effect. */
export function unreadable({ action, repeatable }: TwilioRequest): GatewayError {
  return unreadableAnswer({ provider, action, repeatable });
}

function codeOf({ body }: RestResponse): number | undefined {
  return fault.safeParse(parseJson(body)).data?.code;
}

function faultOf(body: unknown): ProviderFault {
  const { code, message } = fault.safeParse(body).data ?? {};
  return { code: code?.toString(), message, class: code === undefined ? undefined : classOf(code) };
}

function classOf(code: number): ProviderFault['class'] {
  if (destinationCodes.has(code)) return 'destination';
  return capacityCodes.has(code) ? 'capacity' : undefined;
}
