// TwiML documents that the gateway writes. Source: twilio.com/docs/voice/twiml

import assert from 'node:assert';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** `text` for use in an XML attribute or element. Characters that XML 1.0 forbids are dropped. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

function document(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;
}

/** Connects the call to our media socket; when that closes the call is hung up at once. `mediaUrl` must have no
 *  query: Twilio would drop it. */
export function streamDocument(mediaUrl: string): string {
  assert(/^wss?:\/\/[^?#]+$/.test(mediaUrl), 'a media URL without a query');
  return document(`<Connect><Stream url="${escapeXml(mediaUrl)}"/></Connect><Hangup/>`);
}

export function sayDocument(sentence: string): string {
  return document(`<Say>${escapeXml(sentence)}</Say><Hangup/>`);
}

/** The caller gets the busy tone and nothing is charged. */
export function busyDocument(): string {
  return document('<Reject reason="busy"/>');
}

export interface DialTarget {
  /** `+` and digits, or a `sip:` URI. */
  to: string;
  callerId: string;
  ringS: number;
}

/** Transfers the caller to `to`; the call ends with that leg. */
export function dialDocument({ to, callerId, ringS }: DialTarget): string {
  const noun = /^sips?:/i.test(to) ? 'Sip' : 'Number';
  const attributes = `callerId="${escapeXml(callerId)}" timeout="${Math.round(ringS)}"`;
  return document(`<Dial ${attributes}><${noun}>${escapeXml(to)}</${noun}></Dial><Hangup/>`);
}
