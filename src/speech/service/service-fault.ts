// Faults of speech and language services: one classified error for every client, so that the fallback decides without
// knowing the service. Clients never retry by themselves.

import { codeOf, type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import { isObject, parseJson } from '../../std/json.ts';
import { codesIn, isClosedUsedUp, saysUsedUp } from './used-up.ts';

export type ServiceJob = 'stt' | 'tts' | 'llm';

/**
 * - `auth`: the key is refused; `forbidden`: the key may not use this model, region or plan;
 * - `request`: the configuration is wrong (unknown voice, model, parameter); `quota`: the account is used up;
 * - `rate`: too many requests or sessions of this key; `overload`: the service cannot serve now;
 * - `network`: DNS, TCP, TLS, a connection that broke; `timeout`: no sign of life within our deadline;
 * - `protocol`: the service sent what its protocol does not have; `session`: its longest session is over;
 * - `context`: the conversation is longer than the model takes. A shorter one may be answered.
 */
export type FaultKind =
  | 'auth'
  | 'forbidden'
  | 'request'
  | 'quota'
  | 'rate'
  | 'overload'
  | 'network'
  | 'timeout'
  | 'protocol'
  | 'session'
  | 'context';

export interface FaultDetails {
  /** Text from the service or the gateway, cut to `DETAIL_CHARACTERS_MAX`, without the secrets in `redact`. It may
   *  quote what the agent says: it is for the owner of the call, not for the process's log. */
  detail: string;
  /** HTTP status, or close code of a websocket. */
  status?: number | undefined;
  /** The service's own code. */
  vendorCode?: string | undefined;
  retryAfterMs?: number | undefined;
  /** What did not arrive in time. Default: a sign of life. */
  what?: string;
  /** Text that must not appear: keys and tokens. */
  redact?: readonly string[];
  cause?: unknown;
}

const DETAIL_CHARACTERS_MAX = 300;
/** Permanent faults: a retry is useless until the configuration or the account changes. */
const PERMANENT: ReadonlySet<FaultKind> = new Set(['auth', 'forbidden', 'request', 'quota']);
/** Faults after which the same request may succeed at once on a new connection. */
const REPEATABLE: ReadonlySet<FaultKind> = new Set(['session', 'network', 'overload']);

export class ServiceFault extends GatewayError {
  readonly job: ServiceJob;
  /** Service name as in the configuration: `deepgram`. */
  readonly service: string;
  readonly kind: FaultKind;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;

  constructor(job: ServiceJob, service: string, kind: FaultKind, details: FaultDetails) {
    const { status, vendorCode, retryAfterMs } = details;
    const detail = redacted(details.detail, details.redact ?? []);
    const facts = {
      service,
      kind,
      reason: `${service}, ${kind}${status === undefined ? '' : ` ${status}`}`,
      ...(status !== undefined && { status }),
      ...(vendorCode !== undefined && { vendorCode: redacted(vendorCode, details.redact ?? []) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(kind === 'timeout' && { what: details.what ?? 'sign of life' }),
    };
    super(CODES[job](kind), facts, details.cause);
    this.job = job;
    this.service = service;
    this.kind = kind;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }

  get isPermanent(): boolean {
    return PERMANENT.has(this.kind);
  }

  /** Whether one retry at once on a new connection is worthwhile. */
  get isRepeatable(): boolean {
    return REPEATABLE.has(this.kind);
  }

  override get retry(): boolean {
    return !this.isPermanent && this.kind !== 'context';
  }
}

/** Converts an error that no client classified: the service cannot serve. */
export function serviceFaultOf(job: ServiceJob, service: string, error: Error): ServiceFault {
  if (error instanceof ServiceFault) return error;
  return new ServiceFault(job, service, 'overload', { detail: error.message, cause: error });
}

const CODES: Record<ServiceJob, (kind: FaultKind) => ErrorCode> = {
  stt: () => 'STT_FAILED',
  tts: (kind) => (kind === 'timeout' ? 'TTS_TIMEOUT' : 'TTS_FAILED'),
  llm: (kind) => {
    if (kind === 'auth') return 'LLM_AUTH';
    if (kind === 'rate') return 'LLM_RATE';
    if (kind === 'timeout') return 'LLM_TIMEOUT';
    if (kind === 'protocol') return 'LLM_MALFORMED';
    return PERMANENT.has(kind) || kind === 'context' ? 'LLM_REFUSED' : 'LLM_FAILED';
  },
};

/** Kind of fault for an HTTP status of 400 or above. */
export function faultKindOfStatus(status: number): FaultKind {
  if (status === 401) return 'auth';
  if (status === 402) return 'quota';
  if (status === 403) return 'forbidden';
  if (status === 408) return 'timeout';
  // Conflict (409) and too early (425) are temporary.
  if (status === 409 || status === 425) return 'overload';
  if (status === 429) return 'rate';
  return status >= 500 ? 'overload' : 'request';
}

/** Kind of fault for an error response, by its status and body. */
export function faultKindOfRefusal(status: number, text: string): FaultKind {
  const said = { codes: codesIn(text), message: vendorMessage(text) };
  return saysUsedUp(status, said) ? 'quota' : faultKindOfStatus(status);
}

/** Kind of fault for a websocket close. `own`: the service's own meaning of the code. A reason that reports a used-up
 *  account takes precedence.
 *  Source: RFC 6455 §7.4.1. */
export function faultKindOfClose(code: number, reason: string, own?: FaultKind): FaultKind {
  if (isClosedUsedUp(reason)) return 'quota';
  if (own !== undefined) return own;
  if (code === 1008) return 'request';
  if (code === 1013) return 'overload';
  if ([1002, 1003, 1007, 1009, 1010].includes(code)) return 'protocol';
  // Services derive their own close codes from HTTP statuses: 4401, 4429.
  if (code >= 4400 && code < 4600) return faultKindOfStatus(code - 4000);
  return 'network';
}

/** Codes of Node.js and undici for a header or URL that cannot be sent. */
const NOT_SENT = /^(ERR_INVALID_|ERR_UNESCAPED_|UND_ERR_INVALID_ARG$)/;

/** Kind of fault for an error of a connection attempt or a request. */
export function faultKindOfError(error: unknown): FaultKind {
  if (error instanceof ServiceFault) return error.kind;
  if (codeOf(error) === 'OUTSIDE_FORBIDDEN') return 'request';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (NOT_SENT.test(code)) return 'request';
  if (/TIMEOUT|TIMEDOUT/.test(code)) return 'timeout';
  if (code.startsWith('HPE_') || code.startsWith('WS_ERR_')) return 'protocol';
  return 'network';
}

/** Removes the secrets and cuts to one line. Only long secrets are removed: a short one could be an ordinary word. */
export function redacted(text: string, secrets: readonly string[]): string {
  // Searches beyond the kept part, so that a secret that begins within it is found whole.
  const longest = Math.max(0, ...secrets.flatMap(formsOf).map(({ length }) => length));
  const searched = 4 * DETAIL_CHARACTERS_MAX + longest;
  let clean = text.slice(0, searched);
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    for (const form of formsOf(secret)) clean = clean.replaceAll(form, '[redacted]');
  }
  // The cut may have left the beginning of a secret at the end of the text, wherever that is after the replacements.
  if (text.length > searched) clean = clean.slice(0, Math.max(0, clean.length - longest));
  // Control characters would break log lines.
  return clean
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, DETAIL_CHARACTERS_MAX)
    .trim();
}

/** Forms of a secret in text: plain, and URL-encoded as services repeat it. */
function formsOf(secret: string): string[] {
  const query = new URLSearchParams([['', secret]]).toString().slice(1);
  return [secret, query, query.replaceAll('+', '%20')];
}

/** Milliseconds of a Retry-After header (seconds or a date), at most 10 minutes. Undefined if there is none. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.min(600_000, Math.max(0, ms)) : undefined;
}

/** Fields in which services put the text of an error, outermost first. */
const MESSAGE_KEYS = ['message', 'error', 'detail', 'err_msg', 'title', 'reason', 'msg'];
const MESSAGE_DEPTH_MAX = 5;

/** Message of an error body: JSON of the usual shapes, or text. */
export function vendorMessage(text: string): string {
  return messageIn(parseJson(text), 0) ?? text;
}

function messageIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  if (depth >= MESSAGE_DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return messageIn(value[0], depth + 1);
  if (!isObject(value)) return undefined;
  for (const key of MESSAGE_KEYS) {
    const found = messageIn(value[key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
