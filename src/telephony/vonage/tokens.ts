// JSON web tokens of both directions: ours for requests (RS256, the application's key), Vonage's in webhooks (HS256, the
// account's signature secret). Both are made and checked at once, without promises, as the provider interface requires.
// Source: developer.vonage.com, "Authentication" and "Signed webhooks"; RFC 7515, RFC 7519.

import {
  createHash,
  createHmac,
  createPrivateKey,
  type KeyObject,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import type { ProviderRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

/** Lifetime of a request's token, which is used at once. */
const LIFE_S = 900;
/** Largest age of a webhook's token: the tolerance between Vonage's clock and ours, and its longest way. */
const AGE_MS_MAX = 300_000;
/** Longest token. Vonage's are below 1,000 characters. */
const TOKEN_CHARACTERS_MAX = 4_096;

/** The key of a PEM text, also with a literal `\n` for each line break. Throws if it is no private key. */
function privateKeyOf(pem: string): KeyObject {
  return createPrivateKey(pem.replace(/\\n/g, '\n').replace(/\r/g, ''));
}

export function isPrivateKey(pem: string): boolean {
  try {
    return privateKeyOf(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

/** The token of one request. `id`: unique. Throws if `pem` is no key. */
export function requestToken(given: {
  applicationId: string;
  pem: string;
  nowMs: number;
  id: string;
}): string {
  const iat = Math.floor(given.nowMs / 1_000);
  const claims = { application_id: given.applicationId, iat, exp: iat + LIFE_S, jti: given.id };
  const content = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(content), privateKeyOf(given.pem));
  return `${content}.${signature.toString('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const header = z.object({ alg: z.literal('HS256') });
const webhookClaims = z.object({
  iat: z.number(),
  jti: z.string().min(1).max(200),
  payload_hash: z.string().optional(),
  api_key: z.string().max(200).optional(),
  application_id: z.string().max(200).optional(),
});
export type WebhookClaims = z.infer<typeof webhookClaims>;

/** The claims of a webhook's token, which prove nothing. Undefined without a token, or for that of another system:
 *  Vonage's name an account or an application. */
export function claimsOf({ headers }: ProviderRequest): WebhookClaims | undefined {
  const [, claims] = partsOf(headers) ?? [];
  const read = claims === undefined ? undefined : webhookClaims.safeParse(decoded(claims)).data;
  return read?.api_key === undefined && read?.application_id === undefined ? undefined : read;
}

/** Whether the token was signed with the account's secret a short time ago, for this body. */
export function isSigned(
  request: ProviderRequest,
  credentials: ProviderCredentials,
  nowMs: number,
): boolean {
  const secret = credentials['signature_secret'];
  const parts = partsOf(request.headers);
  if (typeof secret !== 'string' || secret === '' || parts === undefined) return false;
  const [head, body, signature] = parts;
  const expected = createHmac('sha256', secret).update(`${head}.${body}`).digest();
  if (!isEqual(Buffer.from(signature, 'base64url'), expected)) return false;
  const claims = claimsOf(request);
  if (claims === undefined || !header.safeParse(decoded(head)).success) return false;
  const { application_id: application } = claims;
  const isOurs = application === undefined || application === credentials['application_id'];
  return isOurs && Math.abs(nowMs - claims.iat * 1_000) <= AGE_MS_MAX && isCovered(request, claims);
}

/** Whether the token's hash is that of the body, or of the query where the method has no body. A token without a hash
 *  is refused: it would fit any request without content. */
function isCovered(
  { method, rawBody, url }: ProviderRequest,
  { payload_hash: hash }: WebhookClaims,
): boolean {
  const query = URL.canParse(url) ? new URL(url).search.slice(1) : '';
  const covered = method === 'GET' ? Buffer.from(query) : rawBody;
  if (covered.length === 0 || hash === undefined) return false;
  const expected = createHash('sha256').update(covered).digest();
  return isEqual(Buffer.from(hash, 'hex'), expected);
}

function partsOf(headers: ProviderRequest['headers']): [string, string, string] | undefined {
  const given = headers['authorization'] ?? '';
  if (given.length > TOKEN_CHARACTERS_MAX) return undefined;
  const found = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]*)$/i.exec(given.trim());
  const [, head, body, signature] = found ?? [];
  if (head === undefined || body === undefined || signature === undefined) return undefined;
  return [head, body, signature];
}

function decoded(part: string): unknown {
  return parseJson(Buffer.from(part, 'base64url').toString());
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
