// Rings a gateway as Twilio does: a signed webhook, whose answer names the media stream to open.

import { request } from 'undici';
import { twilioSignature } from './twilio-wire.ts';

const ANSWER_MS_MAX = 30_000;

export interface Account {
  accountSid: string;
  authToken: string;
}

export interface RingOptions extends Account {
  /** The gateway's webhook for inbound calls. */
  webhookUrl: string;
  from: string;
  to: string;
  callSid: string;
}

/** Where the call's media go. Its signature is over the URL. */
export interface MediaTarget {
  url: string;
  signature: string;
  parameters: Record<string, string>;
}

/** Rejects with the answer if it names no stream: the gateway is busy, or refuses the call. */
export async function ring(options: RingOptions): Promise<MediaTarget> {
  const { webhookUrl, accountSid, authToken, from, to, callSid } = options;
  const form = new Map([
    ['AccountSid', accountSid],
    ['ApiVersion', '2010-04-01'],
    ['CallSid', callSid],
    ['CallStatus', 'ringing'],
    ['Direction', 'inbound'],
    ['From', from],
    ['To', to],
  ]);
  const reply = await request(webhookUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': twilioSignature(authToken, webhookUrl, form),
    },
    body: new URLSearchParams([...form]).toString(),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const markup = await reply.body.text();
  const url = attribute(/<Stream\b[^>]*\burl="([^"]+)"/.exec(markup)?.[1]);
  if (url === undefined) throw new Error(`${reply.statusCode} ${markup.slice(0, 200)}`);
  return {
    url,
    signature: twilioSignature(authToken, url),
    parameters: Object.fromEntries(
      [...markup.matchAll(/<Parameter\b[^>]*\bname="([^"]*)"[^>]*\bvalue="([^"]*)"/g)].map(
        ([, name, value]) => [attribute(name) ?? '', attribute(value) ?? ''],
      ),
    ),
  };
}

function attribute(text: string | undefined): string | undefined {
  return text
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
}
