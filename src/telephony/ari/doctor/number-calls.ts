// Calls every number of the configuration through the PBX's own dialplan, and reports which of them reach this gateway:
// only a call shows a wrong application, a wrong context or a missing line. It may ring telephones. number-call.ts
// has one call.

import {
  type CheckOutcome,
  type CheckSubject,
  fail,
  pass,
  skip,
  warn,
} from '../../provider/check.ts';
import type { Finding } from '../../provider/pbx.ts';
import type { MediaWay } from '../media/transport-selection.ts';
import { type CheckContext, check } from './check.ts';
import { JITTER_LINE } from './dialplan-lines.ts';
import {
  type Ask,
  contextsOf,
  type DialplanPlace,
  isPlain,
  PRINTED_CONTEXT,
  placeOf,
} from './dialplan-questions.ts';
import { type CallTrace, callNumber, type NumberCallMeans } from './number-call.ts';
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
export async function findPlaces(
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
