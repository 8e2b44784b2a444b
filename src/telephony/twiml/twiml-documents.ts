// TwiML documents of the gateway, for Twilio and for Cloudonix, whose dialect it is. Source:
// twilio.com/docs/voice/twiml

import assert from 'node:assert';
import type { WaitRequest, WebhookReply } from '../provider/provider.ts';
import type { RejectReason } from '../provider/terms.ts';
import { escapeXml } from '../provider/xml.ts';

function document(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`;
}

/** Connects the call to our media socket; when that closes, the provider asks at `resumeUrl`, or without one hangs up
 *  at once. `mediaUrl` must have no query: Twilio would drop it. */
export function streamDocument(mediaUrl: string, resumeUrl?: string): string {
  assert(/^wss?:\/\/[^?#]+$/.test(mediaUrl), 'a media URL without a query');
  const after =
    resumeUrl === undefined
      ? '<Hangup/>'
      : `<Redirect method="POST">${escapeXml(resumeUrl)}</Redirect>`;
  return document(`<Connect><Stream url="${escapeXml(mediaUrl)}"/></Connect>${after}`);
}

/** Lets the caller wait: plays the announcement and the audio, then asks again. */
export function waitDocument({
  announcement,
  waitingAudio,
  askUrl,
}: Pick<WaitRequest, 'announcement' | 'waitingAudio' | 'askUrl'>): string {
  const said =
    announcement === undefined
      ? ''
      : announcement.audio === null
        ? `<Say>${escapeXml(announcement.words)}</Say>`
        : playVerb(announcement.audio);
  const ask = `<Redirect method="POST">${escapeXml(askUrl)}</Redirect>`;
  return document(`${said}${playVerb(waitingAudio)}${ask}`);
}

function playVerb(url: string): string {
  return `<Play>${escapeXml(url)}</Play>`;
}

/** Ends the call with these words. */
export function dismissDocument(words: string): string {
  return document(`<Say>${escapeXml(words)}</Say><Hangup/>`);
}

/** Ends the call. */
export function hangUpDocument(): string {
  return document('<Hangup/>');
}

const sentences: Readonly<Record<RejectReason, string | null>> = {
  'not-configured': 'This number is not in service. Goodbye.',
  'no-workflow': 'Nobody is set up to answer this number. Goodbye.',
  signature: 'This call could not be verified. Goodbye.',
  error: 'We are sorry, something went wrong on our side. Please call again later.',
  busy: null,
  draining: null,
};

/** Refuses a call with a sentence, or with the busy tone, which is not charged. */
export function rejectDocument(reason: RejectReason): string {
  const sentence = sentences[reason];
  if (sentence === null) return document('<Reject reason="busy"/>');
  return document(`<Say>${escapeXml(sentence)}</Say><Hangup/>`);
}

/** The reply with a document. */
export function xmlReply(body: string): WebhookReply {
  return { status: 200, contentType: 'text/xml; charset=utf-8', body };
}

/** Puts the call into the conference `name`. The first party who leaves ends the conference and the calls. */
export function conferenceDocument(name: string): string {
  const attributes = 'startConferenceOnEnter="true" endConferenceOnExit="true" beep="false"';
  const conference = `<Conference ${attributes}>${escapeXml(name)}</Conference>`;
  return document(`<Dial>${conference}</Dial><Hangup/>`);
}

export interface DialTarget {
  /** `+` and digits, or a `sip:` URI. */
  to: string;
  callerId: string;
  ringS: number;
  /** Keys to press after the answer; `w` is half a second. */
  digits?: string | undefined;
  /** URL for the progress of the new leg. */
  resultUrl?: string | undefined;
}

/** Transfers the caller to `to`; the call ends with that leg. */
export function dialDocument({ to, callerId, ringS, digits, resultUrl }: DialTarget): string {
  const noun = /^sips?:/i.test(to) ? 'Sip' : 'Number';
  const attributes = `callerId="${escapeXml(callerId)}" timeout="${Math.round(ringS)}"`;
  const report =
    resultUrl === undefined
      ? ''
      : ` statusCallback="${escapeXml(resultUrl)}" statusCallbackEvent="ringing answered completed"`;
  const keys = digits === undefined ? '' : ` sendDigits="${escapeXml(digits)}"`;
  return document(
    `<Dial ${attributes}><${noun}${keys}${report}>${escapeXml(to)}</${noun}></Dial><Hangup/>`,
  );
}
