// One call of the doctor to a number, through the PBX's own dialplan, and the way that it takes. The call is a Local channel
// through the context in which calls from outside begin. It is marked, so that no agent starts, and ends with its first
// half, also if this process is killed. Source: asterisk §4.5.

import type { PbxInboundCall } from '../../provider/pbx.ts';
import { TEST_VARIABLE } from '../connection/test-calls.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import { type AriChannel, type AriEvent, ariChannel } from '../rest/messages.ts';
import type { CheckContext, LiveConnection } from './check.ts';
import type { DialplanPlace } from './dialplan-questions.ts';
import type { TestApplication } from './test-application.ts';

/** Longest time from the dial to our application: a dialplan needs milliseconds, one with a greeting some seconds. */
const ARRIVAL_MS_MAX = 6_000;
/** Limit at Asterisk of ring time and call, in seconds: ends the call of a killed process. */
const CALL_S_MAX = 8;
/** Time after the call is over, or in another application: our event may come over another socket. */
const SETTLE_MS = 300;
/** Pause between two looks at the channel, where Asterisk sends no events of dialplan steps. */
const POLL_MS = 250;
/** Dialplan steps that are kept, the last ones. */
const STEPS_MAX = 20;
/** Caller id on the ringing telephone. */
const CALLER = 'Patchbay doctor <0>';
const FORMATS = 'ulaw,alaw,slin';

/** One step of the dialplan. */
interface DialplanStep {
  /** `context,extension,priority`. */
  at: string;
  app: string;
  data: string;
}

export interface CallTrace {
  /** Arguments of our application; undefined if the call did not reach it. */
  args: readonly string[] | undefined;
  /** Whether it reached our application over another channel, which the dialplan dialled. */
  isDialledOn: boolean;
  /** Another application to which the dialplan sent it. */
  otherApp: string | undefined;
  /** Whether our application had no client. */
  isUnserved: boolean;
  /** Whether the dialplan answered it. */
  isAnswered: boolean;
  isOver: boolean;
  /** Whether a line sets a jitter buffer; undefined if not every line was seen. */
  hasJitterBuffer: boolean | undefined;
  last: DialplanStep | undefined;
}

export interface NumberCallMeans {
  context: CheckContext;
  testApp: TestApplication;
  live: LiveConnection;
}

type OnDigit = (end: 'near' | 'far', digit: string) => void;

/** Both channels of a call that has arrived: the one that called, and the one in our application, which still rings. */
export interface ArrivedCall {
  near: string;
  far: string;
  /** Arguments of our application. */
  args: readonly string[];
  /** Calls `take` with each key that a channel receives. */
  watchDigits(take: OnDigit): void;
  /** Settles when the calling channel is answered. */
  answered: Promise<void>;
}

/** A conversation with the arrived call. Its end is the call's. */
export interface NumberTalk {
  /** Limit at Asterisk of ring time and call, in seconds. */
  callS: number;
  hold(call: ArrivedCall): Promise<void>;
}

/** Calls the number and records its way; then holds the call for `talk`. Throws what `AriClient` and `talk` throw. */
export async function callNumber(
  means: NumberCallMeans,
  place: DialplanPlace,
  signal: AbortSignal,
  talk?: NumberTalk,
): Promise<CallTrace> {
  const { context, testApp, live } = means;
  const { account, client, clock } = context;
  const callS = String(talk?.callS ?? CALL_S_MAX);
  const near = testApp.channelId('d');
  const far = live.ids.make('d');
  const record = new CallRecord(account.app, (ms) => void clock.after(ms, () => decided()));
  let decided = (): void => undefined;
  const isDecided = new Promise<void>((resolve) => {
    decided = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const unwatch = [
    testApp.peer.watch(near, (event) => record.ofNear(event)),
    testApp.peer.watch(far, (event) => record.ofFar(event)),
    live.watch(far, (event) => record.ofArrived(event)),
    context.testCalls.open(account.app, near, (call) => {
      record.dialledOn(call);
      unwatch.push(live.watch(call.callId, (event) => record.ofArrived(event)));
    }),
  ];
  const timer = clock.after(ARRIVAL_MS_MAX, decided);
  try {
    const query = {
      endpoint: `Local/${place.extension}@${place.context}/n`,
      app: testApp.peer.account.app,
      appArgs: 'doctor',
      channelId: near,
      otherChannelId: far,
      callerId: CALLER,
      formats: FORMATS,
      ...Object.fromEntries([['timeout', callS]]),
    };
    const limit = ['TIMEOUT(absolute)', callS] as const;
    const variables = Object.fromEntries([[`__${TEST_VARIABLE}`, near], limit]);
    const request = { action: 'dial', method: 'POST', path: 'channels', query } as const;
    await client.run({ ...request, body: { variables } }, signal);
    await Promise.race([isDecided, poll(means, { far, record, signal })]);
    signal.throwIfAborted();
    record.isDecided = true;
    const { args } = record.trace;
    if (args !== undefined) {
      await talk?.hold({
        near,
        args,
        far: record.farId ?? far,
        answered: record.answered,
        watchDigits: (take) => {
          record.onDigit = take;
        },
      });
    }
    return record.trace;
  } finally {
    record.isClosed = true;
    timer.cancel();
    for (const end of unwatch) end();
    await hangUpChannel(context, near);
  }
}

/** Polls the channel until the call is decided. An event reports a channel that has ended. */
async function poll(
  { context: { client, clock } }: NumberCallMeans,
  call: { far: string; record: CallRecord; signal: AbortSignal },
): Promise<void> {
  const path = `channels/${call.far}`;
  while (!call.record.isClosed && !call.record.isDecided) {
    await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve));
    if (call.record.isClosed || call.signal.aborted) return;
    const request = { action: 'look', method: 'GET', path } as const;
    const { status, body } = await client.send(request, call.signal);
    const channel = status === 200 ? ariChannel.safeParse(body).data : undefined;
    if (channel !== undefined) call.record.at(channel);
  }
}

class CallRecord {
  isClosed = false;
  /** Whether its way is known: nobody needs to look at its channel any more. */
  isDecided = false;
  /** The channel in our application, if the dialplan has dialled it. */
  farId: string | undefined;
  onDigit: OnDigit = () => undefined;
  readonly answered: Promise<void>;
  #answer: () => void = () => undefined;
  readonly #app: string;
  readonly #decideAfter: (ms: number) => void;
  readonly #steps: DialplanStep[] = [];
  #args: readonly string[] | undefined;
  #isDialledOn = false;
  #otherApp: string | undefined;
  #isSent = false;
  #isAnswered = false;
  #isOver = false;
  #hasJitterBuffer = false;
  /** Whether the extension's first line was seen; then events came for all. */
  #isWhole = false;

  constructor(app: string, decideAfter: (ms: number) => void) {
    this.#app = app;
    this.#decideAfter = decideAfter;
    this.answered = new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  get trace(): CallTrace {
    // The lines of a channel that the dialplan dialled are not seen.
    const isWhole = this.#isWhole && !this.#isDialledOn;
    return {
      args: this.#args,
      isDialledOn: this.#isDialledOn,
      otherApp: this.#otherApp,
      isUnserved: this.#isSent && this.#args === undefined,
      isAnswered: this.#isAnswered,
      isOver: this.#isOver,
      hasJitterBuffer: this.#hasJitterBuffer || (isWhole ? false : undefined),
      last: this.#steps.at(-1),
    };
  }

  ofNear(event: AriEvent): void {
    if (event.type === 'StasisStart') {
      this.#isAnswered = true;
      this.#answer();
    }
    if (event.type === 'ChannelDtmfReceived') this.onDigit('near', event.digit);
    if (event.type === 'ChannelDestroyed') this.#over();
  }

  /** An event of the channel in our application, over the connection of calls: each comes once. */
  ofArrived(event: AriEvent): void {
    if (event.type === 'ChannelDtmfReceived') this.onDigit('far', event.digit);
    this.ofFar(event);
  }

  ofFar(event: AriEvent): void {
    if (event.type === 'StasisStart') this.#arrived(event.args);
    if (event.type === 'ChannelDialplan') this.at(event.channel);
    if (event.type === 'ChannelDestroyed') this.#over();
  }

  /** Our application received the call over another channel. */
  dialledOn(call: PbxInboundCall): void {
    this.#isDialledOn = true;
    this.farId ??= call.callId;
    this.#arrived([call.to]);
  }

  at({ dialplan }: AriChannel): void {
    const { context, exten, priority, app_name: app, app_data: data } = dialplan;
    if (app === '') return;
    const at = `${context},${exten},${priority}`;
    const last = this.#steps.at(-1);
    if (last?.at === at && last.app === app) return;
    this.#isWhole ||= last === undefined && priority === 1;
    this.#hasJitterBuffer ||= /^JITTERBUFFER\((adaptive|fixed)\)=/i.test(data);
    this.#steps.push({ at, app, data });
    if (this.#steps.length > STEPS_MAX) this.#steps.shift();
    if (app !== 'Stasis') return;
    const [name = ''] = data.split(',', 1);
    if (name === this.#app) {
      this.#isSent = true;
    } else {
      this.#otherApp = name;
      this.#decideAfter(SETTLE_MS);
    }
  }

  #arrived(args: readonly string[]): void {
    this.#args ??= args;
    this.#decideAfter(0);
  }

  #over(): void {
    this.#isOver = true;
    this.#decideAfter(SETTLE_MS);
  }
}
