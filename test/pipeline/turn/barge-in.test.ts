// Callers' voices against the agent's, with the real detector: how long until the wire is silent.

import { describe, expect, it } from 'vitest';
import type { VadStream } from '../../../src/audio/vad/vad.ts';
import { batchedVad } from '../../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { spoken } from '../../audio/vad/vad-fixture.ts';
import { CallRig } from '../call-rig.ts';

const LONG =
  'Thank you for calling, all of our agents are busy at the moment and will be with you.';
/** Where the onset falls in the detector's windows of 32 ms and in the frames of 20 ms. */
const PHASES_MS = [0, 4, 9, 13, 18, 23, 27, 31];
const LEAD_IN_MS = 300;

const kernel = loadVadKernel();
const deaf = { onProbability: () => undefined, onBroken: () => undefined };

/** Milliseconds from each real onset until no agent is heard, fade included. With other calls open, the
 *  caller's windows wait for theirs. */
async function silences(otherCalls: number): Promise<number[]> {
  const others: VadStream[] = [];
  const vad = (clock: Clock) => {
    const model = batchedVad(kernel, clock);
    for (let nth = 0; nth < otherCalls; nth++) others.push(model.open(deaf));
    return model;
  };
  const found: number[] = [];
  for (const [from, to] of spoken.speech) {
    for (const phaseMs of PHASES_MS) {
      const rig = new CallRig({ vad });
      rig.say(LONG);
      await rig.run(1_000);
      const onsetMs = rig.nowMs + LEAD_IN_MS + phaseMs;
      const start = from - (LEAD_IN_MS + phaseMs) * 8;
      await rig.plays(spoken.pcm.subarray(Math.max(0, start), to));
      const atMs = onsetMs + Math.min(0, start) / 8;
      const silentMs = rig.farEnd.frames.filter((frame) => frame.atMs < atMs + 600).at(-1);
      found.push((silentMs?.untilMs ?? Number.POSITIVE_INFINITY) - atMs);
      await rig.audio.close();
      for (const stream of others.splice(0)) stream.close();
    }
  }
  return found.sort((a, b) => a - b);
}

describe('a caller who interrupts', () => {
  it.each([
    ['alone', 0],
    ['while many others are heard', 100],
  ])(
    'silences the agent on the wire within 200 ms of the real onset, at the 95th percentile: %s',
    async (_what, otherCalls) => {
      const found = await silences(otherCalls);
      expect(found.length).toBe(PHASES_MS.length * spoken.speech.length);
      expect(found[Math.floor(found.length * 0.95)]).toBeLessThanOrEqual(200);
    },
    60_000,
  );
});
