// Findings from the faults in a call's log: which verdict a code leads to, and whether the conversation went on after it.

import type { ErrorCode } from '../../errors/gateway-error.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import type { Party } from '../../model/call-explanation.ts';
import type { CallFacts, Moment, MomentOf } from './call-facts.ts';
import type { ServiceRef } from './explanation.ts';
import {
  configuredService,
  type Finding,
  jobText,
  lineOf,
  times,
  type Weight,
} from './findings.ts';
import type { VerdictName } from './verdicts.ts';

type Fault = MomentOf<'fault'>;

/** Verdicts by the kind of a service's fault (speech/service/service-fault.ts). */
const byKind: ReadonlyMap<string, VerdictName> = new Map([
  ['auth', 'service_key_refused'],
  ['forbidden', 'service_key_refused'],
  ['quota', 'service_used_up'],
  ['rate', 'service_rate_limited'],
  ['timeout', 'service_stalled'],
  ['request', 'service_refused_request'],
  ['context', 'service_refused_request'],
  ['overload', 'service_failed'],
  ['network', 'service_failed'],
  ['protocol', 'service_failed'],
  ['session', 'service_failed'],
]);

/** Verdicts by the code of a service's fault without a kind, and its job. */
const ofServices: Readonly<Partial<Record<ErrorCode, readonly [ServiceRef['job'], VerdictName]>>> =
  {
    LLM_AUTH: ['llm', 'service_key_refused'],
    LLM_RATE: ['llm', 'service_rate_limited'],
    LLM_REFUSED: ['llm', 'service_refused_request'],
    LLM_FAILED: ['llm', 'service_failed'],
    LLM_TIMEOUT: ['llm', 'service_stalled'],
    LLM_EMPTY: ['llm', 'service_empty'],
    LLM_MALFORMED: ['llm', 'service_failed'],
    TTS_UNAVAILABLE: ['tts', 'service_failed'],
    TTS_FAILED: ['tts', 'service_failed'],
    TTS_TIMEOUT: ['tts', 'service_stalled'],
    STT_UNAVAILABLE: ['stt', 'service_failed'],
    STT_FAILED: ['stt', 'service_failed'],
  };

interface FaultRow {
  verdict: VerdictName;
  /** Whether the call may have suffered from it while it went on. Default: only a fatal one ends a call. */
  harms?: true;
  /** Whether the provider's side is the place; a PBX is then the party in place of the carrier. */
  isAtProvider?: true;
}

const atProvider = (verdict: VerdictName): FaultRow => ({ verdict, isAtProvider: true });

/** Verdicts by other codes. A code that is missing gives `other_fault`. */
const byCode: Readonly<Partial<Record<ErrorCode | 'GATEWAY_STOPPED' | 'UNEXPECTED', FaultRow>>> = {
  PROVIDER_AUTH: atProvider('provider_key_refused'),
  PROVIDER_DESTINATION: atProvider('provider_refused_number'),
  PROVIDER_CAPACITY: atProvider('provider_at_limit'),
  PROVIDER_FAILED: atProvider('provider_failed'),
  PROVIDER_REFUSED: atProvider('provider_refused'),
  PROVIDER_UNCERTAIN: atProvider('dial_uncertain'),
  PROVIDER_TIMEOUT: atProvider('dial_uncertain'),
  PBX_UNREACHABLE: atProvider('pbx_away'),
  PBX_NOT_CONNECTED: atProvider('pbx_away'),
  PBX_CALL_GONE: atProvider('pbx_media_failed'),
  PBX_TLS: atProvider('pbx_misconfigured'),
  PBX_UNAUTHORIZED: atProvider('pbx_misconfigured'),
  PBX_READ_ONLY: atProvider('pbx_misconfigured'),
  PBX_NO_ARI: atProvider('pbx_misconfigured'),
  PBX_APP_TAKEN: atProvider('pbx_misconfigured'),
  PBX_TOO_OLD: atProvider('pbx_misconfigured'),
  PBX_MEDIA: atProvider('pbx_media_failed'),
  PBX_CODEC: atProvider('codec_missing'),
  MEDIA_CODEC: atProvider('codec_missing'),
  CODEC_UNKNOWN: atProvider('codec_missing'),
  CODEC_MISSING: { verdict: 'codec_missing' },
  MEDIA_LOST: atProvider('media_lost'),
  MEDIA_SILENT: atProvider('media_silent'),
  MEDIA_MALFORMED: atProvider('media_malformed'),
  MEDIA_OVERSIZED: atProvider('media_malformed'),
  MEDIA_FLOOD: atProvider('media_malformed'),
  MEDIA_UNAUTHORIZED: atProvider('media_malformed'),
  MEDIA_STALLED: atProvider('media_stalled'),
  MEDIA_BACKLOG: { verdict: 'gateway_blocked' },
  CALLER_AUDIO_MISSING: { verdict: 'no_audio_in', harms: true, isAtProvider: true },
  GATEWAY_STOPPED: { verdict: 'gateway_killed' },
  UNEXPECTED: { verdict: 'gateway_fault' },
  INTERNAL_ERROR: { verdict: 'gateway_fault' },
  QUEUE_FULL: { verdict: 'gateway_fault' },
  TIMED_OUT: { verdict: 'gateway_fault' },
  STORE_UNAVAILABLE: { verdict: 'store_away' },
  STORE_FULL: { verdict: 'recording_failed' },
  RECORDING_FAILED: { verdict: 'recording_failed' },
  CALL_LIMIT_REACHED: { verdict: 'gateway_limit' },
  GATEWAY_OVERLOADED: { verdict: 'gateway_limit' },
  GATEWAY_DRAINING: { verdict: 'gateway_stopped' },
  PRE_CALL_FETCH_FAILED: { verdict: 'pre_call_fetch_failed' },
  CLIP_MISSING: { verdict: 'clip_missing' },
  CLIP_NOT_FOUND: { verdict: 'clip_missing' },
  VARIABLE_MISSING: { verdict: 'variable_missing' },
  AGENT_TRANSFER_REFUSED: { verdict: 'agent_unusable' },
  AGENT_OVERSIZED: { verdict: 'agent_unusable' },
  AGENT_NOT_ACTIVE: { verdict: 'agent_unusable' },
  AGENT_NOT_PUBLISHED: { verdict: 'agent_unusable' },
  WORKFLOW_INVALID: { verdict: 'agent_unusable' },
  SPEECH_SETTINGS_INVALID: { verdict: 'agent_unusable' },
  CONTEXT_OVERSIZED: { verdict: 'request_wrong' },
  NUMBER_NOT_DIALABLE: { verdict: 'request_wrong' },
};

/** One finding for each verdict and service, from all of its faults. */
export function faultFindings(facts: CallFacts): Finding[] {
  const groups = new Map<string, { row: JudgedFault; faults: Fault[] }>();
  for (const fault of facts.faults) {
    const row = judged(facts, fault);
    const key = `${row.verdict} ${row.service?.job} ${row.service?.name} ${row.subject}`;
    const group = groups.get(key) ?? { row, faults: [] };
    group.faults.push(fault);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ row, faults }) => findingOf(facts, row, faults));
}

interface JudgedFault extends FaultRow {
  service?: ServiceRef;
  next?: string;
  /** What distinguishes faults of one verdict that have no service in common. */
  subject?: string;
}

function judged(facts: CallFacts, { body }: Fault): JudgedFault {
  const { code, change, origin } = body;
  if (change !== undefined) {
    const service = { job: change.job, name: change.from, model: change.fromModel };
    return { verdict: 'service_changed', service, next: change.to };
  }
  const known = body.service ?? origin;
  const [job, byItsCode] = ofServices[code as ErrorCode] ?? [];
  if (known !== undefined) {
    const verdict = byKind.get(known.kind) ?? byItsCode ?? 'service_failed';
    const { model } = configuredService(facts, known.job);
    const service = { job: known.job, name: known.name, model };
    return { verdict, service, harms: true };
  }
  if (job !== undefined && byItsCode !== undefined) {
    return { verdict: byItsCode, service: configuredService(facts, job), harms: true };
  }
  const row = rowOf(facts, code);
  const isOfOneKind = row.verdict !== 'other_fault' && row.verdict !== 'variable_missing';
  return isOfOneKind ? row : { ...row, subject: `${code} ${body.message}` };
}

/** Media of a PBX that fail after they were open are lost with it. */
function rowOf({ mediaStarted }: CallFacts, code: string): FaultRow {
  const row = byCode[code as ErrorCode] ?? { verdict: 'other_fault' };
  const isLost = row.verdict === 'pbx_media_failed' && mediaStarted !== undefined;
  return isLost ? atProvider('pbx_restarted') : row;
}

function findingOf(facts: CallFacts, row: JudgedFault, faults: readonly Fault[]): Finding {
  const open = faults.filter((fault) => row.harms === true && !isRecovered(facts, row, fault));
  const fatal = faults.findLast(({ body }) => body.fatal);
  // The first one that nothing good followed is the place; without such a one, the first.
  const place = fatal ?? open[0] ?? faults[0];
  const at = LOSSES.has(row.verdict) ? (breakBefore(facts, place) ?? place) : place;
  const weight: Weight = fatal ? 'ended' : open.length > 0 ? 'open' : 'past';
  const { service, isAtProvider, next } = row;
  const party = partyOf(facts, row);
  return {
    verdict: row.verdict,
    ...(party && { party }),
    weight,
    at,
    ...(service && { service }),
    ...(isAtProvider && { isAtProvider }),
    values: {
      times: times(faults.length),
      ...(place && {
        message: place.body.message,
        code: place.body.code,
        said: place.body.message,
      }),
      ...(row.verdict === 'variable_missing' && { variable: variableIn(place?.body.message) }),
      ...(service && { what: jobText(service.job) }),
      ...(next !== undefined && { next }),
    },
    evidence: at === place || at === undefined ? faults : [at, ...faults],
  };
}

/** Verdicts on media that broke off before their fault: the break is the place. */
const LOSSES: ReadonlySet<VerdictName> = new Set(['pbx_restarted', 'media_lost']);

function breakBefore({ moments }: CallFacts, fault: Fault | undefined): Moment | undefined {
  const isBreak = ({ body, seq }: Moment): boolean =>
    body.type === 'media.interrupted' && seq < (fault?.seq ?? 0);
  return moments.findLast(isBreak);
}

/** A PBX is the party in place of the carrier behind a hosted provider. */
function partyOf(facts: CallFacts, row: JudgedFault): Party | undefined {
  if (row.isAtProvider !== true) return undefined;
  return lineOf(facts).isPbx ? 'pbx' : 'carrier';
}

/** Whether the conversation went on after the fault: the agent said something of its own, or the caller's words came. */
function isRecovered(facts: CallFacts, { service, verdict }: JudgedFault, fault: Fault): boolean {
  if (verdict === 'no_audio_in') return false;
  if (service?.job === 'stt') {
    return facts.turns.some(
      ({ seq, body }) => seq > fault.seq && body.source === 'speech' && body.text !== '',
    );
  }
  return facts.said.some(({ seq, body }) => seq > fault.seq && OWN_WORDS.has(body.kind));
}

type SaidKind = Extract<CallEventBody, { type: 'agent.said' }>['kind'];

/** Kinds of utterances that go on with the conversation; the others explain waits and faults. */
export const OWN_WORDS: ReadonlySet<SaidKind> = new Set([
  'greeting',
  'reply',
  'transition',
  'reprompt',
]);

/** The name in the text of VARIABLE_MISSING. */
export function variableIn(message = ''): string {
  return /^The variable (.+?) has no value/.exec(message)?.[1] ?? 'a variable';
}
