// The begin of an utterance whose voice is known to be late: gathered for as long as the audio was late before, so that
// the caller hears the answer a little later and not its second word.

import { describe, expect, it } from 'vitest';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { hum } from '../../fakes/speech-services.ts';
import { CallRig } from '../call-rig.ts';

/** Pieces of 100 ms, each at its time after the text. */
function voiceOf(cushionMs: number, times: readonly number[]) {
  return (clock: Clock): TextToSpeech => ({
    name: 'late',
    model: 'test',
    cushionMs,
    synthesize: () => Promise.resolve(),
    stream: (_voice, listener) => ({
      push: () => {
        for (const [nth, atMs] of times.entries()) {
          clock.after(atMs, () => listener.onAudio(hum(100, 3_300, nth * 100)));
        }
        clock.after((times.at(-1) ?? 0) + 1, () => listener.onDone());
      },
      flush: () => undefined,
      end: () => undefined,
      cancel: () => undefined,
    }),
    close: () => Promise.resolve(),
  });
}

async function heardOf(cushionMs: number, times: readonly number[]) {
  const rig = new CallRig({ tts: voiceOf(cushionMs, times) });
  await rig.run(400);
  const fromMs = rig.nowMs;
  rig.say('All right.');
  await rig.run(3_000);
  const { frames } = rig.farEnd;
  const gaps = frames.slice(1).filter(({ atMs }, nth) => atMs > (frames[nth]?.untilMs ?? 0));
  return { beginMs: (frames[0]?.atMs ?? 0) - fromMs, gaps: gaps.length, frames: frames.length };
}

/** The second piece comes 160 ms after the first. */
const LATE = [40, 200, 210, 220, 230];

describe('an utterance of a voice', () => {
  it('that was never late begins with its first audio', async () => {
    expect(await heardOf(0, LATE)).toMatchObject({ beginMs: 40, gaps: 1, frames: 25 });
  });

  it('that was late begins by so much later, and has no gap', async () => {
    const heard = await heardOf(60, LATE);
    expect(heard).toMatchObject({ gaps: 0, frames: 25 });
    expect(heard.beginMs).toBeGreaterThanOrEqual(100);
    expect(heard.beginMs).toBeLessThanOrEqual(120);
  });

  it('begins as soon as so much audio is ahead', async () => {
    expect(await heardOf(60, [40, 60, 200])).toMatchObject({ beginMs: 60, gaps: 0, frames: 15 });
  });

  it('begins at once when all of it is there', async () => {
    expect(await heardOf(200, [40])).toMatchObject({ beginMs: 41, gaps: 0, frames: 5 });
  });
});
