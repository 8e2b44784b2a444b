// Streams of a PBX have no timestamps: what of the caller's speech is in its place when the packets jitter before the
// PBX, with and without its jitter buffer. The jitter buffer puts packets in order, and sends an empty message for each
// one that it misses; with the gateway's own part the audio correlated with what was said at 0.88 then.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readWav } from '../../../src/audio/wav.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { Depacketizer } from '../../../src/pipeline/receive/depacketizer.ts';
import { noise } from '../../audio/sine.ts';

const PER_MS = 8;
const FRAME = 160;
const SECONDS = 16;
const FRAMES = SECONDS * 50;
const CLIPS = ['librivox-0870', 'librivox-0880', 'go-forward', 'cards-005', 'digits-2934z'];

/** When a packet arrives, in milliseconds, and which it is; -1: an empty one. */
type Arrival = readonly [atMs: number, nth: number];

const recorded = z
  .object({ arrivals: z.array(z.tuple([z.number(), z.number()])) })
  .parse(JSON.parse(readFileSync('fixtures/wire/ari-jitter/adaptive-60.json', 'utf8')));

const said = speech();

function speech(): Int16Array {
  const pcm = new Int16Array(FRAMES * FRAME);
  let at = 0;
  for (let nth = 0; at < pcm.length; nth++) {
    const path = `fixtures/audio/human/${CLIPS[nth % CLIPS.length]}.wav`;
    const clip = readWav(readFileSync(path)).samples.subarray(0, pcm.length - at);
    pcm.set(clip, at);
    at += clip.length;
  }
  return pcm;
}

/** The caller's audio, each frame at its media time. */
function record(arrivals: readonly Arrival[], isStamped = false): Int16Array {
  const recording = new Int16Array(said.length + 2_000 * PER_MS);
  const decoder = new Depacketizer({
    codec: pcmu,
    sink(frame, atMs) {
      const at = Math.round(atMs * PER_MS);
      for (let i = 0; i < FRAME; i++) if (at + i >= 0) recording[at + i] = frame[i] as number;
    },
  });
  let tickMs = 20;
  for (const [atMs, nth] of arrivals) {
    for (; tickMs <= atMs; tickMs += 20) decoder.tick(tickMs);
    const payload = new Uint8Array(nth < 0 ? 0 : FRAME);
    if (nth >= 0) pcmu.encode(said.subarray(nth * FRAME, (nth + 1) * FRAME), payload);
    decoder.push(payload, isStamped ? nth * 20 : Number.NaN, atMs);
  }
  return recording;
}

/** Mean correlation of each second with what was said, at the best delay of up to 250 ms. */
function likeness(recording: Int16Array): number {
  const second = 1_000 * PER_MS;
  let sum = 0;
  for (let nth = 1; nth < SECONDS - 1; nth++) {
    let best = 0;
    for (let delay = 0; delay < 250 * PER_MS; delay++) {
      best = Math.max(best, correlation(recording, nth * second, delay));
    }
    sum += best;
  }
  return sum / (SECONDS - 2);
}

function correlation(recording: Int16Array, from: number, delay: number): number {
  let [both, one, other] = [0, 0, 0];
  for (let at = from; at < from + 500 * PER_MS; at += 4) {
    const wanted = said[at] as number;
    const got = recording[at + delay] as number;
    both += wanted * got;
    one += wanted * wanted;
    other += got * got;
  }
  return both / Math.sqrt(one * other || 1);
}

/** Each packet takes up to 120 ms. */
function jittered(): Arrival[] {
  const random = noise(3);
  return Array.from({ length: FRAMES }, (_, nth) => [nth * 20 + 80 + 60 * random(), nth] as const);
}

const sorted = (arrivals: Arrival[]): Arrival[] => arrivals.sort((one, two) => one[0] - two[0]);

/** A late packet holds up those behind it, as TCP does it. */
function inOrder(arrivals: readonly Arrival[]): Arrival[] {
  let lastMs = 0;
  return arrivals.map(([atMs, nth]) => {
    lastMs = Math.max(lastMs, atMs);
    return [lastMs, nth];
  });
}

it('a stream without jitter is what was said', () => {
  const steady = Array.from({ length: FRAMES }, (_, nth) => [nth * 20 + 20, nth] as const);
  expect(likeness(record(steady))).toBeGreaterThan(0.99);
});

it('packets that overtake each other are put in order by timestamps, and only by them', () => {
  const arrivals = sorted(jittered());
  expect(likeness(record(arrivals, true))).toBeGreaterThan(0.99);
  expect(likeness(record(arrivals))).toBeLessThan(0.5);
});

it('a stream in order keeps its place while its packets jitter', () => {
  expect(likeness(record(inOrder(jittered())))).toBeGreaterThan(0.96);
});

it("what the PBX's jitter buffer makes of it is in its place, with what that misses", () => {
  expect(likeness(record(recorded.arrivals))).toBeGreaterThan(0.96);
});
