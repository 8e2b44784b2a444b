// What a caller waits for and what a recording keeps, in simulated time: interruptions by real voices, and
// how far the two channels of an hour drift apart.

import { recordHour } from '../../pipeline/hour.ts';
import { piecesOf, render } from '../../pipeline/real-call.ts';
import { type BargeIn, bargeIns, LONG } from '../../pipeline/turn/barge-ins.ts';

/** From the real onset of the caller's voice to silence on the wire, the fade included. */
export async function benchBargeIn(): Promise<Record<string, number>> {
  const voices = await render(piecesOf(LONG).map((text) => ({ voice: 'slt', text })));
  const found: BargeIn[] = await bargeIns(voices);
  const silences = found.map(({ silenceMs }) => silenceMs).sort((a, b) => a - b);
  const at = (share: number) => silences[Math.floor((silences.length - 1) * share)] ?? Number.NaN;
  return {
    interruptions: silences.length,
    'onset to silence (ms) p50': at(0.5),
    'onset to silence (ms) p95': at(0.95),
    'onset to silence (ms) max': at(1),
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
