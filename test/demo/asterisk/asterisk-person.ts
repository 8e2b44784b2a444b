// Puts a caller on a line: gives it what it hears, says and presses what it wishes, and hangs up for it when
// nobody speaks any more.

import { FRAME_MS } from '../../../src/audio/pcm.ts';
import { Caller, type CallerLine, rms } from '../caller.ts';
import { machine } from '../machine-pace.ts';
import type { PersonReport } from '../person.ts';
import type { PersonsLine } from './asterisk-line.ts';

/** Nobody waits longer than this on a dead line, on a free machine. */
const PATIENCE_MS = 20_000;
const LOUD_RMS = 250;

export async function holdLine(
  line: PersonsLine,
  call: {
    lines: readonly CallerLine[];
    onLine: (line: CallerLine) => void;
    /** How often the gateway has taken back what it was about to say. */
    flushes: () => number;
  },
): Promise<PersonReport> {
  const caller = new Caller(call.lines, machine);
  let heardMs = 0;
  let silentMs = 0;
  let flushes = 0;
  let hasLeft = false;
  line.onFrame = (frame) => {
    heardMs += FRAME_MS;
    if (call.flushes() > flushes) {
      flushes = call.flushes();
      caller.cutOff(heardMs);
    }
    silentMs = rms(frame) > LOUD_RMS ? 0 : silentMs + FRAME_MS;
    const wish = caller.hear(frame);
    if (wish !== undefined) {
      call.onLine(wish);
      line.say(wish.samples);
      if (wish.keys !== '') line.press(wish.keys);
    }
    if (hasLeft || silentMs < machine.scaled(PATIENCE_MS)) return;
    hasLeft = true;
    line.hangUp();
  };
  const { byPerson } = await line.ended;
  return { facts: caller.facts, endedBy: byPerson ? 'caller' : 'gateway' };
}
