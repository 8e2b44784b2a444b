// Why a call was not connected, by the provider's report: its words, its SIP status and its cause (ITU-T Q.850). Knows no
// provider: status fields are recognised by their names and forms.

import type { CallFacts, MomentOf } from './call-facts.ts';
import { type Finding, lineOf } from './findings.ts';
import type { VerdictName } from './verdicts.ts';

/** Verdicts by words of a report, which say more than the code beside them. */
const byWords: readonly (readonly [RegExp, VerdictName])[] = [
  [/^given up by the caller/, 'caller_gave_up'],
  [/^unreachable/, 'trunk_dead'],
  [/^no such destination/, 'no_route'],
  [/unallocated|invalid.number|not_found/, 'number_wrong'],
  [/call.?rejected/, 'callee_rejected'],
];

/** Source: RFC 3261, 21; RFC 8197, RFC 8688. */
const bySip: Readonly<Record<number, VerdictName>> = {
  403: 'carrier_refused',
  404: 'number_wrong',
  408: 'trunk_dead',
  410: 'number_wrong',
  415: 'codec_missing',
  480: 'callee_unavailable',
  484: 'number_wrong',
  486: 'callee_busy',
  488: 'codec_missing',
  500: 'carrier_failed',
  502: 'carrier_failed',
  503: 'carrier_congested',
  504: 'carrier_failed',
  600: 'callee_busy',
  603: 'callee_rejected',
  604: 'number_wrong',
  606: 'codec_missing',
  607: 'callee_rejected',
  608: 'callee_rejected',
};

/** Source: ITU-T Q.850, table 1. */
const byCause: Readonly<Record<number, VerdictName>> = {
  1: 'number_wrong',
  2: 'no_route',
  3: 'no_route',
  17: 'callee_busy',
  18: 'no_answer',
  19: 'no_answer',
  20: 'callee_unavailable',
  21: 'callee_rejected',
  22: 'number_wrong',
  27: 'carrier_failed',
  28: 'number_wrong',
  34: 'carrier_congested',
  38: 'carrier_failed',
  41: 'carrier_failed',
  42: 'carrier_congested',
  50: 'carrier_refused',
  57: 'carrier_refused',
  58: 'codec_missing',
  65: 'codec_missing',
  88: 'codec_missing',
};

/** Verdicts by the normalised status, if the report has nothing more. */
const byStatus: Readonly<Record<string, VerdictName>> = {
  busy: 'callee_busy',
  'no-answer': 'no_answer',
  failed: 'call_failed',
  canceled: 'call_canceled',
};

/** Fields of a provider's report that may have a SIP status, or a word for the cause. */
const SIP_FIELD = /sip.*(code|cause|status)/i;
const CAUSE_FIELD = /cause|reason|detail/i;

/** `status`: how the run says that the call ended. */
export function unreachedFinding(facts: CallFacts, status: string): Finding {
  const report = facts.statuses.at(-1);
  const said = saidIn(report) ?? `${lineOf(facts).name} reports ${status}`;
  const hasRung = facts.statuses.some(({ body }) => body.status === 'ringing');
  const verdict = verdictOf({ status, said, hasRung }, report);
  // An Asterisk with a wrong dialplan or codec is the party; the network behind it otherwise.
  return {
    verdict,
    ...(verdict === 'no_route' && !lineOf(facts).isPbx && { party: 'carrier' as const }),
    ...(verdict === 'codec_missing' && !lineOf(facts).isPbx && { party: 'carrier' as const }),
    weight: 'ended',
    at: report ?? facts.ended,
    isAtProvider: true,
    values: { said },
    evidence: report === undefined ? [] : [report],
  };
}

function verdictOf(
  { status, said, hasRung }: { status: string; said: string; hasRung: boolean },
  report: MomentOf<'call.status'> | undefined,
): VerdictName {
  const plain = byStatus[status] ?? 'call_failed';
  // A ring time that ends is cancelled (487): its status says more than its code.
  if (status === 'busy' || status === 'canceled') return plain;
  const words = said.toLowerCase();
  const [, byItsWords] = byWords.find(([pattern]) => pattern.test(words)) ?? [];
  if (byItsWords !== undefined) return byItsWords;
  const sip = sipIn(said, report);
  // Telephones reply 480 also when nobody answers; a timeout (408) after ringing is one of the person.
  const isPerson = sip === 408 || (sip === 480 && hasRung);
  if (status === 'no-answer' && isPerson) return plain;
  const cause = Number(/\bcause (\d+)/.exec(said)?.[1] ?? 0);
  return bySip[sip] ?? byCause[cause] ?? plain;
}

function saidIn(report: MomentOf<'call.status'> | undefined): string | undefined {
  if (report === undefined) return undefined;
  const { providerStatus, raw } = report.body;
  const sip = sipIn(providerStatus, report);
  const causes = Object.entries(raw)
    .filter(([name, value]) => CAUSE_FIELD.test(name) && typeof value === 'string' && value !== '')
    .map(([, value]) => String(value).slice(0, 100));
  const isNew = (text: string): boolean => !providerStatus.includes(text);
  const more = [...new Set(causes.filter(isNew))].slice(0, 3);
  if (sip > 0 && isNew(`SIP ${sip}`) && !more.includes(String(sip))) more.push(`SIP ${sip}`);
  return [providerStatus, ...more].join(', ');
}

/** A SIP status in the provider's words or in a field of its report; 0 without one. */
function sipIn(said: string, report: MomentOf<'call.status'> | undefined): number {
  const own = /\bSIP (\d{3})\b/.exec(said)?.[1];
  if (own !== undefined) return Number(own);
  for (const [name, value] of Object.entries(report?.body.raw ?? {})) {
    if (SIP_FIELD.test(name) && /^[3-6]\d\d$/.test(String(value))) return Number(value);
  }
  return 0;
}
