// XML documents for Plivo and Vobiz, and the URL at which they fetch a transfer's document. Source:
// plivo.com/docs/voice/xml, docs.vobiz.ai (xml)

import assert from 'node:assert';
import { z } from 'zod';
import { parseJson } from '../../std/json.ts';
import type {
  AnswerRequest,
  ForwardRequest,
  WaitRequest,
  WebhookReply,
} from '../provider/provider.ts';
import type { RejectReason } from '../provider/terms.ts';
import { escapeXml } from '../provider/xml.ts';

const DIALABLE = /^(\d{5,15}|sips?:[^\s<>"]{1,200})$/i;

/** Whether a document can dial it: digits with the country code, or a SIP URI. */
export function isDialableByXml(to: string): boolean {
  return DIALABLE.test(to);
}

const sentences: Readonly<Record<RejectReason, string | null>> = {
  'not-configured': 'This number is not in service. Goodbye.',
  'no-workflow': 'Nobody is set up to answer this number. Goodbye.',
  signature: 'This call could not be verified. Goodbye.',
  error: 'We are sorry, something went wrong on our side. Please call again later.',
  busy: null,
  draining: null,
};

/** Connects the call to our media socket; when that closes, the provider asks at `resumeUrl`, or without one hangs up.
 *  `attributes`: those of one provider. */
export function streamReply(
  { mediaUrl, resumeUrl }: Pick<AnswerRequest, 'mediaUrl' | 'resumeUrl'>,
  attributes: Readonly<Record<string, string>>,
): WebhookReply {
  const all = {
    bidirectional: 'true',
    // Without this the document ends at once, and the call with it.
    keepCallAlive: 'true',
    audioTrack: 'inbound',
    contentType: 'audio/x-mulaw;rate=8000',
    ...attributes,
  };
  const text = Object.entries(all).map(([name, value]) => ` ${name}="${escapeXml(value)}"`);
  const after =
    resumeUrl === undefined
      ? '<Hangup/>'
      : `<Redirect method="POST">${escapeXml(resumeUrl)}</Redirect>`;
  return xml(`<Stream${text.join('')}>${escapeXml(mediaUrl)}</Stream>${after}`);
}

/** Lets the caller wait: plays the announcement and the audio, then asks again. */
export function waitReply({
  announcement,
  waitingAudio,
  askUrl,
}: Pick<WaitRequest, 'announcement' | 'waitingAudio' | 'askUrl'>): WebhookReply {
  const said =
    announcement === undefined
      ? ''
      : announcement.audio === null
        ? `<Speak>${escapeXml(announcement.words)}</Speak>`
        : playElement(announcement.audio);
  const ask = `<Redirect method="POST">${escapeXml(askUrl)}</Redirect>`;
  return xml(`${said}${playElement(waitingAudio)}${ask}`);
}

function playElement(url: string): string {
  return `<Play>${escapeXml(url)}</Play>`;
}

/** Connects the caller with another number; the call ends with that leg. */
export function forwardReply({ to, callerId, ringS, resultUrl }: ForwardRequest): WebhookReply {
  return xml(dialElement({ to, callerId: callerId.replace(/^\+/, ''), ringS, resultUrl }));
}

/** Ends the call with these words. */
export function dismissReply(words: string): WebhookReply {
  return xml(`<Speak>${escapeXml(words)}</Speak><Hangup/>`);
}

/** Ends the call. */
export function hangUpReply(): WebhookReply {
  return xml('<Hangup/>');
}

/** Refuses the call with a sentence, or with the busy tone. */
export function rejectReply(reason: RejectReason): WebhookReply {
  const sentence = sentences[reason];
  if (sentence === null) return xml('<Hangup reason="busy"/>');
  return xml(`<Speak>${escapeXml(sentence)}</Speak><Hangup/>`);
}

export function acknowledgement(): WebhookReply {
  return { status: 200, contentType: 'application/json', body: '{"status":"success"}' };
}

/** Destination of a transfer. */
interface DialTarget {
  /** Digits with the country code, or a SIP URI. */
  to: string;
  callerId: string;
  ringS: number;
  /** Keys to press after the answer; `w` is half a second. */
  digits?: string | undefined;
  /** Where the provider reports the result at the destination. */
  resultUrl?: string | undefined;
}

const CONFERENCE = 'conference';
const CONFERENCE_NAME = /^[A-Za-z0-9-]{1,64}$/;
const TARGET = 'target';
const RING_S_MAX = 600;
const dialTarget = z.tuple([
  z.string().regex(DIALABLE),
  z.string().max(100),
  z.int().min(1).max(RING_S_MAX),
  z
    .url({ protocol: /^https?$/ })
    .max(500)
    .nullish(),
  z
    .string()
    .regex(/^[\d*#A-Dw]{1,100}$/)
    .optional(),
]);

/** `documentUrl` with the target in its query, in characters that need no percent-encoding: signatures cover the URL as
 *  it was sent. */
export function transferUrl(documentUrl: string, target: DialTarget): string {
  const { to, callerId, ringS, digits, resultUrl = null } = target;
  assert(/^https?:\/\/[^?#]+$/.test(documentUrl), 'a URL without a query');
  const ring = Math.min(RING_S_MAX, Math.max(1, Math.round(ringS)));
  const from = callerId.replace(/^\+/, '');
  const keys = digits === undefined ? [] : [digits];
  const facts = JSON.stringify([to, from, ring, resultUrl, ...keys]);
  return `${documentUrl}?${TARGET}=${Buffer.from(facts).toString('base64url')}`;
}

/** `documentUrl` with the name of a conference in its query. */
export function conferenceUrl(documentUrl: string, name: string): string {
  assert(/^https?:\/\/[^?#]+$/.test(documentUrl), 'a URL without a query');
  assert(CONFERENCE_NAME.test(name), 'a name without special characters');
  return `${documentUrl}?${CONFERENCE}=${name}`;
}

/** The document of the transfer or conference that `url` names; undefined if it names none. The call ends with the new
 *  leg, or with the first who leaves the conference. */
export function transferReply(url: string): WebhookReply | undefined {
  const parameters = URL.canParse(url) ? new URL(url).searchParams : undefined;
  const name = parameters?.get(CONFERENCE) ?? '';
  if (CONFERENCE_NAME.test(name)) {
    const attributes = 'startConferenceOnEnter="true" endConferenceOnExit="true"';
    return xml(`<Conference ${attributes}>${name}</Conference><Hangup/>`);
  }
  const query = parameters?.get(TARGET) ?? null;
  if (query === null) return undefined;
  const facts = parseJson(Buffer.from(query, 'base64url').toString());
  const target = dialTarget.safeParse(facts);
  if (!target.success) return undefined;
  const [to, callerId, ringS, resultUrl, digits] = target.data;
  return xml(dialElement({ to, callerId, ringS, digits, resultUrl: resultUrl ?? undefined }));
}

function dialElement({ to, callerId, ringS, digits, resultUrl }: DialTarget): string {
  const noun = /^sips?:/i.test(to) ? 'User' : 'Number';
  const attributes = `callerId="${escapeXml(callerId)}" timeout="${ringS}"`;
  // Without `redirect` the document goes on, whatever the reply is.
  const report = resultUrl
    ? ` action="${escapeXml(resultUrl)}" method="POST" redirect="false"`
    : '';
  const keys = digits === undefined ? '' : ` sendDigits="${escapeXml(digits)}"`;
  return `<Dial ${attributes}${report}><${noun}${keys}>${escapeXml(to)}</${noun}></Dial><Hangup/>`;
}

function xml(verbs: string): WebhookReply {
  return {
    status: 200,
    contentType: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`,
  };
}
