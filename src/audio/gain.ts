// Loudness arithmetic on 16-bit PCM in place: fades, a gain that glides (ducking), mixing, level. Nothing
// here knows why; pipeline/ decides.
// A level in dBFS is that of the mean square against full scale: a square wave of 32,768 is 0, a full sine -3.

/** What is told for silence: below one step of a 16-bit sample. */
export const LEVEL_DBFS_MIN = -100;

const FULL_SCALE_ENERGY = 32_768 ** 2;
const SAMPLE_MAX = 32_767;
const SAMPLE_MIN = -32_768;

/** Amplitude factor of `db` decibels: -6 is about a half. */
export function gainOfDb(db: number): number {
  return 10 ** (db / 20);
}

/** Mean square of the samples, 0..32768². Nothing has none. */
export function energy(pcm: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < pcm.length; i++) sum += (pcm[i] as number) ** 2;
  return pcm.length === 0 ? 0 : sum / pcm.length;
}

/** Level of the samples, LEVEL_DBFS_MIN..0. */
export function levelDbfs(pcm: Int16Array): number {
  return Math.max(LEVEL_DBFS_MIN, 10 * Math.log10(energy(pcm) / FULL_SCALE_ENERGY));
}

/** Multiplies `pcm` by a gain that goes evenly from `fromGain` (at the first sample) to `toGain` (which the
 *  sample behind the last would have), with saturation. A fade of several frames is one call a frame. */
export function applyRamp(pcm: Int16Array, fromGain: number, toGain: number): void {
  const step = (toGain - fromGain) / pcm.length;
  for (let i = 0; i < pcm.length; i++) {
    pcm[i] = saturated((pcm[i] as number) * (fromGain + step * i));
  }
}

/** From silence to `pcm`'s loudness over its length, along half a cosine: no click at either end. */
export function fadeIn(pcm: Int16Array): void {
  for (let i = 0; i < pcm.length; i++) pcm[i] = saturated((pcm[i] as number) * rise(i, pcm.length));
}

/** From `pcm`'s loudness to silence over its length, along half a cosine. */
export function fadeOut(pcm: Int16Array): void {
  const { length } = pcm;
  for (let i = 0; i < length; i++)
    pcm[i] = saturated((pcm[i] as number) * rise(length - 1 - i, length));
}

/** Adds `added` times `gain` onto `target`, with saturation, as far as both go. */
export function mixInto(target: Int16Array, added: Int16Array, gain = 1): void {
  const count = Math.min(target.length, added.length);
  for (let i = 0; i < count; i++) {
    target[i] = saturated((target[i] as number) + (added[i] as number) * gain);
  }
}

/** A gain over a stream that glides to each new value, so that ducking does not click. */
export class Gain {
  #now: number;
  #target: number;
  #step = 0;

  constructor(initial = 1) {
    this.#now = initial;
    this.#target = initial;
  }

  /** The gain that the next sample gets. */
  get now(): number {
    return this.#now;
  }

  /** Goes evenly to `target` within the next `samples` samples; 0 means at once. */
  glideTo(target: number, samples: number): void {
    this.#target = target;
    if (samples <= 0) this.#now = target;
    this.#step = samples <= 0 ? 0 : (target - this.#now) / samples;
  }

  /** Multiplies the stream's next samples in place, with saturation. */
  apply(pcm: Int16Array): void {
    if (this.#now === this.#target && this.#now === 1) return;
    for (let i = 0; i < pcm.length; i++) {
      pcm[i] = saturated((pcm[i] as number) * this.#now);
      this.#advance();
    }
  }

  #advance(): void {
    if (this.#now === this.#target) return;
    const next = this.#now + this.#step;
    const passed = this.#step > 0 ? next >= this.#target : next <= this.#target;
    this.#now = passed ? this.#target : next;
  }
}

function saturated(sample: number): number {
  return Math.max(SAMPLE_MIN, Math.min(SAMPLE_MAX, Math.round(sample)));
}

/** Half a cosine from just above 0 (at `i` = 0) to just below 1 (at `length - 1`). */
function rise(i: number, length: number): number {
  return 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / length);
}
