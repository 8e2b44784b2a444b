// Twilio's webhooks: detects, verifies, decodes and answers them. Dialling and hang-up are in control.ts.
// Source: twilio.com/docs/voice/twiml, .../voice/api/call-resource#statuscallback, .../answering-machine-detection

import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import type { ProviderEvent, ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import { rejectDocument, streamDocument, xmlReply } from '../twiml/documents.ts';
import { isSigned } from './signature.ts';

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
  answer: ({ mediaUrl }) => ({ reply: xmlReply(streamDocument(mediaUrl)) }),
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
