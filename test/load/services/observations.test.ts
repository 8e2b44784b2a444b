// What the fake services note about their own audio, on the machine's clock, which the tests move.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FRAME_BYTES } from '../caller/watermark.ts';
import { wordOf } from './call-words.ts';
import { Observations } from './observations.ts';

const FRAMES = 5;
let nowMs = 0;

beforeEach(() => {
  nowMs = 1_000;
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => BigInt(Math.round(nowMs * 1e6)));
});
afterEach(() => vi.restoreAllMocks());

/** 100 ms of an answer at each of these times. */
function sendAt(observations: Observations, nth: number, times: readonly number[]): void {
  for (const atMs of times) {
    nowMs = atMs;
    observations.audio(
      new Uint8Array(FRAMES * FRAME_BYTES),
      `You said ${wordOf({ call: 3, nth })}.`,
    );
  }
}

const gapsOf = (observations: Observations) => {
  const { voiceGaps, voiceLateMaxMs } = observations.report();
  return { voiceGaps, voiceLateMaxMs };
};

it('finds no gap in a voice that is ahead of what is played, nor between two answers', () => {
  const observations = new Observations();
  sendAt(observations, 0, [1_000, 1_020, 1_199]);
  sendAt(observations, 4, [9_000, 9_100]);
  expect(gapsOf(observations)).toEqual({ voiceGaps: 0, voiceLateMaxMs: 0 });
});

it('counts each time that a voice was later than what it had sent lasts, and by how much at most', () => {
  const observations = new Observations();
  sendAt(observations, 0, [1_000, 1_130, 1_225, 1_360]);
  expect(gapsOf(observations)).toEqual({ voiceGaps: 2, voiceLateMaxMs: 30 });
});
