// The one currency of audio inside the gateway: mono signed 16-bit PCM in frames of 20 ms.

/** The rate inside a call: telephone audio. Other rates are converted at the edge. */
export const RATE_HZ = 8_000;
export const FRAME_MS = 20;
/** Samples in a frame. */
export const FRAME_SAMPLES = 160;

export type SampleRateHz = 8_000 | 16_000 | 24_000 | 48_000;

export function samplesToMs(samples: number): number {
  return samples / (RATE_HZ / 1_000);
}

export function msToSamples(ms: number): number {
  return Math.round(ms * (RATE_HZ / 1_000));
}
