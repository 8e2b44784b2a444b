// Puts a caller on a simulated provider's call: gives it what it would hear, says and presses what it
// wishes, and hangs up for it when nobody speaks any more.

import { FRAME_MS, FRAME_SAMPLES } from '../../src/audio/pcm.ts';
import { pcmu } from '../../src/codec/g711.ts';
import type { HostedCall } from '../fakes/hosted/hosted-call.ts';
import { Caller, type CallerFacts, type CallerLine, rms } from './caller.ts';
import { machine } from './machine-pace.ts';

/** Nobody waits longer than this on a dead line, on a free machine. */
const PATIENCE_MS = 20_000;
const LOUD_RMS = 250;

export interface PersonReport {
  facts: CallerFacts;
  endedBy: 'caller' | 'gateway';
}

/** Stays on the call to its end. `onLine` is told what is said, when it begins. */
export async function holdCall(
  call: HostedCall,
  lines: readonly CallerLine[],
  onLine: (line: CallerLine) => void = () => undefined,
): Promise<PersonReport> {
  const caller = new Caller(lines, machine);
  const frame = new Int16Array(FRAME_SAMPLES);
  let heardBytes = 0;
  let silentMs = 0;
  let eventsSeen = 0;
  const timer = setInterval(() => {
    for (; eventsSeen < call.events.length; eventsSeen += 1) {
      const event = call.events[eventsSeen];
      if (event?.type === 'clear') caller.cutOff(Number(event.detail['mediaMs']));
    }
    for (; heardBytes + FRAME_SAMPLES <= call.heard.length; heardBytes += FRAME_SAMPLES) {
      pcmu.decode(call.heard.subarray(heardBytes, heardBytes + FRAME_SAMPLES), frame);
      silentMs = rms(frame) > LOUD_RMS ? 0 : silentMs + FRAME_MS;
      const line = caller.hear(frame);
      if (line === undefined) continue;
      onLine(line);
      perform(call, line);
    }
    if (silentMs > machine.scaled(PATIENCE_MS)) call.hangUp();
  }, FRAME_MS);
  await call.ended;
  clearInterval(timer);
  const leftByCaller = call.events.some(({ type }) => type === 'caller-hung-up');
  return { facts: caller.facts, endedBy: leftByCaller ? 'caller' : 'gateway' };
}

/** A call that ends meanwhile needs neither words nor keys. */
function perform(call: HostedCall, line: CallerLine): void {
  const nothing = (): undefined => undefined;
  call.say(line.samples).catch(nothing);
  if (line.keys !== '') call.pressDigits(line.keys).catch(nothing);
}
