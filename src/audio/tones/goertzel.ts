// Goertzel filters for four tones of which at most one sounds: which one, its power, and its frequency offset (from
// the phase difference of two blocks). The meaning of the tones is dtmf-detector's.

/** No tone is strong enough. */
export const NO_TONE = -1;
/** A tone must be this much stronger than the others: 8 dB. */
const PEAK_MIN = 10 ** 0.8;

export class GoertzelBank {
  readonly #tonesHz: readonly number[];
  readonly #rateHz: number;
  readonly #blockSamples: number;
  readonly #factors: Float64Array;
  /** The last two states of each filter, for this block and the one before. */
  readonly #states = new Float64Array(8);
  readonly #powers = new Float64Array(4);
  #best = 0;
  #phase = 0;
  #phaseBefore = 0;
  /** Squared magnitude of the strongest tone in this block, and of the same tone in the one before. */
  power = 0;
  powerBefore = 0;

  constructor(tonesHz: readonly number[], of: { rateHz: number; blockSamples: number }) {
    this.#tonesHz = tonesHz;
    this.#rateHz = of.rateHz;
    this.#blockSamples = of.blockSamples;
    this.#factors = Float64Array.from(tonesHz, (hz) => 2 * Math.cos(this.#step(hz)));
  }

  /** Frequency of the strongest tone, in Hz. */
  get hz(): number {
    return this.#tonesHz[this.#best] as number;
  }

  /** Index of the tone that is stronger than the others in this block, or NO_TONE. */
  strongest(block: Float64Array): number {
    this.#filter(block);
    const powers = this.#powers;
    let best = 0;
    for (let i = 1; i < 4; i++) {
      if ((powers[i] as number) > (powers[best] as number)) best = i;
    }
    const power = powers[best] as number;
    for (let i = 0; i < 4; i++) {
      if (i !== best && (powers[i] as number) * PEAK_MIN > power) return NO_TONE;
    }
    this.#keep(best, power);
    return best;
  }

  /** Frequency offset of the tone in Hz, if both last blocks have the same one; up to half the filters'
   *  resolution (39 Hz). */
  offHz(): number {
    const turn = this.#step(this.hz) * this.#blockSamples;
    const off = (this.#phase - this.#phaseBefore - turn) / (2 * Math.PI);
    return ((off - Math.round(off)) * this.#rateHz) / this.#blockSamples;
  }

  /** Share of the power that the filter measures of a tone with that frequency offset: 1 at the exact frequency. */
  heard(offHz: number): number {
    const x = (Math.PI * offHz * this.#blockSamples) / this.#rateHz;
    return Math.abs(x) < 1e-6 ? 1 : (Math.sin(x) / x) ** 2;
  }

  #keep(best: number, power: number): void {
    const last = this.#states[2 * best] as number;
    const before = this.#states[2 * best + 1] as number;
    const step = this.#step(this.#tonesHz[best] as number);
    this.#best = best;
    this.powerBefore = this.power;
    this.power = power;
    this.#phaseBefore = this.#phase;
    this.#phase = Math.atan2(before * Math.sin(step), last - before * Math.cos(step));
  }

  #step(hz: number): number {
    return (2 * Math.PI * hz) / this.#rateHz;
  }

  /** All four filters in one loop, so that the processor runs them in parallel. */
  #filter(block: Float64Array): void {
    const a = this.#factors[0] as number;
    const b = this.#factors[1] as number;
    const c = this.#factors[2] as number;
    const d = this.#factors[3] as number;
    let a1 = 0;
    let a2 = 0;
    let b1 = 0;
    let b2 = 0;
    let c1 = 0;
    let c2 = 0;
    let d1 = 0;
    let d2 = 0;
    for (let i = 0; i < block.length; i++) {
      const sample = block[i] as number;
      const a0 = sample + a * a1 - a2;
      a2 = a1;
      a1 = a0;
      const b0 = sample + b * b1 - b2;
      b2 = b1;
      b1 = b0;
      const c0 = sample + c * c1 - c2;
      c2 = c1;
      c1 = c0;
      const d0 = sample + d * d1 - d2;
      d2 = d1;
      d1 = d0;
    }
    this.#set(0, a1, a2);
    this.#set(1, b1, b2);
    this.#set(2, c1, c2);
    this.#set(3, d1, d2);
  }

  #set(nth: number, last: number, before: number): void {
    this.#states[2 * nth] = last;
    this.#states[2 * nth + 1] = before;
    this.#powers[nth] =
      last * last + before * before - (this.#factors[nth] as number) * last * before;
  }
}
