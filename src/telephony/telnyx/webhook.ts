// Telnyx' webhooks: detects, verifies and decodes them, and answers them by commands. The Ed25519 signature covers the
// time and the body, not the URL, so the run in its path is compared with that in the body. Deliveries are unordered and
// repeated. Source: developers.telnyx.com, voice webhooks (API v2); providers §2.2, §2.4, §2.5, RFC 8032.

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import { runOfId } from '../../model/transfer-id.ts';
import { isObject } from '../../std/json.ts';
import { dialable } from '../provider/forward-target.ts';
import type {
  ProviderEvent,
  ProviderRequest,
  ProviderWebhook,
  WebhookReply,
} from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { TelnyxClient } from './client.ts';
import { connectCall, rejectCall } from './control.ts';
import { digitsIn, idIn } from './stream-settings.ts';
import { dismissCall, forwardCall, letWait } from './waiting.ts';

/** Limits of a webhook's fields and characters stored with the run. Telnyx sends about 25 short fields. */
const RAW_FIELDS_MAX = 100;
const RAW_CHARACTERS_MAX = 500;

const text = z.string().min(1).max(RAW_CHARACTERS_MAX);
const envelope = z.object({
  data: z.object({
    record_type: z.literal('event'),
    event_type: text,
    id: text,
    occurred_at: text.optional(),
    payload: z.record(z.string(), z.unknown()),
  }),
});
const callPayload = z.object({ call_control_id: text });
const inboundPayload = z.object({
  call_control_id: text,
  connection_id: z.coerce.string().min(1).max(RAW_CHARACTERS_MAX),
  /** The caller's number; empty or absent if it is withheld. */
  from: z.string().max(RAW_CHARACTERS_MAX).nullish(),
  to: text,
});
type Envelope = z.infer<typeof envelope>['data'];

/** Status by hangup cause. An answered call can have one too: its media have ended then, and the status changes
 *  nothing. */
const hangupStatuses: ReadonlyMap<string, CallStatus> = new Map([
  ['normal_clearing', 'completed'],
  ['time_limit', 'completed'],
  ['user_busy', 'busy'],
  ['timeout', 'no-answer'],
  ['no_answer', 'no-answer'],
  ['originator_cancel', 'canceled'],
]);
/** SIP statuses Busy Here and Busy Everywhere (RFC 3261, 21.4.24 and 21.6.1). */
const BUSY_SIP = new Set(['486', '600']);

const OK: WebhookReply = {
  status: 200,
  contentType: 'application/json',
  body: '{"status":"ok"}',
};

export function createTelnyxWebhook(client: TelnyxClient): ProviderWebhook {
  return {
    routes: {
      status: 'events',
      answeredBy: 'events',
      transferResult: 'telnyx/transfer-result',
      others: [],
      namedAnswer: null,
      account: [],
    },
    recognises: ({ headers, json }) =>
      headers['telnyx-signature-ed25519'] !== undefined || isEvent(json),
    accountOf({ json }) {
      const payload = envelope.safeParse(json).data?.data.payload;
      const id = payload?.['connection_id'];
      return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
    },
    verify: isSigned,
    isOfRun,
    parse,
    answer: (request) => ({
      reply: OK,
      command: (credentials, signal) => connectCall(client, request, { credentials, signal }),
    }),
    reject(reason, callId) {
      const reply = { ...OK, body: JSON.stringify({ error: reason, message: 'call refused' }) };
      if (callId === null) return { reply };
      return {
        reply,
        command: (credentials, signal) =>
          rejectCall(client, { callId, reason }, { credentials, signal }),
      };
    },
    wait: (request) => ({
      reply: OK,
      command: (credentials, signal) => letWait(client, request, { credentials, signal }),
    }),
    forward: (request) => {
      const target = dialable('telnyx', request);
      return {
        reply: OK,
        command: (credentials, signal) => forwardCall(client, target, { credentials, signal }),
      };
    },
    dismiss: (callId, words) => ({
      reply: OK,
      command: (credentials, signal) =>
        dismissCall(client, { callId, words }, { credentials, signal }),
    }),
    acknowledge: () => OK,
  };
}

/** Whether the event is about the run or a transfer of it, which its client state names once Telnyx knows it. */
function isOfRun({ json }: ProviderRequest, runId: string): boolean {
  const state = envelope.safeParse(json).data?.data.payload['client_state'];
  return typeof state !== 'string' || state === '' || runOfId(idIn(state)) === runId;
}

function isEvent(json: unknown): boolean {
  const data = isObject(json) ? json['data'] : undefined;
  return isObject(data) && data['record_type'] === 'event' && 'event_type' in data;
}

function parse(request: ProviderRequest): ProviderEvent {
  const read = envelope.safeParse(request.json);
  if (!read.success) throw malformed(request);
  const event = read.data.data;
  // Some deployments write `call_answered`.
  const type = event.event_type.replace(/^(call|streaming)_/, '$1.');
  const dedupeKey = `telnyx:${event.id}`;
  if (!type.startsWith('call.') && type !== 'streaming.failed') return { kind: 'other', dedupeKey };
  const { payload } = event;
  const named = callPayload.safeParse(payload);
  if (!named.success) throw malformed(request);
  const callId = named.data.call_control_id;
  if (type === 'streaming.failed') {
    return { kind: 'media-failed', callId, reason: shown(payload['failure_reason']), dedupeKey };
  }
  if (type === 'call.initiated' && payload['direction'] === 'incoming') {
    return inboundCall(request, event, callId);
  }
  const status = statusOf(type, payload);
  if (status !== undefined) {
    return {
      kind: 'status',
      callId,
      status,
      digits: type === 'call.answered' ? digitsIn(shown(payload['client_state'])) : undefined,
      providerStatus: type === 'call.hangup' ? `${type} ${shown(payload['hangup_cause'])}` : type,
      sequence: timeOf(event),
      durationS: null,
      dedupeKey,
      raw: rawOf(event),
    };
  }
  if (/^call\.machine\.(premium\.)?detection\.ended$/.test(type)) {
    const answeredBy = shown(payload['result']);
    return { kind: 'answered-by', callId, answeredBy, machine: isMachine(answeredBy), dedupeKey };
  }
  return { kind: 'other', dedupeKey };
}

function inboundCall(request: ProviderRequest, event: Envelope, callId: string): ProviderEvent {
  const read = inboundPayload.safeParse(event.payload);
  if (!read.success) throw malformed(request);
  const { connection_id: accountId, to } = read.data;
  const from = read.data.from || 'anonymous';
  const dedupeKey = `telnyx:${callId}:inbound`;
  return { kind: 'inbound-call', callId, accountId, from, to, dedupeKey, raw: rawOf(event) };
}

function statusOf(type: string, payload: Record<string, unknown>): CallStatus | undefined {
  if (type === 'call.initiated') return 'initiated';
  if (type === 'call.answered') return 'in-progress';
  if (type !== 'call.hangup') return undefined;
  const cause = shown(payload['hangup_cause']);
  if (cause === 'call_rejected' && BUSY_SIP.has(shown(payload['sip_hangup_cause']))) return 'busy';
  return hangupStatuses.get(cause) ?? 'failed';
}

function isMachine(result: string): boolean {
  return result === 'machine' || result === 'fax_detected';
}

/** Time of the event in milliseconds since 1970; undefined if it has none. */
function timeOf({ occurred_at: at }: Envelope): number | undefined {
  const ms = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isNaN(ms) ? undefined : ms;
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number'
    ? String(value).slice(0, RAW_CHARACTERS_MAX)
    : '';
}

/** The event's name, id and time, and the simple fields of its payload. */
function rawOf({ event_type, id, occurred_at, payload }: Envelope): Record<string, unknown> {
  const simple = Object.entries(payload).filter(
    ([name, value]) => name !== 'client_state' && (value === null || typeof value !== 'object'),
  );
  const fields = simple
    .slice(0, RAW_FIELDS_MAX)
    .map(([name, value]) => [
      name.slice(0, RAW_CHARACTERS_MAX),
      typeof value === 'string' ? value.slice(0, RAW_CHARACTERS_MAX) : value,
    ]);
  return { event_type, id, occurred_at: occurred_at ?? null, ...Object.fromEntries(fields) };
}

function malformed({ rawBody }: ProviderRequest): GatewayError {
  return new GatewayError('WEBHOOK_MALFORMED', { provider: 'telnyx', bytes: rawBody.length });
}

/** Largest age of a webhook, and largest lead over our clock, in seconds. */
const TOLERANCE_S = 300;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** SubjectPublicKeyInfo of an Ed25519 key, before the key itself (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether the account's key signed the request, within five minutes of `nowMs`. */
export function isSigned(
  { headers, rawBody }: ProviderRequest,
  credentials: ProviderCredentials,
  nowMs: number,
): boolean {
  const timestamp = headers['telnyx-timestamp'];
  const given = headers['telnyx-signature-ed25519'];
  const key = publicKeyOf(credentials['webhook_public_key']);
  if (key === undefined || given === undefined || timestamp === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_S) return false;
  const signature = Buffer.from(given, 'base64');
  if (signature.length !== SIGNATURE_BYTES) return false;
  return verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), rawBody]), key, signature);
}

function publicKeyOf(value: unknown): KeyObject | undefined {
  if (typeof value !== 'string') return undefined;
  const raw = Buffer.from(value, 'base64');
  if (raw.length !== KEY_BYTES) return undefined;
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' });
}
