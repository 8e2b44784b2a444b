// Twilio: a signed form, answered by TwiML, and Media Streams.
// Source: twilio.com/docs/usage/webhooks/webhooks-security, twilio.com/docs/voice/media-streams/websocket-messages

import { createHmac } from 'node:crypto';
import { FORM, hexOf, post, secretOf, targetIn, unescapeXml } from './announcement.ts';
import { base64Of, JsonStream } from './json-stream.ts';
import { STREAM_URL, streamMessages } from './twilio-messages.ts';
import type { InboundCall, MediaTarget, Wire } from './wire.ts';

const PARAMETER = /<Parameter\b[^>]*\bname="([^"]*)"[^>]*\bvalue="([^"]*)"/g;

export const twilioWire: Wire = {
  callIdOf: (nth) => `CA${hexOf(nth)}`,
  payloadOf: base64Of,
  announce,
  stream: ({ callId, credentials, parameters }) =>
    new JsonStream(
      streamMessages(`MZ${callId.slice(2)}`, {
        accountSid: secretOf(credentials, 'account_sid'),
        callSid: callId,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 },
        customParameters: parameters,
      }),
    ),
};

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials, callId, from, to } = call;
  const authToken = secretOf(credentials, 'auth_token');
  const form = {
    ['AccountSid']: secretOf(credentials, 'account_sid'),
    ['ApiVersion']: '2010-04-01',
    ['CallSid']: callId,
    ['CallStatus']: 'ringing',
    ['Direction']: 'inbound',
    ['From']: from,
    ['To']: to,
  };
  const headers = { ...FORM, 'x-twilio-signature': signature(authToken, webhookUrl, form) };
  const reply = await post(webhookUrl, new URLSearchParams(form).toString(), headers);
  const target = targetIn(reply, STREAM_URL);
  const parameters = [...reply.text.matchAll(PARAMETER)].map(([, name = '', value = '']) => [
    unescapeXml(name),
    unescapeXml(value),
  ]);
  return {
    url: target.url,
    headers: { 'X-Twilio-Signature': signature(authToken, target.url) },
    parameters: Object.fromEntries(parameters),
  };
}

/** X-Twilio-Signature over a URL and the fields of a form. */
function signature(authToken: string, url: string, form: Record<string, string> = {}): string {
  const fields = Object.entries(form)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => name + value);
  return createHmac('sha1', authToken)
    .update(url + fields.join(''))
    .digest('base64');
}
