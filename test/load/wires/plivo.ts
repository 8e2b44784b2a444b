// Plivo: a form with signature V3, answered by Plivo XML, and its audio streams.
// Source: plivo.com/docs/voice/concepts/signature-validation, plivo.com/docs/voice/xml/stream

import { createHmac, randomBytes } from 'node:crypto';
import { FORM, post, secretOf, targetIn, uuidOf } from './announcement.ts';
import { base64Of, JsonStream } from './json-stream.ts';
import { answerForm, STREAM_TEXT, xmlMessages } from './plivo-messages.ts';
import type { InboundCall, MediaTarget, Wire } from './wire.ts';

/** Audio that it keeps. */
const BUFFER_MS_MAX = 40_000;

export const plivoWire: Wire = {
  callIdOf: uuidOf,
  payloadOf: base64Of,
  announce,
  stream: ({ callId, credentials }) =>
    new JsonStream(
      xmlMessages({
        callId,
        accountId: secretOf(credentials, 'auth_id'),
        bufferMsMax: BUFFER_MS_MAX,
        firstMs: Date.now(), // Its timestamps are wall clock times.
        earlyAudio: false,
        namesStream: true,
      }),
    ),
};

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials } = call;
  const form = answerForm(call);
  const nonce = randomBytes(16).toString('hex');
  const fields = Object.entries(form)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => name + value);
  // The URL has no query: the question mark stays all the same.
  const text = `${webhookUrl}?${fields.join('')}.${nonce}`;
  const signature = createHmac('sha256', secretOf(credentials, 'auth_token')).update(text);
  const headers = {
    ...FORM,
    'x-plivo-signature-v3': signature.digest('base64'),
    'x-plivo-signature-v3-nonce': nonce,
  };
  return targetIn(
    await post(webhookUrl, new URLSearchParams(form).toString(), headers),
    STREAM_TEXT,
  );
}
