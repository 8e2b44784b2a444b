// The load tool must not lie: every fault that a gateway can make is injected here and must be seen, and a
// steady stream must be found without fault.

import { describe, expect, it } from 'vitest';
import { Ear, FRAME_MS } from './ear.ts';
import { type Heard, heardNothing } from './heard.ts';
import { MARK_FRAMES_MAX } from './watermark.ts';

const LEAD_MS = 100;
const CLIP_FRAMES = 200;

interface Arrival {
  atMs: number;
  /** -1: no mark. */
  mark: number;
}

/** A clip as a gateway sends it: five frames at once, then one every 20 ms. */
function steady({ clip = 0, frames = CLIP_FRAMES, fromMs = 1_000 } = {}): Arrival[] {
  return Array.from({ length: frames }, (_, index) => ({
    atMs: fromMs + Math.max(0, index + 1 - LEAD_MS / FRAME_MS) * FRAME_MS,
    mark: clip * MARK_FRAMES_MAX + index,
  }));
}

const newHeard = (): Heard => ({ ...heardNothing(), measuring: true });

function hear(arrivals: readonly Arrival[]): Heard {
  const heard = newHeard();
  const ear = new Ear({ heard, leadMs: LEAD_MS, clipFrames: [CLIP_FRAMES, CLIP_FRAMES] });
  for (const { atMs, mark } of arrivals) ear.hear(Int32Array.of(mark), 1, atMs);
  return heard;
}

const faultsOf = ({ underruns, lostFrames, reorderedFrames }: Heard) => ({
  underruns,
  lostFrames,
  reorderedFrames,
});
const NONE = { underruns: 0, lostFrames: 0, reorderedFrames: 0 };

describe("the measurement of a caller's audio", () => {
  it('finds no fault in a steady stream, nor at the seam of two clips, nor after a pause', () => {
    const heard = hear([
      ...steady(),
      ...steady({ clip: 1, fromMs: 1_000 + CLIP_FRAMES * FRAME_MS }),
      ...steady({ fromMs: 60_000 }),
    ]);
    expect(faultsOf(heard)).toEqual(NONE);
    expect(heard).toMatchObject({ frames: 600, markedFrames: 600 });
    expect(heard.lateness.max).toBe(0);
    expect([heard.spacing.at(0.01), heard.spacing.max]).toEqual([20, 20]);
  });

  it('detects a late frame, and by how much', () => {
    const stream = steady();
    (stream[100] as Arrival).atMs += 37;
    // What comes after it on the same line can not overtake it.
    (stream[101] as Arrival).atMs = (stream[100] as Arrival).atMs;
    const heard = hear(stream);
    expect(faultsOf(heard)).toEqual(NONE);
    expect(heard.lateness.max).toBe(37);
    expect(heard.spacing.max).toBe(57);
  });

  it('detects a gap when a frame is later than the lead', () => {
    const stream = steady();
    for (const each of stream.slice(100)) each.atMs += 130;
    const heard = hear(stream);
    expect(faultsOf(heard)).toEqual({ ...NONE, underruns: 1 });
    expect(heard.lateness.max).toBe(130);
    expect(heard.underrunMs).toBe(50);
  });

  it('does not judge what comes while calls are being hung up', () => {
    const stream = steady();
    const heard = newHeard();
    const ear = new Ear({ heard, leadMs: LEAD_MS, clipFrames: [CLIP_FRAMES] });
    for (const [index, { atMs, mark }] of stream.entries()) {
      heard.over = index >= 100;
      heard.measuring = !heard.over;
      ear.hear(Int32Array.of(mark), 1, heard.over ? atMs + 130 : atMs);
    }
    expect(faultsOf(heard)).toEqual(NONE);
    expect(heard.lateness.max).toBe(0);
  });

  it('detects a missing frame', () => {
    const heard = hear(steady().filter((_, index) => index !== 100));
    expect(faultsOf(heard)).toEqual({ ...NONE, lostFrames: 1 });
  });

  it('detects a frame that silence replaced', () => {
    const stream = steady();
    (stream[100] as Arrival).mark = -1;
    const heard = hear(stream);
    expect(faultsOf(heard)).toEqual({ ...NONE, lostFrames: 1 });
    expect(heard.frames - heard.markedFrames).toBe(1);
  });

  it('detects two frames that were swapped', () => {
    const stream = steady();
    (stream[100] as Arrival).mark = 101;
    (stream[101] as Arrival).mark = 100;
    expect(faultsOf(hear(stream))).toEqual({ ...NONE, reorderedFrames: 1 });
  });

  it('detects the last two frames of a clip that were swapped', () => {
    const stream = steady();
    (stream[198] as Arrival).mark = 199;
    (stream[199] as Arrival).mark = 198;
    expect(faultsOf(hear(stream))).toEqual({ ...NONE, reorderedFrames: 1 });
  });

  it('detects a frame that came twice', () => {
    const stream = steady();
    stream.splice(100, 0, stream[99] as Arrival);
    expect(faultsOf(hear(stream))).toEqual({ ...NONE, reorderedFrames: 1 });
  });

  it('detects a gap of silence of any length within a clip', () => {
    const stream = steady();
    for (const each of stream.slice(100)) each.atMs += 1_000;
    const heard = hear(stream);
    expect(faultsOf(heard)).toEqual({ ...NONE, underruns: 1 });
    expect(heard.underrunMs).toBe(1_000 - 80);
  });

  it('detects a clip that broke off when the next begins', () => {
    const heard = hear([...steady({ frames: 150 }), ...steady({ clip: 1, fromMs: 9_000 })]);
    expect(faultsOf(heard)).toEqual({ ...NONE, lostFrames: 50 });
  });

  it('detects a clip that begins in its middle', () => {
    expect(faultsOf(hear(steady().slice(30)))).toEqual({ ...NONE, lostFrames: 30 });
  });

  it('takes what a clear threw away for neither lost nor late', () => {
    const heard = newHeard();
    const ear = new Ear({ heard, leadMs: LEAD_MS, clipFrames: [CLIP_FRAMES] });
    for (const { atMs, mark } of steady({ frames: 100 })) ear.hear(Int32Array.of(mark), 1, atMs);
    const clearedMs = 1_000 + 96 * FRAME_MS;
    ear.clear(clearedMs);
    expect(ear.endMs).toBe(clearedMs);
    ear.hear(Int32Array.of(-1, -1, -1), 3, clearedMs);
    expect(ear.endMs).toBe(clearedMs + 60);
    // The agent goes on at the word that was cut.
    for (const { atMs, mark } of steady({ frames: 110, fromMs: 5_000 })) {
      ear.hear(Int32Array.of(mark + 90), 1, atMs);
    }
    expect(faultsOf(heard)).toEqual(NONE);
    expect(heard.lateness.max).toBe(0);
  });

  it('detects an interruption of speech without a mark, and takes a longer pause for an end', () => {
    const unmarked = steady().map(({ atMs }) => ({ atMs, mark: -1 }));
    for (const each of unmarked.slice(100)) each.atMs += 150;
    expect(faultsOf(hear(unmarked))).toEqual({ ...NONE, underruns: 1 });
    for (const each of unmarked.slice(100)) each.atMs += 1_000;
    expect(faultsOf(hear(unmarked))).toEqual(NONE);
  });

  it('detects a gap of any length where the caller knows that the utterance goes on, not after a clear', () => {
    const heard = newHeard();
    const ear = new Ear({ heard, leadMs: LEAD_MS, clipFrames: [] });
    const unmarked = Int32Array.of(-1);
    expect(ear.hear(unmarked, 1, 1_000)).toBe(true);
    expect(ear.hear(unmarked, 1, 1_520, true)).toBe(false);
    expect(heard).toMatchObject({ underruns: 1, underrunMs: 500 });
    expect(ear.hear(unmarked, 1, 2_040)).toBe(true);
    ear.clear(2_050);
    expect(ear.hear(unmarked, 1, 2_500, true)).toBe(true);
    expect(heard.underruns).toBe(1);
  });

  it('plays messages of several frames for their length', () => {
    const heard = newHeard();
    const ear = new Ear({ heard, leadMs: LEAD_MS, clipFrames: [CLIP_FRAMES] });
    ear.hear(Int32Array.of(0, 1, 2, 3, 4), 5, 0);
    ear.hear(Int32Array.of(5, 6, 7), 3, 20);
    ear.hear(Int32Array.of(8, 9, 10), 3, 80);
    expect(ear.endMs).toBe(220);
    expect(faultsOf(heard)).toEqual(NONE);
    expect(heard.lateness.max).toBe(0);
  });
});
