// What a test call over a hosted provider says of its line: the first fault in the order of the call. Pure.

import type { ErrorCode } from '../../errors/gateway-error.ts';
import type { LineFaultCode } from '../../model/line-fault.ts';
import { type LineTest, MESSAGE_MAX } from '../../model/line-watch.ts';
import type { CallStatus } from '../../model/provider.ts';
import type { ExaminationStep } from './examination-steps.ts';

export interface EndedTestCall {
  steps: readonly ExaminationStep[];
  /** Code of the provider's refusal to dial. */
  dialFault: ErrorCode | undefined;
  finalStatus: CallStatus | undefined;
}

const faultByDial: Partial<Record<ErrorCode, LineFaultCode>> = {
  PROVIDER_AUTH: 'provider_login',
  PROVIDER_DESTINATION: 'no_route',
  PROVIDER_CAPACITY: 'trunk_congested',
};
const faultByStatus: Partial<Record<CallStatus, LineFaultCode>> = {
  busy: 'busy',
  'no-answer': 'no_answer',
};
/** Steps without which there is no audio, in their order. */
const faultByStep: Readonly<Record<string, (call: EndedTestCall) => LineFaultCode>> = {
  dial: ({ dialFault }) => (dialFault && faultByDial[dialFault]) ?? 'dial_failed',
  webhooks: () => 'webhooks',
  answered: ({ finalStatus }) => (finalStatus && faultByStatus[finalStatus]) ?? 'trunk_refused',
  media: () => 'media_failed',
};

/** `echo`: what the audio was like; undefined if there was none. */
export function lineTestOf(call: EndedTestCall, echo: LineTest | undefined): LineTest {
  for (const [key, faultOf] of Object.entries(faultByStep)) {
    const step = call.steps.find((each) => each.key === key);
    if (step?.verdict === 'fail') return unmeasured(faultOf(call), step.message);
  }
  return echo ?? unmeasured('ended_early', 'The call ended before its audio was measured.');
}

function unmeasured(fault: LineFaultCode, message: string): LineTest {
  const text = message.slice(0, MESSAGE_MAX);
  return { fault, message: text, delayMs: null, lossShare: null, codec: null };
}
