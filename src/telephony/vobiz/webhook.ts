// Vobiz's webhooks: detects, verifies, decodes and answers them. The fields are Plivo's. Their content is not signed: it
// is confirmed over REST before it has an effect. Source: docs.vobiz.ai (xml, callbacks)

import { eventOf } from '../plivo-xml/call-fields.ts';
import {
  acknowledgement,
  rejectReply,
  streamReply,
  transferReply,
} from '../plivo-xml/documents.ts';
import type { ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import { isSigned, nonceOf } from './signature.ts';

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
  answer: ({ mediaUrl }) => ({ reply: streamReply(mediaUrl, STREAM) }),
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
