// Plivo's webhooks: detects, verifies, decodes and answers them. Signature V3 covers method, URL, form and nonce.
// Dialling and hang-up are in control.ts. Source: plivo.com/docs/voice/concepts/callbacks, .../signature-validation,
// .../xml; order of signed fields as in npm plivo's validateV3Signature

import { createHmac, timingSafeEqual } from 'node:crypto';
import { eventOf } from '../plivo-xml/call-fields.ts';
import {
  acknowledgement,
  dismissReply,
  forwardReply,
  hangUpReply,
  rejectReply,
  streamReply,
  transferReply,
  waitReply,
} from '../plivo-xml/xml-documents.ts';
import { dialable } from '../provider/forward-target.ts';
import type { ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

/** Longest call in seconds: Plivo closes the stream of one that lasts longer. */
const STREAM_S_MAX = 86_400;

export const plivoWebhook: ProviderWebhook = {
  routes: {
    status: 'hangup-callback',
    answeredBy: 'answered-by',
    transferResult: 'plivo/transfer-result',
    others: ['ring-callback', 'transfer'],
    namedAnswer: { name: 'plivo-xml', method: 'POST' },
    account: ['hangup-callback'],
  },
  recognises,
  accountOf: ({ form }) => form['AuthID'] ?? form['ParentAuthID'],
  verify: isSigned,
  nonceOf,
  parse: (request) => eventOf(request, { provider: 'plivo' }),
  answer: (request) => ({
    reply: streamReply(request, { streamTimeout: String(STREAM_S_MAX) }),
  }),
  endAfterMedia: hangUpReply,
  wait: (request) => ({ reply: waitReply(request) }),
  forward: (request) => ({ reply: forwardReply(dialable('plivo', request)) }),
  dismiss: (_callId, words) => ({ reply: dismissReply(words) }),
  reject: (reason) => ({ reply: rejectReply(reason) }),
  acknowledge: acknowledgement,
  transferDocument: ({ url }) => transferReply(url),
};

/** Vobiz uses the same fields; its own headers distinguish it. */
function recognises({ headers, form }: ProviderRequest): boolean {
  const isOfVobiz =
    headers['x-vobiz-signature-v3'] !== undefined ||
    headers['x-vobiz-signature-v2'] !== undefined ||
    headers['user-agent']?.toLowerCase().includes('vobiz') === true;
  if (isOfVobiz) return false;
  return headers['x-plivo-signature-v3'] !== undefined || form['CallUUID'] !== undefined;
}

/** Signatures in one header: one for each token of the account and of its parent. */
const SIGNATURES_MAX = 8;
const NONCE = /^[\x21-\x7e]{1,128}$/;

/** Whether one of the request's signatures was made with the account's token. Constant time. */
export function isSigned(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const token = credentials['auth_token'];
  const nonce = nonceOf(request);
  if (typeof token !== 'string' || token === '' || nonce === undefined) return false;
  const base = signedText(request);
  if (base === undefined) return false;
  const expected = createHmac('sha256', token).update(`${base}.${nonce}`).digest();
  let valid = false;
  for (const given of signaturesOf(request)) if (isEqual(given, expected)) valid = true;
  return valid;
}

/** The nonce; undefined if the header is missing or not of Plivo's form. */
export function nonceOf({ headers }: ProviderRequest): string | undefined {
  const nonce = headers['x-plivo-signature-v3-nonce'];
  return nonce !== undefined && NONCE.test(nonce) ? nonce : undefined;
}

function signaturesOf({ headers }: ProviderRequest): Buffer[] {
  // An application of a subaccount is signed with the main account's token too.
  const all = [headers['x-plivo-signature-v3'], headers['x-plivo-signature-ma-v3']];
  return all
    .flatMap((list) => list?.split(',', SIGNATURES_MAX) ?? [])
    .map((text) => Buffer.from(text.trim(), 'base64'));
}

/** The signed text. Undefined for a body that is no form: nothing would cover it. */
function signedText({ method, url, rawBody, formAll }: ProviderRequest): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const hasForm = Object.keys(formAll).length > 0;
  if (rawBody.length > 0 && !hasForm) return undefined;
  const [base = '', search = ''] = url.split('#', 1)[0]?.split(/\?(.*)/s) ?? [];
  const query = sorted(multiMap(new URLSearchParams(search)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  if (method === 'GET') return query === '' ? base : `${base}?${query}`;
  if (method !== 'POST') return undefined;
  // With a form and no query the `?` stays.
  const head = query === '' && !hasForm ? base : `${base}?${query}`;
  const fields = sorted(formAll).map(([name, value]) => name + value);
  return `${head}${query !== '' && hasForm ? '.' : ''}${fields.join('')}`;
}

function multiMap(query: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
}

/** Fields sorted by name, then by value. */
function sorted(fields: Record<string, string[]>): [string, string][] {
  return Object.keys(fields)
    .sort()
    .flatMap((name) =>
      (fields[name] ?? []).toSorted().map((value): [string, string] => [name, value]),
    );
}

function isEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
