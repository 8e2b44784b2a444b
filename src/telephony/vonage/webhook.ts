// Vonage's webhooks: detects, verifies, decodes and answers them. An answer webhook has no status; an event has a
// status, or is an error. Events of the media socket, a leg of the call, use the same URL. Source:
// developer.vonage.com/en/voice/voice-api/webhook-reference

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isObject } from '../../std/json.ts';
import { dialable } from '../provider/forward-target.ts';
import type {
  CallAction,
  ProviderEvent,
  ProviderRequest,
  ProviderWebhook,
} from '../provider/provider.ts';
import type { RejectReason } from '../provider/terms.ts';
import { VONAGE_CALL_S_MAX } from './control.ts';
import { dialDocument, mediaDocument, type Ncco, sayDocument, waitDocument } from './ncco.ts';
import { secondsOf, statusOf } from './statuses.ts';
import { claimsOf, isSigned } from './tokens.ts';

/** Limits of a webhook's fields and characters stored with the run. Vonage sends about 15 short ones. */
const RAW_FIELDS_MAX = 100;
const RAW_CHARACTERS_MAX = 500;

const id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
const fields = z.looseObject({
  uuid: id.optional(),
  call_uuid: id.optional(),
  from: z.string().max(RAW_CHARACTERS_MAX).optional(),
  to: z.string().max(RAW_CHARACTERS_MAX).optional(),
  status: z.string().max(RAW_CHARACTERS_MAX).optional(),
  sub_state: z.string().max(RAW_CHARACTERS_MAX).optional(),
  detail: z.string().max(RAW_CHARACTERS_MAX).optional(),
});
type Fields = z.infer<typeof fields>;

const BUSY = 'All lines are busy at the moment. Please call again later.';
const sentences: Readonly<Record<RejectReason, string>> = {
  'not-configured': 'This number is not in service. Goodbye.',
  'no-workflow': 'No agent is set up to answer this number. Goodbye.',
  signature: 'This call could not be verified. Goodbye.',
  error: 'We are sorry, something went wrong on our side. Please call again later.',
  busy: BUSY,
  draining: BUSY,
};

export const vonageWebhook: ProviderWebhook = {
  routes: {
    status: 'events',
    answeredBy: 'events',
    transferResult: 'vonage/transfer-result',
    others: [],
    namedAnswer: { name: 'ncco', method: 'GET' },
    account: ['events'],
  },
  recognises,
  accountOf: (request) => claimsOf(request)?.api_key,
  verify: isSigned,
  nonceOf: (request) => claimsOf(request)?.jti,
  parse,
  answer: (request) => ncco(mediaDocument(request, VONAGE_CALL_S_MAX)),
  // The call ends with its document, which has no action left.
  endAfterMedia: () => ncco([]).reply,
  wait: (request) => ncco(waitDocument(request)),
  forward(request) {
    const { to, callerId, ringS, resultUrl } = dialable('vonage', request);
    const digits = { to: to.replace(/^\+/, ''), callerId: callerId.replace(/^\+/, '') };
    return ncco(dialDocument({ ...digits, ringS, resultUrl }));
  },
  dismiss: (_callId, words) => ncco(sayDocument(words)),
  reject: (reason) => ncco(sayDocument(sentences[reason])),
  acknowledge: () => ({ status: 200, contentType: 'application/json', body: '{"status":"ok"}' }),
};

function ncco(document: Ncco): CallAction {
  const body = JSON.stringify(document);
  return { reply: { status: 200, contentType: 'application/json', body } };
}

function recognises(request: ProviderRequest): boolean {
  const sent = contentOf(request);
  const isCall = sent['uuid'] !== undefined || sent['call_uuid'] !== undefined;
  return (sent['conversation_uuid'] !== undefined && isCall) || claimsOf(request) !== undefined;
}

/** The signed content: the body's fields, or those of the query where the method has no body. */
function contentOf({ method, json, url }: ProviderRequest): Readonly<Record<string, unknown>> {
  if (method !== 'GET') return isObject(json) ? json : {};
  return URL.canParse(url) ? Object.fromEntries(new URL(url).searchParams) : {};
}

function parse(request: ProviderRequest): ProviderEvent {
  const read = fields.safeParse(contentOf(request));
  if (!read.success) throw malformed(request, read.error);
  const { status, uuid, to } = read.data;
  if (status !== undefined) return eventOf(request, { ...read.data, status });
  // Errors have no leg.
  if (uuid === undefined || to === undefined) return other(request);
  return newCall(request, { ...read.data, uuid, to });
}

function newCall(
  request: ProviderRequest,
  { uuid, from, to }: Fields & { uuid: string; to: string },
): ProviderEvent {
  return {
    kind: 'inbound-call',
    callId: uuid,
    accountId: claimsOf(request)?.api_key ?? null,
    from: international(from ?? 'anonymous'),
    to: international(to),
    dedupeKey: `vonage:${uuid}:inbound`,
    raw: rawOf(request),
  };
}

function eventOf(request: ProviderRequest, sent: Fields & { status: string }): ProviderEvent {
  const { status: word, detail } = sent;
  const callId = sent.call_uuid ?? sent.uuid;
  if (callId === undefined) throw malformed(request);
  if (word === 'human' || word === 'machine') {
    const answeredBy = sent.sub_state === undefined ? word : `${word}_${sent.sub_state}`;
    const dedupeKey = `vonage:${callId}:${answeredBy}`;
    return { kind: 'answered-by', callId, answeredBy, machine: word === 'machine', dedupeKey };
  }
  const status = statusOf(word, detail);
  if (status === undefined || isOfMedia(sent, contentOf(request))) return other(request);
  return {
    kind: 'status',
    callId,
    status,
    providerStatus: word,
    sequence: undefined,
    durationS: secondsOf(contentOf(request)['duration']),
    dedupeKey: `vonage:${callId}:${word}`,
    raw: rawOf(request),
  };
}

/** Whether the event is about the media socket, which begins and ends as a leg of its own. */
function isOfMedia({ to }: Fields, sent: Readonly<Record<string, unknown>>): boolean {
  return /^wss?:/i.test(to ?? '') || sent['endpoint_type'] === 'websocket';
}

function international(number: string): string {
  return /^\d{5,15}$/.test(number) ? `+${number}` : number;
}

function other({ rawBody, url }: ProviderRequest): ProviderEvent {
  const content = createHash('sha256')
    .update(rawBody.length > 0 ? rawBody : url)
    .digest('hex');
  return { kind: 'other', dedupeKey: `vonage:${content}` };
}

function rawOf(request: ProviderRequest): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(contentOf(request))
      .slice(0, RAW_FIELDS_MAX)
      .map(([name, value]) => [
        name.slice(0, RAW_CHARACTERS_MAX),
        (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, RAW_CHARACTERS_MAX),
      ]),
  );
}

function malformed({ rawBody }: ProviderRequest, cause?: unknown): GatewayError {
  const facts = { provider: 'vonage', bytes: rawBody.length };
  return new GatewayError('WEBHOOK_MALFORMED', facts, cause);
}
