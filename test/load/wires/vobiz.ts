// Vobiz: a form of Plivo's fields whose signature covers the URL alone, answered by its XML, and its audio streams: audio
// may come before the start, and there is no last message. Source: docs.vobiz.ai

import { createHmac, randomBytes } from 'node:crypto';
import { FORM, post, secretOf, targetIn, uuidOf } from './announcement.ts';
import { base64Of, JsonStream } from './json-stream.ts';
import { answerForm, STREAM_TEXT, xmlMessages } from './plivo-messages.ts';
import type { InboundCall, MediaTarget, Wire } from './wire.ts';

/** Not stated; that of Vonage, which is the next larger to Plivo's. */
const BUFFER_MS_MAX = 60_000;

export const vobizWire: Wire = {
  callIdOf: uuidOf,
  payloadOf: base64Of,
  announce,
  stream: ({ callId, credentials }) =>
    new JsonStream(
      xmlMessages({
        callId,
        accountId: secretOf(credentials, 'auth_id'),
        bufferMsMax: BUFFER_MS_MAX,
        firstMs: 0,
        earlyAudio: true,
        namesStream: false,
      }),
    ),
};

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials } = call;
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha256', secretOf(credentials, 'auth_token'))
    .update(`${webhookUrl}.${nonce}`)
    .digest('base64');
  const headers = {
    ...FORM,
    'user-agent': 'vobiz-callback/1.0',
    'x-vobiz-signature-v3': signature,
    'x-vobiz-signature-v3-nonce': nonce,
  };
  const body = new URLSearchParams(answerForm(call)).toString();
  return targetIn(await post(webhookUrl, body, headers), STREAM_TEXT);
}
