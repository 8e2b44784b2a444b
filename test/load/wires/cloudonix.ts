// Cloudonix: JSON with the application's key, answered by CXML, and the messages of Twilio's media streams.
// Source: developers.cloudonix.com; the media messages are those of its examples.

import { hexOf, JSON_BODY, post, secretOf, targetIn } from './announcement.ts';
import { base64Of, JsonStream } from './json-stream.ts';
import { STREAM_URL, streamMessages } from './twilio-messages.ts';
import type { InboundCall, MediaTarget, Wire } from './wire.ts';

export const cloudonixWire: Wire = {
  callIdOf: hexOf,
  payloadOf: base64Of,
  announce,
  stream: ({ callId, credentials }) =>
    new JsonStream(
      streamMessages(`MZ${callId.slice(2)}`, {
        accountSid: secretOf(credentials, 'domain_id'),
        callSid: callSidOf(callId),
        session: callId,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 },
        context: 'default',
      }),
    ),
};

/** Not the session's token, by which the call is known everywhere else. */
function callSidOf(token: string): string {
  return `c${token.slice(1)}`;
}

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials, callId, from, to } = call;
  const domain = secretOf(credentials, 'domain_id');
  const body = JSON.stringify({
    ['CallSid']: callSidOf(callId),
    ['Session']: callId,
    ['From']: from,
    ['To']: to,
    ['Direction']: 'inbound',
    ['CallStatus']: 'ringing',
    ['Domain']: domain,
    ['AccountSid']: domain,
    ['SessionData']: { token: callId, profile: {} },
  });
  const headers = {
    ...JSON_BODY,
    'user-agent': 'cloudonix',
    'x-cx-apikey': secretOf(credentials, 'application_key'),
    'x-cx-domain': domain,
    'x-cx-session': callId,
  };
  return targetIn(await post(webhookUrl, body, headers), STREAM_URL);
}
