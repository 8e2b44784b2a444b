// The test call of a watched line over an Asterisk: the checks that it depends on, the call, its audio and its keys. The
// first fault ends it. Everything that it creates is removed before it settles.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { LineFaultCode } from '../../../model/line-fault.ts';
import type { LineSettings, LineTest } from '../../../model/line-watch.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { testBothEnds } from '../../line/line-audio.ts';
import { AGENT_TONES, CALLER_TONES, LineEnd } from '../../line/line-end.ts';
import type { Finding } from '../../provider/pbx.ts';
import { codecFault } from '../calls/codec-check.ts';
import { selectMediaTransport } from '../media/transport-selection.ts';
import type { MediaLeg } from '../rest/peer.ts';
import type { CheckContext } from './check.ts';
import { examineLink, incomingLink } from './connection-checks.ts';
import {
  contextsOf,
  type DialplanPlace,
  isPlain,
  openQuestions,
  placeOf,
} from './dialplan-questions.ts';
import { failed, type LineCallMeans, sendKeys } from './line-means.ts';
import { type MediaParts, overLoop } from './media-loop.ts';
import { type ArrivedCall, type CallTrace, callNumber } from './number-call.ts';
import { EventsUnavailable, openTestApplication, testOnConnection } from './test-application.ts';
import { callTrunk } from './trunk-call.ts';

/** Deadline of the whole test; the longest part is the ring time of a trunk. */
const TEST_MS_MAX = 50_000;
/** Limit at Asterisk of a call to a number, in seconds. */
const NUMBER_CALL_S = 30;
/** Wait for the calling channel's answer, which follows ours at once. */
const ANSWER_MS_MAX = 3_000;

export type LineCallContext = Omit<CheckContext, 'numbers' | 'calls'>;

/** Places one test call. Throws if nothing is known of the line: PBX_NOT_CONNECTED, another process has the connection of
 *  calls; GATEWAY_OVERLOADED, this process stood still. */
export async function testLine(
  of: LineCallContext,
  parts: MediaParts,
  line: LineSettings,
): Promise<LineTest> {
  if (of.live === undefined) throw new GatewayError('PBX_NOT_CONNECTED');
  const context: CheckContext = { ...of, numbers: line.number === null ? [] : [line.number] };
  const deadline = deadlineSignal(context.clock, TEST_MS_MAX, 'test call', context.signal);
  try {
    return await test({ ...context, signal: deadline.signal }, parts, line);
  } catch (error) {
    if (deadline.signal.aborted) {
      return failed('pbx_unreachable', `The test took longer than ${TEST_MS_MAX / 1_000} s.`);
    }
    if (codeOf(error) === 'GATEWAY_OVERLOADED') throw error;
    if (!(error instanceof GatewayError)) context.log.error({ err: error }, 'test call failed');
    return failed(faultOfError(error), error instanceof Error ? error.message : '');
  } finally {
    deadline.done();
  }
}

async function test(
  context: CheckContext,
  parts: MediaParts,
  line: LineSettings,
): Promise<LineTest> {
  const isIncoming = context.account.connection === 'incoming';
  const link = isIncoming ? incomingLink(context) : await examineLink(context);
  const broken = link.findings.find(({ verdict }) => verdict === 'fail');
  const { version } = link;
  if (broken !== undefined || version === undefined) return failedLink(broken);
  if (context.live?.state.kind !== 'up') {
    return failed('pbx_connection', 'The connection of calls to the PBX is not open.');
  }
  const hasAudioSocket = parts.transports.audiosocket !== undefined;
  const choice = selectMediaTransport(context.account, version, hasAudioSocket);
  const testApp = isIncoming
    ? testOnConnection(context, context.live)
    : await openTestApplication(context, version, context.signal);
  try {
    const means = { context, testApp, parts, choice, line, signal: context.signal };
    if (line.kind === 'number') return await testNumber(means);
    return await (line.kind === 'trunk' ? callTrunk(means) : testLoop(means));
  } finally {
    await testApp.close();
  }
}

function failedLink(broken: Finding | undefined): LineTest {
  const faults: Readonly<Record<string, LineFaultCode>> = {
    user: 'pbx_login',
    rights: 'pbx_rights',
    connection: 'pbx_connection',
    app: 'pbx_connection',
  };
  const fault = faults[broken?.key ?? ''] ?? 'pbx_unreachable';
  return failed(fault, broken?.message ?? 'Asterisk does not name its version.');
}

function faultOfError(error: unknown): LineFaultCode {
  if (error instanceof EventsUnavailable) return 'pbx_connection';
  const code = codeOf(error);
  if (code === 'PBX_MEDIA') return 'media_failed';
  if (code === 'PBX_CODEC') return 'codec';
  if (code === 'PROVIDER_TIMEOUT' || code === 'PROVIDER_UNCERTAIN') return 'pbx_unreachable';
  if (code === 'PBX_CALL_GONE') return 'ended_early';
  return 'pbx_setup';
}

function testLoop({ context, testApp, parts, choice, signal }: LineCallMeans): Promise<LineTest> {
  const { clock } = context;
  return overLoop(testApp, { parts, choice }, signal, {
    phone: (media) => new LineEnd(media, CALLER_TONES, clock),
    talk: (caller, { media }, both) => {
      const agent = new LineEnd(media, AGENT_TONES, clock);
      return testBothEnds({ clock, signal: both }, { caller, agent });
    },
  });
}

async function testNumber(means: LineCallMeans): Promise<LineTest> {
  const { context, testApp, line, signal } = means;
  const { live } = context;
  const number = line.number ?? '';
  if (live === undefined) return failed('pbx_connection', 'The gateway has no connection here.');
  const place = await findPlace(means, number);
  if ('fault' in place) return place;
  let result: LineTest | undefined;
  const trace = await callNumber({ context, testApp, live }, place, signal, {
    callS: NUMBER_CALL_S,
    async hold(call) {
      const [word, given = ''] = call.args;
      const to = (word === 'inbound' ? given : word) || place.extension;
      result =
        digitsOf(to) === digitsOf(number)
          ? await testArrived(means, call)
          : failed('wrong_number', `The call arrives as ${to}.`);
    },
  });
  return result ?? failed(faultOfTrace(trace), whereTo(place, trace));
}

async function findPlace(
  { context, testApp, line, signal }: LineCallMeans,
  number: string,
): Promise<DialplanPlace | LineTest> {
  const { account, client } = context;
  if (!isPlain(number)) return failed('number_unrouted', 'The number has other characters.');
  const questions = openQuestions(testApp);
  try {
    const isAskable = await questions.open(signal);
    if (!isAskable && line.context !== null) {
      return { context: line.context, extension: digitsOf(number) };
    }
    if (!isAskable) return failed('pbx_setup', 'The dialplan cannot be asked: func_dialplan.so.');
    const ask = questions.ask(signal);
    const first = /^PJSIP\/[^@]*@(.+)$/i.exec(account.dial_template)?.[1];
    const contexts =
      line.context === null
        ? await contextsOf(client, ask, { signal, first })
        : new Set([line.context]);
    const place = await placeOf(number, contexts, ask);
    const searched = [...contexts].join(', ') || 'the contexts of PJSIP endpoints';
    return place ?? failed('number_unrouted', `No line for the number in ${searched}.`);
  } finally {
    questions.close();
  }
}

/** Answers the call that has arrived, and tests its audio and keys. */
async function testArrived(
  { context, testApp, parts, line, signal }: LineCallMeans,
  call: ArrivedCall,
): Promise<LineTest> {
  const { clock } = context;
  const { peer } = testApp;
  const path = `channels/${encodeURIComponent(call.far)}/answer`;
  await peer.client.run({ action: 'answer', method: 'POST', path }, signal);
  const answered = deadlineSignal(clock, ANSWER_MS_MAX, 'answer', signal);
  try {
    await Promise.race([call.answered, rejection(answered.signal)]);
  } catch {
    signal.throwIfAborted();
    return failed('ended_early', 'The calling channel was not answered.');
  } finally {
    answered.done();
  }
  const fault = await codecFault(peer, call.far, signal);
  if (fault !== undefined) return failed('codec', fault.message);
  const open = (channelId: string): Promise<MediaLeg> =>
    parts.openLeg({ peer, callId: channelId, channelId, onClosed: () => undefined }, signal);
  const legs = await Promise.allSettled([open(call.near), open(call.far)]);
  try {
    const [near, far] = legs;
    if (near.status === 'rejected') throw near.reason;
    if (far.status === 'rejected') throw far.reason;
    const caller = new LineEnd(near.value.media, CALLER_TONES, clock);
    const agent = new LineEnd(far.value.media, AGENT_TONES, clock);
    call.watchDigits((end, digit) => (end === 'near' ? caller : agent).noteDigit(digit));
    const keys = {
      fromCaller: (digits: string) => sendKeys(testApp, call.near, { digits, signal }),
      fromAgent: (digits: string) => sendKeys(testApp, call.far, { digits, signal }),
    };
    return await testBothEnds(
      { clock, signal },
      { caller, agent },
      line.testsKeys ? keys : undefined,
    );
  } finally {
    for (const leg of legs) if (leg.status === 'fulfilled') await leg.value.close();
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function faultOfTrace(trace: CallTrace): LineFaultCode {
  if (trace.otherApp !== undefined) return 'answered_elsewhere';
  if (trace.isUnserved) return 'pbx_connection';
  if (trace.isAnswered) return 'answered_elsewhere';
  return trace.isOver ? 'ended_early' : 'not_arrived';
}

function whereTo({ context, extension }: DialplanPlace, { last }: CallTrace): string {
  const step = last === undefined ? '' : `, last at ${last.app} in ${last.at}`;
  return `${extension}@${context} does not reach the gateway${step}.`;
}

function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}
