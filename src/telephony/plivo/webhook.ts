// Plivo's webhooks: detects, verifies, decodes and answers them. Dialling and hang-up are in control.ts.
// Source: plivo.com/docs/voice/concepts/callbacks, .../xml

import { eventOf } from '../plivo-xml/call-fields.ts';
import {
  acknowledgement,
  rejectReply,
  streamReply,
  transferReply,
} from '../plivo-xml/documents.ts';
import type { ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import { isSigned, nonceOf } from './signature.ts';

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
  answer: ({ mediaUrl }) => ({
    reply: streamReply(mediaUrl, { streamTimeout: String(STREAM_S_MAX) }),
  }),
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
