// The one currency of audio inside the gateway: mono signed 16-bit PCM in frames of 20 ms.

/** The rate inside a call: telephone audio. Other rates are converted at the edge. */
export const RATE_HZ = 8_000;
export const FRAME_MS = 20;
/** Samples in a frame. */
export const FRAME_SAMPLES = 160;

export type SampleRateHz = 8_000 | 16_000 | 24_000 | 48_000;

/** Copies `count` samples of `source` from `from` on to `target` from `to` on. Where all of `source` is copied, `set`
 *  of typed arrays is faster still; a part of it would be an object first. Four at a time: a loop's own work is more
 *  than a sample's (160 of them 0.17 against 0.43 us). */
export function copySamples(
  source: Int16Array,
  from: number,
  target: Int16Array,
  to: number,
  count: number,
): void {
  const fours = count & ~3;
  for (let i = 0; i < fours; i += 4) {
    target[to + i] = source[from + i] as number;
    target[to + i + 1] = source[from + i + 1] as number;
    target[to + i + 2] = source[from + i + 2] as number;
    target[to + i + 3] = source[from + i + 3] as number;
  }
  for (let i = fours; i < count; i++) target[to + i] = source[from + i] as number;
}

export function samplesToMs(samples: number): number {
  return samples / (RATE_HZ / 1_000);
}

export function msToSamples(ms: number): number {
  return Math.round(ms * (RATE_HZ / 1_000));
}
