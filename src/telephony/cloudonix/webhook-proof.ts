// What proves a request of Cloudonix, which signs nothing: the request of a voice application has the application's key,
// and the URL that a dial names has a signature of ours. Source: providers §5.5.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

const PARAMETER = 'proof';
const KEY_HEADER = 'x-cx-apikey';
/** Routes whose content is confirmed over REST before it has an effect. */
const REPORTED = /\/telephony\/cloudonix\/(?:status-callback\/[^/]+|cdr)\/?$/;

/** `url`, which has no query, with the proof that we gave it away. */
export function withProof(url: string, secret: string): string {
  return `${url}?${PARAMETER}=${proofOf(url, secret)}`;
}

/** Whether the request comes from whom the account trusts. Constant time. Status callbacks and call detail records have
 *  no proof: true for their routes. */
export function isProven(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const [path = '', query = ''] = request.url.split('?', 2);
  if (REPORTED.test(path)) return true;
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
