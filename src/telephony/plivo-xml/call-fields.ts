// Fields of webhooks about calls, which Plivo and Vobiz share, and their words for a call's state. Source:
// plivo.com/docs/voice/concepts/callbacks and .../troubleshooting/hangup-causes, docs.vobiz.ai

import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus, ProviderName } from '../../model/provider.ts';
import type { ProviderEvent, ProviderRequest } from '../provider/provider.ts';

/** Limits of a webhook's fields and characters stored with the run. A webhook has about 30 short fields. */
const RAW_FIELDS_MAX = 100;
const RAW_CHARACTERS_MAX = 500;

const ID = /^[A-Za-z0-9_-]{1,64}$/;

const statuses = new Map<string, CallStatus>([
  ['queued', 'initiated'],
  ['initiated', 'initiated'],
  ['ringing', 'ringing'],
  ['early-media', 'ringing'],
  ['in-progress', 'in-progress'],
  ['answered', 'in-progress'],
  ['completed', 'completed'],
  ['busy', 'busy'],
  ['no-answer', 'no-answer'],
  ['timeout', 'no-answer'],
  ['failed', 'failed'],
  ['rejected', 'failed'],
  ['cancel', 'canceled'],
  ['canceled', 'canceled'],
]);

const outcomes = new Map<string, CallStatus>([
  ['4000', 'completed'],
  ['4010', 'completed'],
  ['3010', 'busy'],
  ['3000', 'no-answer'],
  ['1000', 'canceled'],
  ...['1010', '1020', '2000', '2010', '2020', '2030', '2040', '3020', '5030'].map(
    (code): [string, CallStatus] => [code, 'failed'],
  ),
]);

const causes = new Map<string, CallStatus>([
  ['normal_clearing', 'completed'],
  ['user_busy', 'busy'],
  ['no_answer', 'no-answer'],
  ['no_user_response', 'no-answer'],
  ['originator_cancel', 'canceled'],
  ['call_rejected', 'failed'],
]);

/** The normalised status of a CallStatus, or undefined if it is unknown. */
export function statusOf(providerStatus: string | undefined): CallStatus | undefined {
  return providerStatus === undefined ? undefined : statuses.get(providerStatus.toLowerCase());
}

/** Facts about a call that is over. */
export interface EndedCall {
  status?: string | undefined;
  /** Hangup cause code: `3010`. */
  code?: string | undefined;
  /** Hangup cause name: `USER_BUSY`. */
  cause?: string | undefined;
  isAnswered?: boolean | undefined;
}

/** Final status of a call. The cause is more exact than the status, which is `completed` or `failed` for much. An
 *  answered call is completed. */
export function outcomeOf({ status, code, cause, isAnswered }: EndedCall): CallStatus {
  if (isAnswered === true) return 'completed';
  const byCode = outcomes.get(code ?? '') ?? causes.get((cause ?? '').toLowerCase());
  const byStatus = statusOf(status);
  const isOver = byStatus !== undefined && !isOpen(byStatus);
  if (byCode !== undefined && (byCode !== 'completed' || !isOver)) return byCode;
  if (isOver) return byStatus;
  return isAnswered === false ? 'failed' : 'completed';
}

/** Whole seconds of digits or of a number; null for anything else. */
export function secondsOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

export interface FormReading {
  provider: ProviderName;
  /** Country that completes national numbers. Default: none. */
  toCountry?: string;
}

/** The event of a webhook, which is a form. A hang-up is never a new call, at any URL. Throws WEBHOOK_MALFORMED. */
export function eventOf(request: ProviderRequest, reading: FormReading): ProviderEvent {
  const { form } = request;
  const callUuid = form['CallUUID'];
  if (callUuid === undefined || !ID.test(callUuid)) throw malformed(request, reading);
  const callId = idOfCall(form, callUuid);
  if (form['DialStatus'] !== undefined) return transferResult(request, reading, callId);
  switch (form['Event'] ?? '') {
    case '':
    case 'StartApp':
      return form['Machine'] !== undefined && form['CallStatus'] === undefined
        ? answeredBy(request, reading, callId)
        : started(request, reading, callId);
    case 'Ring':
      return statusEvent(request, reading, { callId, status: 'ringing' });
    case 'Hangup':
      return ended(request, reading, callId);
    case 'MachineDetection':
      return answeredBy(request, reading, callId);
    default: // Redirect, Transfer, stream events, and those of later versions.
      return other(request, reading);
  }
}

/** Id of the call. A call that we placed has the id of its dial. */
function idOfCall(form: Record<string, string>, callUuid: string): string {
  const dialled = form['ALegRequestUUID'];
  const isOurs = form['Direction'] === 'outbound' && dialled !== undefined && ID.test(dialled);
  return isOurs ? dialled : callUuid;
}

function started(request: ProviderRequest, reading: FormReading, callId: string): ProviderEvent {
  const { form } = request;
  const status = statusOf(form['CallStatus']);
  if (status === undefined) return other(request, reading);
  if (!isOpen(status)) return ended(request, reading, callId);
  if (form['Direction'] !== 'inbound') return statusEvent(request, reading, { callId, status });
  const [from, to] = [form['From'], form['To']];
  if (from === undefined || to === undefined) throw malformed(request, reading);
  const { provider, toCountry } = reading;
  const dedupeKey = `${provider}:${callId}:inbound`;
  // The called number and the signature decide: the account in the form is not documented, and may be a parent.
  const call = { callId, accountId: null, from, to, ...(toCountry !== undefined && { toCountry }) };
  return { kind: 'inbound-call', ...call, dedupeKey, raw: rawOf(request) };
}

/** The event of a finished <Dial>, which requests its `action` URL. */
function transferResult(
  request: ProviderRequest,
  { provider }: FormReading,
  caller: string,
): ProviderEvent {
  const { form } = request;
  const leg = form['DialBLegUUID'] ?? '';
  const callId = ID.test(leg) ? leg : caller;
  const word = (form['DialStatus'] ?? '').slice(0, RAW_CHARACTERS_MAX);
  return {
    kind: 'transfer-result',
    callId,
    status: statusOf(word) ?? 'failed',
    providerStatus: word,
    durationS: secondsOf(form['DialBLegDuration']),
    dedupeKey: `${provider}:${callId}:transfer`,
  };
}

function isOpen(status: CallStatus): boolean {
  return status === 'initiated' || status === 'ringing' || status === 'in-progress';
}

function ended(request: ProviderRequest, reading: FormReading, callId: string): ProviderEvent {
  const { form } = request;
  const code = form['HangupCauseCode'];
  const cause = form['HangupCause'];
  const status = outcomeOf({ status: form['CallStatus'], code, cause });
  return statusEvent(request, reading, { callId, status });
}

function statusEvent(
  request: ProviderRequest,
  { provider }: FormReading,
  { callId, status }: { callId: string; status: CallStatus },
): ProviderEvent {
  const { form } = request;
  return {
    kind: 'status',
    callId,
    status,
    providerStatus: (form['CallStatus'] ?? '').slice(0, RAW_CHARACTERS_MAX),
    sequence: undefined,
    durationS: isOpen(status) ? null : secondsOf(form['Duration']),
    dedupeKey: `${provider}:${callId}:${status}`,
    raw: rawOf(request),
  };
}

function answeredBy(request: ProviderRequest, reading: FormReading, callId: string): ProviderEvent {
  const verdict = request.form['Machine']?.toLowerCase();
  if (verdict !== 'true' && verdict !== 'false') return other(request, reading);
  const machine = verdict === 'true';
  return {
    kind: 'answered-by',
    callId,
    answeredBy: machine ? 'machine' : 'human',
    machine,
    dedupeKey: `${reading.provider}:${callId}:answered-by`,
  };
}

function other({ rawBody }: ProviderRequest, { provider }: FormReading): ProviderEvent {
  const content = createHash('sha256').update(rawBody).digest('hex');
  return { kind: 'other', dedupeKey: `${provider}:${content}` };
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

function malformed({ rawBody }: ProviderRequest, { provider }: FormReading): GatewayError {
  return new GatewayError('WEBHOOK_MALFORMED', { provider, bytes: rawBody.length });
}
