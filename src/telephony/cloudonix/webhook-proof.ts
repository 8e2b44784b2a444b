// Proof of a request's sender for Cloudonix, which signs nothing: a voice application's request has the application's
// key, and the URLs of a dial have a signature of ours. Source: providers §5.5.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

const PARAMETER = 'proof';
const KEY_HEADER = 'x-cx-apikey';
/** Routes without proof: status callbacks of calls that others placed, and call detail records. */
const REPORTED = /\/telephony\/cloudonix\/(?:status-callback\/[^/]+|cdr)\/?$/;

/** `url`, which has no query, with our signature in its query. */
export function withProof(url: string, secret: string): string {
  return `${url}?${PARAMETER}=${proofOf(url, secret)}`;
}

export function isReport({ url }: ProviderRequest): boolean {
  return REPORTED.test(url.split('?', 1)[0] ?? '');
}

/** Whether the request comes from a sender that the account trusts. Constant time. */
export function isProven(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const [path = '', query = ''] = request.url.split('?', 2);
  const { bearer_token: secret, application_key: key } = credentials;
  if (!isText(secret)) return false;
  const proof = new URLSearchParams(query).get(PARAMETER);
  const hasProof = isEqual(proof ?? '', proofOf(path, secret));
  const given = request.headers[KEY_HEADER] ?? '';
  const hasKey = isText(key) && isEqual(given, key);
  // The account's own key proves no less.
  const hasSecret = isEqual(given, secret);
  return hasProof || hasKey || hasSecret;
}

/** Hexadecimal HMAC-SHA256 over the URL without its query. */
function proofOf(url: string, secret: string): string {
  return createHmac('sha256', secret).update('patchbay answer url\n').update(url).digest('hex');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isEqual(given: string, expected: string): boolean {
  const a = createHmac('sha256', 'compare').update(given).digest();
  const b = createHmac('sha256', 'compare').update(expected).digest();
  return timingSafeEqual(a, b) && given.length === expected.length;
}
