// Twilio's webhooks: detects, verifies, decodes and answers them. Dialling and hang-up are in control.ts.
// X-Twilio-Signature has no time: repeated deliveries are recognised by their content. Source: twilio.com/docs/voice/twiml,
// .../voice/api/call-resource#statuscallback, .../answering-machine-detection, twilio.com/docs/usage/security

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import { dialable } from '../provider/forward-target.ts';
import type { ProviderEvent, ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import {
  dialDocument,
  dismissDocument,
  hangUpDocument,
  rejectDocument,
  streamDocument,
  waitDocument,
  xmlReply,
} from '../twiml/twiml-documents.ts';

/** Limits of a webhook's fields and characters stored with the run. Twilio sends about 40 short ones. */
const RAW_FIELDS_MAX = 100;
const RAW_CHARACTERS_MAX = 500;

const ID = /^[A-Za-z0-9_-]{1,64}$/;

const statuses = new Map<string, CallStatus>([
  ['queued', 'initiated'],
  ['initiated', 'initiated'],
  ['ringing', 'ringing'],
  ['in-progress', 'in-progress'],
  ['completed', 'completed'],
  ['busy', 'busy'],
  ['no-answer', 'no-answer'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
]);

/** The normalised status of a CallStatus, or undefined if it is unknown. */
export function statusOf(providerStatus: string | undefined): CallStatus | undefined {
  return providerStatus === undefined ? undefined : statuses.get(providerStatus);
}

export const twilioWebhook: ProviderWebhook = {
  routes: {
    status: 'status-callback',
    answeredBy: 'answered-by',
    transferResult: 'transfer-result',
    others: [],
    namedAnswer: { name: 'twiml', method: 'POST' },
    account: [],
  },
  recognises,
  accountOf: ({ form }) => form['AccountSid'],
  verify: isSigned,
  verifyUpgrade: isSigned,
  parse,
  answer: ({ mediaUrl, resumeUrl }) => ({ reply: xmlReply(streamDocument(mediaUrl, resumeUrl)) }),
  endAfterMedia: () => xmlReply(hangUpDocument()),
  wait: (request) => ({ reply: xmlReply(waitDocument(request)) }),
  forward: (request) => ({ reply: xmlReply(dialDocument(dialable('twilio', request))) }),
  dismiss: (_callId, words) => ({ reply: xmlReply(dismissDocument(words)) }),
  reject: (reason) => ({ reply: xmlReply(rejectDocument(reason)) }),
  acknowledge: () => ({
    status: 200,
    contentType: 'application/json',
    body: '{"status":"success"}',
  }),
};

/** Cloudonix uses the same fields; its own key header distinguishes it. */
function recognises({ headers, form }: ProviderRequest): boolean {
  if (headers['x-cx-apikey'] !== undefined || headers['x-cx-domain'] !== undefined) return false;
  return (
    headers['x-twilio-signature'] !== undefined ||
    headers['i-twilio-idempotency-token'] !== undefined ||
    headers['user-agent']?.startsWith('TwilioProxy') === true ||
    (form['CallSid'] !== undefined &&
      form['ApiVersion'] !== undefined &&
      form['AccountSid']?.startsWith('AC') === true)
  );
}

/** The event of a webhook. Its dedupe key consists of signed content, never of the idempotency header: a replay could
 *  have another one. */
function parse(request: ProviderRequest): ProviderEvent {
  const { form } = request;
  const callId = form['CallSid'];
  if (callId === undefined || !ID.test(callId)) throw malformed(request);
  if (form['StreamEvent'] !== undefined || form['RecordingSid'] !== undefined) {
    return other(request);
  }
  if (form['CallStatus'] === undefined) return answeredBy(request, callId);
  const status = statusOf(form['CallStatus']);
  if (status === undefined) return other(request);
  return isNewCall(form, status)
    ? inboundCall(request, callId)
    : statusEvent(request, callId, status);
}

/** Whether the request is a new call that waits for our answer, in contrast to a status callback. */
function isNewCall(form: Record<string, string>, status: CallStatus): boolean {
  const isNews = form['CallbackSource'] !== undefined || form['SequenceNumber'] !== undefined;
  const isOpen = status === 'initiated' || status === 'ringing' || status === 'in-progress';
  return form['Direction'] === 'inbound' && isOpen && !isNews;
}

function inboundCall(request: ProviderRequest, callId: string): ProviderEvent {
  const { form } = request;
  const [accountId, from, to] = [form['AccountSid'], form['From'], form['To']];
  if (accountId === undefined || from === undefined || to === undefined) throw malformed(request);
  const dedupeKey = `twilio:${callId}:inbound`;
  return { kind: 'inbound-call', callId, accountId, from, to, dedupeKey, raw: rawOf(request) };
}

function statusEvent(request: ProviderRequest, callId: string, status: CallStatus): ProviderEvent {
  const { form } = request;
  const sequence = wholeNumber(form['SequenceNumber']);
  return {
    kind: 'status',
    callId,
    status,
    providerStatus: form['CallStatus'] ?? '',
    sequence,
    durationS: wholeNumber(form['CallDuration']) ?? null,
    dedupeKey: `twilio:${callId}:${status}:${sequence ?? ''}`,
    raw: rawOf(request),
  };
}

function answeredBy(request: ProviderRequest, callId: string): ProviderEvent {
  const verdict = request.form['AnsweredBy'];
  if (verdict === undefined) return other(request);
  return {
    kind: 'answered-by',
    callId,
    answeredBy: verdict.slice(0, RAW_CHARACTERS_MAX),
    machine: verdict.startsWith('machine_') || verdict === 'fax',
    dedupeKey: `twilio:${callId}:answered-by`,
  };
}

function other({ rawBody }: ProviderRequest): ProviderEvent {
  return {
    kind: 'other',
    dedupeKey: `twilio:${createHash('sha256').update(rawBody).digest('hex')}`,
  };
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function rawOf({ form }: ProviderRequest): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(form)
      .slice(0, RAW_FIELDS_MAX)
      .map(([name, value]) => [
        name.slice(0, RAW_CHARACTERS_MAX),
        value.slice(0, RAW_CHARACTERS_MAX),
      ]),
  );
}

function malformed({ rawBody }: ProviderRequest): GatewayError {
  return new GatewayError('WEBHOOK_MALFORMED', { provider: 'twilio', bytes: rawBody.length });
}

const standardPort: Readonly<Record<string, string>> = {
  'https:': ':443',
  'wss:': ':443',
  'http:': ':80',
  'ws:': ':80',
};
const URL_PARTS = /^([a-z]+:)\/\/([^/?#]*)(.*)$/is;

/** Whether the request's signature was made with the account's token. Constant time. */
export function isSigned(request: ProviderRequest, credentials: ProviderCredentials): boolean {
  const token = credentials['auth_token'];
  const given = request.headers['x-twilio-signature'];
  if (typeof token !== 'string' || token === '' || given === undefined) return false;
  const fields = signedFields(request.formAll);
  let valid = false;
  for (const url of spellings(request.url)) {
    if (isEqual(given, signature(token, url, fields))) valid = true;
  }
  return isBodyCovered(request) && valid;
}

/** Base64 of HMAC-SHA1 over the URL and the form's fields. */
function signature(token: string, url: string, fields: string): string {
  return createHmac('sha1', token).update(url).update(fields).digest('base64');
}

/** Names and values in the order of the names; a repeated field's values once each, sorted. */
function signedFields(form: Record<string, string[]>): string {
  let text = '';
  for (const name of Object.keys(form).sort()) {
    for (const value of [...new Set(form[name])].sort()) text += name + value;
  }
  return text;
}

/** Variants of the URL that Twilio may have signed: unchanged, without its port, with the standard port. */
function spellings(url: string): Set<string> {
  const found = new Set([url]);
  const [, scheme, authority, rest] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return found;
  const host = authority.replace(/:\d*$/, '');
  found.add(`${scheme}//${host}${rest}`);
  if (host === authority) {
    found.add(`${scheme}//${host}${standardPort[scheme.toLowerCase()] ?? ''}${rest}`);
  }
  return found;
}

/** Whether the body is signed: its form's fields are, and any other body needs its hash in the URL. */
function isBodyCovered({ rawBody, formAll, url }: ProviderRequest): boolean {
  if (rawBody.length === 0 || Object.keys(formAll).length > 0) return true;
  if (!URL.canParse(url)) return false;
  const claimed = new URL(url).searchParams.get('bodySHA256') ?? '';
  return isEqual(claimed.toLowerCase(), createHash('sha256').update(rawBody).digest('hex'));
}

function isEqual(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
