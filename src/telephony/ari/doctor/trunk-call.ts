// The test call of a watched trunk: dials a number that answers and echoes, and tests the echo.

import { codeOf } from '../../../errors/gateway-error.ts';
import type { LineFaultCode } from '../../../model/line-fault.ts';
import type { LineTest } from '../../../model/line-watch.ts';
import { testEcho } from '../../line/line-audio.ts';
import { CALLER_TONES, LineEnd } from '../../line/line-end.ts';
import { dialQuery } from '../calls/dial-endpoint.ts';
import { explainedRefusal } from '../calls/dial-refusal.ts';
import { hangupOutcomeOf, UNDIALLED } from '../calls/hangup-outcome.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import type { AriEvent } from '../rest/messages.ts';
import { failed, type LineCallMeans, sendKeys } from './line-means.ts';

/** Ring time of the test number, which answers by itself. */
const RING_S = 20;
/** Limit at Asterisk of the call, in seconds: ends the call of a killed process. */
const CALL_S_MAX = 45;

/** Faults by the hang-up cause of a call that was not answered (ITU-T Q.850). Others: the trunk refuses the call. */
const faultByCause: Readonly<Record<number, LineFaultCode>> = {
  1: 'no_route',
  3: 'no_route',
  17: 'busy',
  18: 'trunk_dead',
  20: 'trunk_dead',
  27: 'trunk_dead',
  28: 'no_route',
  34: 'trunk_congested',
  38: 'trunk_dead',
  41: 'trunk_dead',
  42: 'trunk_congested',
  58: 'codec',
};

/** Throws what `AriClient` throws. */
export async function callTrunk(means: LineCallMeans): Promise<LineTest> {
  const { context, testApp, parts, choice, line, signal } = means;
  const { peer } = testApp;
  const { client, clock } = context;
  const channelId = testApp.channelId('d');
  const dialled = new DialledTrunk();
  const unwatch = peer.watch(channelId, (event) => dialled.take(event));
  try {
    const query = dialQuery(peer.account, {
      channelId,
      to: line.number ?? '',
      callerId: null,
      ringS: RING_S,
      mediaFormat: choice.format,
      args: 'doctor',
    });
    const limit = Object.fromEntries([['TIMEOUT(absolute)', String(CALL_S_MAX)]]);
    const request = { action: 'dial', method: 'POST', path: 'channels', query } as const;
    try {
      await client.run({ ...request, body: { variables: limit } }, signal);
    } catch (error) {
      return refused(await explainedRefusal(client, query['endpoint'] ?? '', error, signal));
    }
    const end = await dialled.answer(signal);
    if (end !== undefined) return end;
    const onClosed = () => undefined;
    const leg = await parts.openLeg({ peer, callId: channelId, channelId, onClosed }, signal);
    try {
      const caller = new LineEnd(leg.media, CALLER_TONES, clock);
      dialled.onDigit = (digit) => caller.noteDigit(digit);
      const keys = (digits: string) => sendKeys(testApp, channelId, { digits, signal });
      const test = await testEcho({ clock, signal }, caller, line.testsKeys ? keys : undefined);
      const isCut = dialled.isOver && test.fault !== null;
      return isCut ? { ...test, fault: 'ended_early', message: 'The call was ended.' } : test;
    } finally {
      await leg.close();
    }
  } finally {
    unwatch();
    await hangUpChannel(context, channelId);
  }
}

/** A dial that Asterisk refused. Throws the error if it says nothing of the trunk. */
function refused(error: unknown): LineTest {
  const message = error instanceof Error ? error.message : '';
  if (codeOf(error) === 'PROVIDER_DESTINATION') return failed('trunk_unregistered', message);
  throw error;
}

/** The dialled channel until its answer or its end. */
class DialledTrunk {
  isOver = false;
  onDigit: (digit: string) => void = () => undefined;
  #hasRung = false;
  readonly #settled: Promise<LineTest | undefined>;
  #settle: (end: LineTest | undefined) => void = () => undefined;

  constructor() {
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  take(event: AriEvent): void {
    if (event.type === 'StasisStart') this.#settle(undefined);
    if (event.type === 'Dial' && /^(RINGING|PROGRESS)$/.test(event.dialstatus))
      this.#hasRung = true;
    if (event.type === 'ChannelDtmfReceived') this.onDigit(event.digit);
    if (event.type === 'ChannelDestroyed') {
      this.isOver = true;
      this.#settle(this.#endOf(event.cause, event.tech_cause ?? 0));
    }
  }

  /** Undefined when the call is answered; else how it ended. Rejects with the reason of the signal. */
  answer(signal: AbortSignal): Promise<LineTest | undefined> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      void this.#settled.then(resolve);
    });
  }

  #endOf(cause: number, sipStatus: number): LineTest {
    const facts = { ...UNDIALLED, progressed: this.#hasRung, sipStatus };
    const { providerStatus } = hangupOutcomeOf(facts, cause);
    const unanswered = this.#hasRung ? 'no_answer' : 'trunk_dead';
    const isUnanswered = cause === 0 || cause === 16 || cause === 19;
    const fault = isUnanswered ? unanswered : (faultByCause[cause] ?? 'trunk_refused');
    return failed(fault, `The call ended before the answer: ${providerStatus}.`);
  }
}
