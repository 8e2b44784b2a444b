// Vobiz's webhooks: detects, verifies, decodes and answers them. The fields are Plivo's. Signatures V3 and V2 cover the
// URL without its query and a nonce, neither query nor body: the content is confirmed over REST before it has an
// effect. V1 is refused. Source: docs.vobiz.ai (xml, callbacks, validating callbacks); no SDK verifies them.

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

/** Stream limits: the longest call in seconds, and no second attempt, as the stream's token is used up. */
const STREAM = { streamTimeout: '14400', maxRetries: '0' };

export const vobizWebhook: ProviderWebhook = {
  routes: {
    status: 'hangup-callback',
    answeredBy: 'answered-by',
    transferResult: 'vobiz/transfer-result',
    others: ['ring-callback', 'transfer'],
    namedAnswer: { name: 'vobiz-xml', method: 'POST' },
    account: ['hangup-callback'],
    ofWorkflow: ['hangup-callback'],
  },
  recognises,
  accountOf: ({ form }) => form['AuthID'] ?? form['ParentAuthID'],
  verify: isSigned,
  nonceOf,
  // Indian numbers may have national form.
  parse: (request) => eventOf(request, { provider: 'vobiz', toCountry: 'IN' }),
  answer: (request) => ({ reply: streamReply(request, STREAM) }),
  endAfterMedia: hangUpReply,
  wait: (request) => ({ reply: waitReply(request) }),
  forward: (request) => ({ reply: forwardReply(dialable('vobiz', request)) }),
  dismiss: (_callId, words) => ({ reply: dismissReply(words) }),
  reject: (reason) => ({ reply: rejectReply(reason) }),
  acknowledge: acknowledgement,
  transferDocument: ({ url }) => transferReply(url),
};

function recognises({ headers }: ProviderRequest): boolean {
  return (
    headers['x-vobiz-signature-v3'] !== undefined ||
    headers['x-vobiz-signature-v2'] !== undefined ||
    headers['user-agent']?.toLowerCase().includes('vobiz') === true
  );
}

/** Signatures in one header. */
const SIGNATURES_MAX = 8;
const NONCE = /^[\x21-\x7e]{1,128}$/;

interface Signed {
  nonce: string;
  /** The signed text after the URL. */
  tail: string;
  given: Buffer[];
}

/** Whether the request's signature was made with the account's token. Constant time. */
export function isSigned(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const token = credentials['auth_token'];
  const signed = signedBy(request);
  if (typeof token !== 'string' || token === '' || signed === undefined) return false;
  const base = request.url.split(/[?#]/, 1)[0] ?? '';
  const expected = createHmac('sha256', token).update(`${base}${signed.tail}`).digest();
  let valid = false;
  for (const given of signed.given) {
    if (given.length === expected.length && timingSafeEqual(given, expected)) valid = true;
  }
  return valid;
}

/** Nonce of the signature that is verified; undefined if there is none. */
export function nonceOf(request: ProviderRequest): string | undefined {
  return signedBy(request)?.nonce;
}

/** The newer version's signature where the request has both: one request has one nonce. */
function signedBy({ headers }: ProviderRequest): Signed | undefined {
  const isV3 = headers['x-vobiz-signature-v3'] ?? headers['x-vobiz-signature-ma-v3'];
  const version = isV3 === undefined ? 'v2' : 'v3';
  const nonce = headers[`x-vobiz-signature-${version}-nonce`];
  if (nonce === undefined || !NONCE.test(nonce)) return undefined;
  const lists = [
    headers[`x-vobiz-signature-${version}`],
    headers[`x-vobiz-signature-ma-${version}`],
  ];
  const given = lists
    .flatMap((list) => list?.split(',', SIGNATURES_MAX) ?? [])
    .map((text) => Buffer.from(text.trim(), 'base64'));
  return { nonce, tail: version === 'v3' ? `.${nonce}` : nonce, given };
}
