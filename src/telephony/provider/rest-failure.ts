// Refusals of a provider over REST, with the same meaning for all providers: their class (providers §7.5), and the
// provider's code and message for API clients. Each provider parses its own answers (`ProviderFault`).

import type { z } from 'zod';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import { parseJson } from '../../std/json.ts';
import type { RestResponse } from './rest-client.ts';

/** A refusal, as the provider's answer describes it. */
export interface ProviderFault {
  /** The provider's documented code. */
  code?: string | undefined;
  /** The provider's message. It may contain numbers and addresses, which are removed. */
  message?: string | undefined;
  /** Meaning of the code, where the HTTP status does not say it. */
  class?: 'auth' | 'destination' | 'capacity' | undefined;
}

export interface AskedOf {
  provider: ProviderName;
  /** Action of the request: `dial`, `hang-up`, ... */
  action: string;
  /** Whether the request is idempotent. */
  repeatable: boolean;
}

/** Characters of a provider's message that are kept. */
const WORDS_MAX = 200;

/** The answer's content, or the PROVIDER_* error by its status and the provider's fault. */
export function contentOf<T>(
  response: RestResponse,
  asked: AskedOf,
  reading: { schema: z.ZodType<T>; faultOf: (body: unknown) => ProviderFault },
): T {
  const body = parseJson(response.body);
  if (response.status < 200 || response.status > 299) {
    throw restFailure(response.status, asked, reading.faultOf(body));
  }
  const content = reading.schema.safeParse(body);
  if (!content.success) throw unreadableAnswer(asked, content.error);
  return content.data;
}

/** The error of a refusal: PROVIDER_AUTH, PROVIDER_DESTINATION, PROVIDER_CAPACITY, PROVIDER_REFUSED; from status 500 on
 *  PROVIDER_FAILED if the request is idempotent, else PROVIDER_UNCERTAIN. */
export function restFailure(
  status: number,
  { provider, action, repeatable }: AskedOf,
  fault: ProviderFault,
): GatewayError {
  const facts = { provider, action, reason: wordsOf(status, fault) };
  if (status >= 500) {
    return new GatewayError(repeatable ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN', facts);
  }
  if (fault.class === 'destination') return new GatewayError('PROVIDER_DESTINATION', facts);
  if (fault.class === 'capacity' || status === 429) {
    return new GatewayError('PROVIDER_CAPACITY', facts);
  }
  const isAuth = fault.class === 'auth' || status === 401 || status === 403;
  return new GatewayError(isAuth ? 'PROVIDER_AUTH' : 'PROVIDER_REFUSED', facts);
}

/** Whether a request that failed with this code may have taken effect: a dial may have placed its call. */
export function isUncertain(code: ErrorCode | null | undefined): boolean {
  return code === 'PROVIDER_UNCERTAIN' || code === 'PROVIDER_TIMEOUT';
}

/** The error for stored credentials that do not match this provider's schema. */
export function incompleteCredentials(provider: ProviderName, cause: unknown): GatewayError {
  return new GatewayError('PROVIDER_AUTH', { provider, reason: 'they are incomplete' }, cause);
}

/** The error for a success with unexpected content: the request has probably taken effect. */
export function unreadableAnswer(
  { provider, action, repeatable }: AskedOf,
  cause?: unknown,
): GatewayError {
  const facts = { provider, action, reason: 'unreadable answer' };
  return new GatewayError(repeatable ? 'PROVIDER_FAILED' : 'PROVIDER_UNCERTAIN', facts, cause);
}

/** `21211: The 'To' number [...] is not valid`, as far as the provider gives a code or message; else the HTTP
 *  status. */
function wordsOf(status: number, { code, message }: ProviderFault): string {
  const words = message === undefined ? '' : withoutAddresses(message);
  const shownCode = code === undefined ? '' : code.slice(0, 40);
  if (words !== '') return shownCode === '' ? words : `${shownCode}: ${words}`;
  return shownCode === '' ? `HTTP ${status}` : `HTTP ${status}, error ${shownCode}`;
}

/** The message with `[...]` for telephone numbers (seven digits or more), SIP, web and e-mail addresses, and possible
 *  keys: an error is logged. */
function withoutAddresses(message: string): string {
  return message
    .replace(/\s+/g, ' ')
    .replace(/\b(?:https?|wss?|sips?|tel):\S+/gi, '[...]')
    .replace(/\S+@\S+/g, '[...]')
    .replace(/\b[A-Za-z0-9_-]{20,}\b/g, '[...]')
    .replace(/\+?\d(?:[\s().-]{0,2}\d){6,}/g, '[...]')
    .trim()
    .slice(0, WORDS_MAX);
}
