// Tones that a test call sends, and how much of a tone is in received audio.

const AMPLITUDE = 8_000;
const FULL_SCALE = 32_768;

/** Fills `pcm` with the `nth` frame, of this length, of a continuous tone. */
export function fillTone(pcm: Int16Array, tone: { hz: number; rateHz: number; nth: number }): void {
  const step = (2 * Math.PI * tone.hz) / tone.rateHz;
  const from = tone.nth * pcm.length;
  for (let i = 0; i < pcm.length; i++) pcm[i] = Math.round(AMPLITUDE * Math.sin(step * (from + i)));
}

export interface ToneLevel {
  /** RMS level of the audio in dB below full scale; -Infinity for silence. */
  levelDb: number;
  /** Share of the audio's energy that is the tone, 0 to 1. */
  share: number;
}

/** Level of the audio and share of the tone. Source: Goertzel, "An algorithm for the evaluation of finite trigonometric
 *  series" (1958). */
export function measureTone(
  pcm: Int16Array,
  { hz, rateHz }: { hz: number; rateHz: number },
): ToneLevel {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let energy = 0;
  let [last, before] = [0, 0];
  for (const sample of pcm) {
    energy += sample * sample;
    [last, before] = [sample + turn * last - before, last];
  }
  if (energy === 0) return { levelDb: Number.NEGATIVE_INFINITY, share: 0 };
  const power = last * last + before * before - turn * last * before;
  const share = Math.min(1, (2 * power) / (pcm.length * energy));
  return { levelDb: 20 * Math.log10(Math.sqrt(energy / pcm.length) / FULL_SCALE), share };
}
