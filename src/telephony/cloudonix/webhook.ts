// Cloudonix' webhooks: recognises, verifies, decodes and answers them. Source: providers §5.2, §5.4.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import { dialable } from '../provider/forward-target.ts';
import type { ProviderEvent, ProviderRequest, ProviderWebhook } from '../provider/provider.ts';
import {
  dialDocument,
  dismissDocument,
  hangUpDocument,
  rejectDocument,
  streamDocument,
  waitDocument,
  xmlReply,
} from '../twiml/twiml-documents.ts';
import { fullDomain } from './config.ts';
import {
  durationOf,
  sessionFacts,
  statusOf,
  statusOfApplication,
  statusOfDisposition,
  TOKEN,
} from './session-status.ts';
import { isProven, isReport } from './webhook-proof.ts';

/** Limits of a webhook's fields and characters stored with the run. */
const RAW_FIELDS_MAX = 100;
const RAW_CHARACTERS_MAX = 500;
/** A domain by name; webhooks may have its id or uuid instead, which no configuration contains. */
const DOMAIN_NAME = /^(?!\d+$)(?![0-9a-f]{8}-[0-9a-f-]{27}$)[a-z0-9][a-z0-9.-]{0,254}$/i;

type Fields = Readonly<Record<string, unknown>>;

export const cloudonixWebhook: ProviderWebhook = {
  routes: {
    status: 'status-callback',
    answeredBy: 'status-callback', // It has no answering machine detection.
    transferResult: 'cloudonix/transfer-result',
    others: [],
    namedAnswer: null,
    account: ['cdr'],
  },
  recognises,
  accountOf: (request) => domainOf(request) ?? undefined,
  verify: isProven,
  isReport,
  parse,
  answer: ({ mediaUrl, resumeUrl }) => ({ reply: xmlReply(streamDocument(mediaUrl, resumeUrl)) }),
  endAfterMedia: () => xmlReply(hangUpDocument()),
  wait: (request) => ({ reply: xmlReply(waitDocument(request)) }),
  forward(request) {
    const { to, callerId, ringS } = dialable('cloudonix', request);
    // The result at the destination is not reported: there is no documented callback.
    return { reply: xmlReply(dialDocument({ to, callerId, ringS })) };
  },
  dismiss: (_callId, words) => ({ reply: xmlReply(dismissDocument(words)) }),
  reject: (reason) => ({ reply: xmlReply(rejectDocument(reason)) }),
  acknowledge: () => ({
    status: 200,
    contentType: 'application/json',
    body: '{"status":"success"}',
  }),
};

function recognises(request: ProviderRequest): boolean {
  const { headers } = request;
  if (Object.keys(headers).some((name) => name.startsWith('x-cx-'))) return true;
  if (headers['user-agent']?.toLowerCase().includes('cloudonix') === true) return true;
  const fields = fieldsOf(request);
  return fields['Session'] !== undefined && fields['Domain'] !== undefined;
}

const anyFields = z.record(z.string(), z.unknown());

/** The fields of a JSON object, of a list of one object (the last one counts), or of a form. */
function fieldsOf({ json, form }: ProviderRequest): Fields {
  const body = Array.isArray(json) ? json.at(-1) : (json ?? form);
  return anyFields.safeParse(body).data ?? {};
}

/** The field as text; undefined for an empty text too. */
function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The account's domain as configurations have it; null if the request has none, or its id instead of its name. */
function domainOf(request: ProviderRequest): string | null {
  const fields = fieldsOf(request);
  const named = [
    textOf(fields, 'Domain'),
    textOf(fields, 'AccountSid'),
    textOf(fields, 'domain'),
    request.headers['x-cx-domain'],
  ].find((each) => each !== undefined && DOMAIN_NAME.test(each));
  return named === undefined ? null : fullDomain(named);
}

/** The event of a webhook. Throws WEBHOOK_MALFORMED. */
function parse(request: ProviderRequest): ProviderEvent {
  const fields = fieldsOf(request);
  if (fields['disposition'] !== undefined) return detailRecord(request, fields);
  if (fields['token'] !== undefined && fields['status'] !== undefined) {
    return sessionUpdate(request, fields);
  }
  const callId = textOf(fields, 'Session') ?? request.headers['x-cx-session'];
  if (callId === undefined || !TOKEN.test(callId)) throw malformed(request);
  const word = textOf(fields, 'CallStatus');
  const direction = textOf(fields, 'Direction')?.toLowerCase();
  const status = word === undefined ? 'ringing' : statusOfApplication(word);
  // A subscriber is a SIP telephone of the domain.
  if (direction === 'inbound' || direction === 'subscriber') {
    const isOver = status !== undefined && !isOpen(status);
    if (!isOver) return inboundCall(request, fields, callId);
  }
  return statusEvent(request, { callId, word: word ?? '', status: status ?? 'in-progress' });
}

function isOpen(status: CallStatus): boolean {
  return status === 'initiated' || status === 'ringing' || status === 'in-progress';
}

function inboundCall(request: ProviderRequest, fields: Fields, callId: string): ProviderEvent {
  const to = textOf(fields, 'To');
  if (to === undefined) throw malformed(request);
  // A caller may withhold its number.
  const from = textOf(fields, 'From') ?? 'anonymous';
  return {
    kind: 'inbound-call',
    callId,
    from,
    to,
    accountId: domainOf(request),
    dedupeKey: `cloudonix:${callId}:inbound`,
    raw: rawOf(fields),
  };
}

function sessionUpdate(request: ProviderRequest, fields: Fields): ProviderEvent {
  const session = sessionFacts.safeParse(fields);
  if (!session.success) throw malformed(request, session.error);
  const status = statusOf(session.data);
  if (status === undefined) return other(request);
  return statusEvent(request, {
    callId: session.data.token,
    word: session.data.status,
    status,
    sequence: session.data.modifiedAt ?? undefined,
    durationS: durationOf(session.data),
  });
}

const record = z.object({
  disposition: z.string(),
  session: z.object({ token: z.string().regex(TOKEN) }),
  billsec: z.coerce.number().int().min(0).optional().catch(undefined),
});

function detailRecord(request: ProviderRequest, fields: Fields): ProviderEvent {
  const read = record.safeParse(fields);
  if (!read.success) throw malformed(request, read.error);
  const { disposition, session, billsec } = read.data;
  const status = statusOfDisposition(disposition);
  if (status === undefined) return other(request);
  const facts = { callId: session.token, word: disposition, status, durationS: billsec ?? null };
  return statusEvent(request, facts);
}

function statusEvent(
  request: ProviderRequest,
  facts: {
    callId: string;
    word: string;
    status: CallStatus;
    sequence?: number | undefined;
    durationS?: number | null;
  },
): ProviderEvent {
  const { callId, word, status, sequence, durationS = null } = facts;
  return {
    kind: 'status',
    callId,
    status,
    sequence,
    durationS,
    providerStatus: word.slice(0, RAW_CHARACTERS_MAX),
    dedupeKey: `cloudonix:${callId}:${status}`,
    raw: rawOf(fieldsOf(request)),
  };
}

function other({ rawBody }: ProviderRequest): ProviderEvent {
  const hash = createHash('sha256').update(rawBody).digest('hex');
  return { kind: 'other', dedupeKey: `cloudonix:${hash}` };
}

/** Plain values only: the profile of a session may have any content. */
function rawOf(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .slice(0, RAW_FIELDS_MAX)
      .map(([name, value]) => [name.slice(0, RAW_CHARACTERS_MAX), short(value)]),
  );
}

function short(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, RAW_CHARACTERS_MAX) : value;
}

function malformed({ rawBody }: ProviderRequest, cause?: unknown): GatewayError {
  const facts = { provider: 'cloudonix', bytes: rawBody.length };
  return new GatewayError('WEBHOOK_MALFORMED', facts, cause);
}
