// Verifies that a request comes from Twilio: X-Twilio-Signature of webhooks and socket upgrades.
// Source: twilio.com/docs/usage/security. It has no timestamp: repeated deliveries are recognised by their content
// (webhook.ts), not here.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ProviderRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

const standardPort: Readonly<Record<string, string>> = {
  'https:': ':443',
  'wss:': ':443',
  'http:': ':80',
  'ws:': ':80',
};
const URL_PARTS = /^([a-z]+:)\/\/([^/?#]*)(.*)$/is;

/** Whether the request's signature was made with the account's token. Constant time. */
export function isSigned(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const token = credentials['auth_token'];
  const given = request.headers['x-twilio-signature'];
  if (typeof token !== 'string' || token === '' || given === undefined) return false;
  const fields = signedFields(request.formAll);
  let valid = false;
  for (const url of spellings(request.url)) {
    if (isEqual(given, signature(token, url, fields))) valid = true;
  }
  return isBodyCovered(request) && valid;
}

/** Base64 of HMAC-SHA1 over the URL and the form's fields. */
function signature(token: string, url: string, fields: string): string {
  return createHmac('sha1', token).update(url).update(fields).digest('base64');
}

/** Names and values in the order of the names; a repeated field's values once each, sorted. */
function signedFields(form: Record<string, string[]>): string {
  let text = '';
  for (const name of Object.keys(form).sort()) {
    for (const value of [...new Set(form[name])].sort()) text += name + value;
  }
  return text;
}

/** Variants of the URL that Twilio may have signed: unchanged, without its port, with the standard port. */
function spellings(url: string): Set<string> {
  const found = new Set([url]);
  const [, scheme, authority, rest] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return found;
  const host = authority.replace(/:\d*$/, '');
  found.add(`${scheme}//${host}${rest}`);
  if (host === authority) {
    found.add(`${scheme}//${host}${standardPort[scheme.toLowerCase()] ?? ''}${rest}`);
  }
  return found;
}

/** Whether the body is signed: its form's fields are, and any other body needs its hash in the URL. */
function isBodyCovered({ rawBody, formAll, url }: ProviderRequest): boolean {
  if (rawBody.length === 0 || Object.keys(formAll).length > 0) return true;
  if (!URL.canParse(url)) return false;
  const claimed = new URL(url).searchParams.get('bodySHA256') ?? '';
  return isEqual(claimed.toLowerCase(), createHash('sha256').update(rawBody).digest('hex'));
}

function isEqual(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
