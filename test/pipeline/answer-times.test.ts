// When an answer came about, at any moment of a millisecond: media times are whole, those at which the answer's text,
// audio and first frame came are not.

import { describe, expect, it } from 'vitest';
import { turnLatencyOf } from '../../src/call/session/session-events.ts';
import { CallRig } from './call-rig.ts';

/** What is rounded to a tenth of a millisecond each. */
const ROUNDED_MS = 0.3;

describe.each([0, 0.3, 0.7, 0.95])('%f ms into a millisecond', (fraction) => {
  it.each([
    [
      'keys',
      async (rig: CallRig) => {
        for (const key of ['5', '#']) rig.audio.digit(key);
      },
    ],
    ['words', (rig: CallRig) => rig.says('my name is Ada')],
  ])('the parts of an answer to %s are what it took', async (what, speak) => {
    const rig = new CallRig();
    rig.clock.advance(fraction);
    rig.react = ({ type }) => {
      if (type === 'turn') rig.say('Thank you.');
    };
    await rig.run(200);
    await speak(rig);
    await rig.run(2_000);
    const { turn } = rig.of('turn')[0] ?? expect.unreachable();
    const { facts } = rig.of('utterance-started')[0] ?? expect.unreachable();
    const { totalMs, gatewayMs, endpointingMs, ...others } = turnLatencyOf(turn, facts);
    const { recognitionMs, modelMs, speechMs } = others;
    const services = endpointingMs + recognitionMs + modelMs + speechMs;
    expect(Math.abs(totalMs - services - gatewayMs)).toBeLessThan(ROUNDED_MS);
    if (what === 'keys') expect(endpointingMs).toBe(0);
    else expect(endpointingMs).toBeGreaterThan(100);
  });
});
