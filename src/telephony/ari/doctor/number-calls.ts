// Calls every number of the configuration through the PBX's own dialplan, and reports which of them reach this gateway:
// only a call shows a wrong application, a wrong context or a missing line. It may ring telephones. A call is a Local
// channel through the context in which calls from outside begin. It is marked, so no agent starts, and ends with its
// first half, also if this process is killed. Source: asterisk §4.5.

import {
  type CheckOutcome,
  type CheckSubject,
  fail,
  pass,
  skip,
  warn,
} from '../../provider/check.ts';
import type { Finding, PbxInboundCall } from '../../provider/pbx.ts';
import { TEST_VARIABLE } from '../connection/test-calls.ts';
import type { MediaWay } from '../media/transport-selection.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import { type AriChannel, type AriEvent, ariChannel } from '../rest/messages.ts';
import { type CheckContext, check, type LiveConnection } from './check.ts';
import { JITTER_LINE } from './dialplan-lines.ts';
import {
  type Ask,
  contextsOf,
  type DialplanPlace,
  isPlain,
  PRINTED_CONTEXT,
  placeOf,
} from './dialplan-questions.ts';
import type { TestApplication } from './test-application.ts';

const CALLS: CheckSubject = { key: 'calls', title: 'Calls to numbers' };
/** Deadline for finding the numbers in the dialplan. */
const FIND_MS_MAX = 10_000;
/** Deadline of one call, its end included. */
const CALL_MS_MAX = 8_000;
/** Time after which no call is begun: the examination as a whole has a limit. */
const BEGIN_MS_MAX = 24_000;
/** Parallel calls: a ring group has that many telephones at least. */
const AT_ONCE = 4;
const NUMBERS_MAX = 50;
/** Characters that are shown of a dialplan application's data. */
const DATA_MAX = 60;
const RELOAD = 'then dialplan reload';

/** One finding for each number. `ask`: undefined if dialplan functions are not available. Never rejects. */
export async function numberCallFindings(
  context: CheckContext,
  { testApp, way }: { testApp: TestApplication; way: MediaWay },
  ask: ((signal: AbortSignal) => Ask) | undefined,
): Promise<Finding[]> {
  const { live } = context;
  const numbers = context.numbers.filter(isPlain).slice(0, NUMBERS_MAX);
  if (live?.state.kind !== 'up')
    return [notCalled('The gateway has no connection to the PBX here.')];
  if (numbers.length === 0) return [notCalled('The configuration has no number to call.')];
  if (ask === undefined) return [notCalled('The dialplan cannot be asked.')];
  const places = new Map<string, DialplanPlace>();
  const found = await check(context, { ...CALLS, msMax: FIND_MS_MAX }, (signal) =>
    findPlaces(context, { numbers, places }, ask(signal), signal),
  );
  const means: NumberCallMeans = { context, testApp, live };
  const needsJitterBuffer = way !== 'rtp';
  return [found, ...(await callAll(means, { places, needsJitterBuffer }))];
}

function notCalled(why: string): Finding {
  return { ...CALLS, ...skip(`${why} Nothing is called.`) };
}

/** Fills `places`. */
async function findPlaces(
  context: CheckContext,
  { numbers, places }: { numbers: readonly string[]; places: Map<string, DialplanPlace> },
  ask: Ask,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const { account, client, calls } = context;
  const given = calls?.context ?? null;
  if (given !== null && (await ask(`DIALPLAN_EXISTS(${given})`)) !== '1') {
    return fail(
      `The dialplan has no context ${given}.`,
      'Give the context of the trunk: pjsip show endpoint TRUNK shows it, dialplan show lists all.',
    );
  }
  const first = /^PJSIP\/[^@]*@(.+)$/i.exec(account.dial_template)?.[1];
  const contexts =
    given === null ? await contextsOf(client, ask, { signal, first }) : new Set([given]);
  if (contexts.size === 0) {
    return fail(
      'No PJSIP endpoint has a context in which a call could begin.',
      'Say in which context calls from outside begin: patchbay doctor --numbers --context NAME.',
    );
  }
  const lost: string[] = [];
  for (const number of numbers) {
    const place = await placeOf(number, contexts, ask);
    if (place === undefined) lost.push(number);
    else places.set(number, place);
  }
  const where = `${[...contexts].join(', ')}${given === null ? ', the contexts of the endpoints' : ''}`;
  if (lost.length === 0) return pass(`All ${numbers.length} are called, from ${where}.`);
  return fail(
    `No line for ${lost.join(', ')} in ${where}: such a call is rejected.`,
    await adviceForLost(account.app, lost, ask),
  );
}

async function adviceForLost(app: string, lost: readonly string[], ask: Ask): Promise<string> {
  const elsewhere = await placeOf(lost[0] ?? '', [PRINTED_CONTEXT], ask);
  if (elsewhere !== undefined) {
    return `The context ${elsewhere.context} has it: context = ${elsewhere.context} at the trunk's endpoint, or include => ${elsewhere.context} in its context; ${RELOAD}.`;
  }
  return `exten => ${lost[0]},1,Stasis(${app},inbound,\${EXTEN}) in the context of the trunk, ${RELOAD}. npx patchbay asterisk config prints the lines.`;
}

async function callAll(
  means: NumberCallMeans,
  {
    places,
    needsJitterBuffer,
  }: { places: ReadonlyMap<string, DialplanPlace>; needsJitterBuffer: boolean },
): Promise<Finding[]> {
  const { clock } = means.context;
  const until = clock.monotonicMs() + BEGIN_MS_MAX;
  const findings = new Map<string, Finding>();
  const waiting = places.entries();
  const caller = async (): Promise<void> => {
    for (const [number, place] of waiting) {
      const subject = { key: `call:${number}`, title: `Call to ${number}` };
      findings.set(number, { ...subject, ...skip('Not called: the time is over.') });
      if (clock.monotonicMs() > until) continue;
      findings.set(
        number,
        await check(means.context, { ...subject, msMax: CALL_MS_MAX }, async (signal) => {
          const trace = await callNumber(means, place, signal);
          const outcome = outcomeOf(means.context, place, trace);
          const lacksJitterBuffer = needsJitterBuffer && trace.hasJitterBuffer === false;
          return lacksJitterBuffer && outcome.verdict === 'pass' ? unbuffered(outcome) : outcome;
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return [...places.keys()].flatMap((number) => findings.get(number) ?? []);
}

function outcomeOf(context: CheckContext, place: DialplanPlace, trace: CallTrace): CheckOutcome {
  const { app } = context.account;
  const line = `Stasis(${app},inbound,\${EXTEN})`;
  const name = `${place.extension}@${place.context}`;
  const last = stepText(trace);
  if (trace.args !== undefined) return arrivedOutcome(context, place, trace);
  if (trace.otherApp !== undefined) {
    return fail(
      `${name} goes to another application, ${trace.otherApp}${last}.`,
      `${line} there, ${RELOAD}. The configuration's stasis_app_name is ${app}.`,
    );
  }
  if (trace.isUnserved) {
    return fail(
      `${name} runs Stasis(${app}), but no gateway took the call: it went on in the dialplan${last}.`,
      'See Application above: the gateway must be connected when calls come.',
    );
  }
  if (trace.isAnswered) {
    return fail(
      `${name} is answered by something else${last}, and does not reach this gateway.`,
      `Let that line be ${line}, or send it on with Goto; ${RELOAD}.`,
    );
  }
  if (trace.isOver) {
    return fail(
      `${name} ends without reaching this gateway${last}.`,
      `Is there a Hangup, a condition or a missing priority before ${line}? dialplan show ${name} shows the lines.`,
    );
  }
  return fail(
    `${name} rings elsewhere${last}: it has not reached this gateway within seconds.`,
    `${line} must come before what rings telephones, or be what it is sent to.`,
  );
}

/** The finding of a call that arrived: the gateway takes the number that the dialplan passes, not the one that was
 *  dialled. */
function arrivedOutcome(
  { account, numbers }: CheckContext,
  { context, extension }: DialplanPlace,
  { args = [], isDialledOn }: CallTrace,
): CheckOutcome {
  const [word, number = ''] = args;
  const to = (word === 'inbound' ? number : word) || extension;
  const way = isDialledOn ? ', over a channel that the dialplan dialled' : '';
  const reached = `${extension}@${context} reaches Stasis(${account.app})${way}: this gateway gets the call`;
  if (numbers.some((each) => digitsOf(each) === digitsOf(to))) {
    return pass(`${reached}${digitsOf(to) === digitsOf(extension) ? '' : ` as ${to}`}.`);
  }
  return warn(
    `${reached}, but as ${to || 'an empty number'}, which is no number of the configuration.`,
    `Stasis(${account.app},inbound,\${EXTEN}) names the dialled number; after a Goto give the number itself in place of \${EXTEN}. Or add ${to} to the configuration.`,
  );
}

/** The finding of a call that reaches the gateway, and whose lines set no jitter buffer. */
function unbuffered({ message }: CheckOutcome): CheckOutcome {
  return warn(
    `${message} Its lines set no jitter buffer: speech is garbled where packets overtake each other.`,
    `${JITTER_LINE} before Stasis, ${RELOAD}. An endpoint with set_var = JITTERBUFFER(adaptive)=default needs no line.`,
  );
}

function digitsOf(number: string): string {
  return number.replace(/^\+/, '');
}

function stepText({ last }: CallTrace): string {
  if (last === undefined) return '';
  const data = last.data.replace(/[^\x20-\x7e]/g, '?').slice(0, DATA_MAX);
  return ` (${last.app}(${data}) at ${last.at})`;
}

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

interface CallTrace {
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

interface NumberCallMeans {
  context: CheckContext;
  testApp: TestApplication;
  live: LiveConnection;
}

/** Calls the number and records its way. Throws what `AriClient` throws. */
async function callNumber(
  means: NumberCallMeans,
  place: DialplanPlace,
  signal: AbortSignal,
): Promise<CallTrace> {
  const { context, testApp, live } = means;
  const { account, client, clock } = context;
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
    live.watch(far, (event) => record.ofFar(event)),
    context.testCalls.open(account.app, near, (call) => record.dialledOn(call)),
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
      ...Object.fromEntries([['timeout', String(CALL_S_MAX)]]),
    };
    const limit = ['TIMEOUT(absolute)', String(CALL_S_MAX)] as const;
    const variables = Object.fromEntries([[`__${TEST_VARIABLE}`, near], limit]);
    const request = { action: 'dial', method: 'POST', path: 'channels', query } as const;
    await client.run({ ...request, body: { variables } }, signal);
    await Promise.race([isDecided, poll(means, { far, record, signal })]);
    signal.throwIfAborted();
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
  while (!call.record.isClosed) {
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
    if (event.type === 'StasisStart') this.#isAnswered = true;
    if (event.type === 'ChannelDestroyed') this.#over();
  }

  ofFar(event: AriEvent): void {
    if (event.type === 'StasisStart') this.#arrived(event.args);
    if (event.type === 'ChannelDialplan') this.at(event.channel);
    if (event.type === 'ChannelDestroyed') this.#over();
  }

  /** Our application received the call over another channel. */
  dialledOn(call: PbxInboundCall): void {
    this.#isDialledOn = true;
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
