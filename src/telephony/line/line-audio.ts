// The audio of a test call: both ends send at once, or one end sends and hears its own echo; then keys. The verdict names
// the first fault in the order of what callers notice most. Pure but for the calls to the ends.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { LineFaultCode } from '../../model/line-fault.ts';
import { type LineTest, MESSAGE_MAX } from '../../model/line-watch.ts';
import type { Clock } from '../../std/clock.ts';
import { pause } from '../../std/pause.ts';
import { AGENT_TONES, CALLER_TONES, type Heard, type LineEnd } from './line-end.ts';

/** Audio of either kind that counts as heard. */
const HEARD_MS_MIN = 300;
/** A tone that comes distorted and louder than it was sent (-15 dBFS): A-law that is decoded as mu-law, or the reverse,
 *  has a purity of 0.82 to 0.90 and -4 to -10 dBFS. */
const PURITY_MIN = 0.94;
const DISTORTED_DB = -12;
/** Level below which speech is not understood beside the noise of a line. */
const FAINT_DB = -40;
/** Loss that listeners notice and recognisers suffer from (ITU-T G.113, appendix I). */
const LOSS_MAX = 0.05;
/** One way; more disturbs a conversation (ITU-T G.114). */
const DELAY_MS_MAX = 400;
const ECHO_DELAY_MS_MAX = 2 * DELAY_MS_MAX;
/** More than the receiving side's buffer of our calls holds. */
const JITTER_MS_MAX = 100;
/** Wait for late audio after the pattern. */
const LATE_MS = 1_500;
/** Time before the pattern in which an echo is silent. */
const QUIET_MS = 1_000;
const OTHER_MS_MIN = 200;
const KEYS = '5#';
const KEYS_MS_MAX = 4_000;
const KEY_POLL_MS = 100;

type SendKeys = (digits: string) => Promise<void>;

export interface TestedCall {
  clock: Clock;
  signal: AbortSignal;
}

/** Faults that a stall of this process looks like. */
const OF_TIME: ReadonlySet<LineFaultCode | null> = new Set([
  'loss',
  'late_audio',
  'jitter',
] as const);

/** Tests a call of which both ends are ours. Throws GATEWAY_OVERLOADED if this process stood still meanwhile. `keys`: sends keys from each end; undefined: they are not tested. */
export async function testBothEnds(
  { clock, signal }: TestedCall,
  ends: { caller: LineEnd; agent: LineEnd },
  keys?: { fromCaller: SendKeys; fromAgent: SendKeys },
): Promise<LineTest> {
  const { caller, agent } = ends;
  const startMs = clock.monotonicMs();
  await Promise.all([caller.play(signal), agent.play(signal)]);
  await pause(clock, LATE_MS, signal);
  signal.throwIfAborted();
  const fromCaller = agent.heard(CALLER_TONES, caller.bodyAtMs);
  const toCaller = caller.heard(AGENT_TONES, agent.bodyAtMs);
  const facts = `to the caller ${wordsOf(toCaller)}; from the caller ${wordsOf(fromCaller)}`;
  const figures = figuresOf([toCaller, fromCaller], agent.codec);
  const fault = faultOfBoth(toCaller, fromCaller);
  refuseIfStalled(clock, fault, startMs);
  if (fault !== null) return { fault, message: `${facts}.`.slice(0, MESSAGE_MAX), ...figures };
  const lost = keys === undefined ? [] : await lostKeys({ clock, signal }, ends, keys);
  if (lost.length === 0) return { fault: null, message: `${facts}.`, ...figures };
  return { fault: 'keys', message: `Keys ${lost.join(' and ')} did not arrive.`, ...figures };
}

/** Tests a call whose far end returns what it hears. Throws GATEWAY_OVERLOADED. */
export async function testEcho(
  { clock, signal }: TestedCall,
  caller: LineEnd,
  sendKeys?: SendKeys,
): Promise<LineTest> {
  caller.forget();
  await pause(clock, QUIET_MS, signal);
  const before = caller.loudMs();
  const startMs = clock.monotonicMs();
  await caller.play(signal);
  await pause(clock, LATE_MS, signal);
  signal.throwIfAborted();
  const echo = caller.heard(CALLER_TONES, caller.bodyAtMs);
  const facts = `the echo ${wordsOf(echo)}`;
  const figures = figuresOf([echo], caller.codec);
  const fault = faultOfEcho(echo, before);
  refuseIfStalled(clock, fault, startMs);
  if (fault !== null) return { fault, message: `${facts}.`, ...figures };
  if (sendKeys === undefined) return { fault: null, message: `${facts}.`, ...figures };
  caller.digits = '';
  await sendKeys(KEYS);
  if (await hasKeys({ clock, signal }, caller)) {
    return { fault: null, message: `${facts}; keys came back.`, ...figures };
  }
  return { fault: 'keys', message: 'Keys did not come back with the echo.', ...figures };
}

export function faultOfBoth(toCaller: Heard, fromCaller: Heard): LineFaultCode | null {
  if (isSilent(toCaller) && isSilent(fromCaller)) return 'no_audio';
  if (isSilent(toCaller)) return 'one_way_to_caller';
  if (isSilent(fromCaller)) return 'one_way_from_caller';
  return faultOfHeard([toCaller, fromCaller], DELAY_MS_MAX);
}

/** `loudBeforeMs`: audio that came while nothing was sent. */
export function faultOfEcho(echo: Heard, loudBeforeMs: number): LineFaultCode | null {
  const isOther = echo.toneMs < HEARD_MS_MIN && loudBeforeMs >= OTHER_MS_MIN;
  if (isOther) return 'wrong_party';
  if (isSilent(echo)) return 'no_audio';
  return faultOfHeard([echo], ECHO_DELAY_MS_MAX);
}

function faultOfHeard(all: readonly Heard[], delayMsMax: number): LineFaultCode | null {
  const has = (is: (heard: Heard) => boolean): boolean => all.some(is);
  if (has((heard) => heard.toneMs < HEARD_MS_MIN || isDistorted(heard))) return 'codec';
  if (has(({ levelDb }) => levelDb < FAINT_DB)) return 'faint';
  if (has(({ lossShare }) => lossShare > LOSS_MAX)) return 'loss';
  if (has(({ delayMs }) => (delayMs ?? 0) > delayMsMax)) return 'late_audio';
  if (has(({ jitterMs }) => jitterMs > JITTER_MS_MAX)) return 'jitter';
  return null;
}

function isDistorted({ purity, levelDb }: Heard): boolean {
  return purity < PURITY_MIN && levelDb > DISTORTED_DB;
}

/** Throws GATEWAY_OVERLOADED: what was measured is this process, not the line. */
function refuseIfStalled(clock: Clock, fault: LineFaultCode | null, startMs: number): void {
  const stall = clock.lastStall();
  if (!OF_TIME.has(fault) || stall === undefined || stall.endMs < startMs) return;
  throw new GatewayError('GATEWAY_OVERLOADED');
}

function isSilent({ toneMs, strangeMs }: Heard): boolean {
  return toneMs < HEARD_MS_MIN && strangeMs < HEARD_MS_MIN;
}

/** The directions in which keys are lost. */
async function lostKeys(
  call: TestedCall,
  { caller, agent }: { caller: LineEnd; agent: LineEnd },
  keys: { fromCaller: SendKeys; fromAgent: SendKeys },
): Promise<string[]> {
  caller.digits = '';
  agent.digits = '';
  await keys.fromCaller(KEYS);
  const lost = (await hasKeys(call, agent)) ? [] : ['of the caller'];
  await keys.fromAgent(KEYS);
  return (await hasKeys(call, caller)) ? lost : [...lost, 'of the agent'];
}

async function hasKeys({ clock, signal }: TestedCall, end: LineEnd): Promise<boolean> {
  for (let ms = 0; ms < KEYS_MS_MAX; ms += KEY_POLL_MS) {
    if (end.digits.includes(KEYS)) return true;
    await pause(clock, KEY_POLL_MS, signal);
    signal.throwIfAborted();
  }
  return false;
}

function figuresOf(
  all: readonly Heard[],
  codec: string | null,
): Pick<LineTest, 'delayMs' | 'lossShare' | 'codec'> {
  const delays = all.flatMap(({ delayMs }) => (delayMs === null ? [] : [delayMs]));
  return {
    delayMs: delays.length === 0 ? null : Math.round(Math.max(...delays)),
    lossShare: Math.max(...all.map(({ lossShare }) => lossShare)),
    codec,
  };
}

function wordsOf(heard: Heard): string {
  const { toneMs, strangeMs, levelDb, lossShare, delayMs, jitterMs } = heard;
  if (toneMs < HEARD_MS_MIN && strangeMs < HEARD_MS_MIN) return 'silence';
  if (toneMs < HEARD_MS_MIN) return `${strangeMs} ms of audio without the tone`;
  const level = `${Math.round(levelDb)} dBFS${isDistorted(heard) ? ', distorted' : ''}`;
  const delay = delayMs === null ? '' : `, ${Math.round(delayMs)} ms late`;
  const jitter = jitterMs >= 1 ? `, jitter ${Math.round(jitterMs)} ms` : '';
  return `${level}, loss ${Math.round(lossShare * 100)} %${delay}${jitter}`;
}
