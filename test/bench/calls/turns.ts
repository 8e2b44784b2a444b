// What a caller waits for and what a recording keeps, in simulated time: interruptions by real voices, and
// how far the two channels of an hour drift apart.

import { recordHour } from '../../pipeline/hour.ts';
import { piecesOf, render } from '../../pipeline/real-call.ts';
import { type BargeIn, bargeIns, LONG } from '../../pipeline/turn/barge-ins.ts';
import { percentile } from './answers.ts';

/** From the real onset of the caller's voice to silence on the wire, the fade included. */
export async function benchBargeIn(): Promise<Record<string, number>> {
  const voices = await render(piecesOf(LONG).map((text) => ({ voice: 'slt', text })));
  const found: BargeIn[] = await bargeIns(voices);
  const silences = found.map(({ silenceMs }) => silenceMs);
  const clean = found.filter(({ isClean }) => isClean).map(({ silenceMs }) => silenceMs);
  return {
    interruptions: silences.length,
    'onset to silence (ms) p50': percentile(silences, 0.5),
    'onset to silence (ms) p95': percentile(silences, 0.95),
    'onset to silence (ms) max': percentile(silences, 1),
    'on lines without noise (ms) p50': percentile(clean, 0.5),
    'on lines without noise (ms) p95': percentile(clean, 0.95),
  };
}

/** Milliseconds between the earliest and the latest sound of both channels over 60 minutes. */
export async function benchRecording(): Promise<Record<string, number>> {
  const fast = await recordHour({ ppm: 100, timestamps: true });
  const slow = await recordHour({ ppm: -100, timestamps: true });
  const without = await recordHour({ ppm: 60, timestamps: false });
  return {
    'clock 100 ppm fast (ms)': fast.spreadMs,
    'clock 100 ppm slow (ms)': slow.spreadMs,
    'clock 60 ppm fast, no timestamps (ms)': without.spreadMs,
  };
}
