// Goertzel filters for four tones of which at most one sounds: which it is, how strong, and how far off, over
// blocks, and the way the phase moves from one block to the next. Knows nothing of keys.

/** No tone stands out. */
export const NO_TONE = -1;
/** A tone is this much stronger than the others: 8 dB. */
const PEAK_MIN = 10 ** 0.8;

export class GoertzelBank {
  readonly #tonesHz: readonly number[];
  readonly #rateHz: number;
  readonly #blockSamples: number;
  readonly #factors: Float64Array;
  /** The filters' last state and the one before it, side by side, of this block and the last. */
  readonly #states = new Float64Array(8);
  readonly #powers = new Float64Array(4);
  #best = 0;
  #phase = 0;
  #phaseBefore = 0;
  /** Squared magnitude of the strongest tone in this block, and of that in the one before. */
  power = 0;
  powerBefore = 0;

  constructor(tonesHz: readonly number[], of: { rateHz: number; blockSamples: number }) {
    this.#tonesHz = tonesHz;
    this.#rateHz = of.rateHz;
    this.#blockSamples = of.blockSamples;
    this.#factors = Float64Array.from(tonesHz, (hz) => 2 * Math.cos(this.#step(hz)));
  }

  /** Of the strongest tone. */
  get hz(): number {
    return this.#tonesHz[this.#best] as number;
  }

  /** Which tone stands out of the block, or NO_TONE. */
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

  /** How far the tone of the last two blocks is off, in Hz, if it was the same one; up to half of what a block
   *  tells apart (39 Hz). */
  offHz(): number {
    const turn = this.#step(this.hz) * this.#blockSamples;
    const off = (this.#phase - this.#phaseBefore - turn) / (2 * Math.PI);
    return ((off - Math.round(off)) * this.#rateHz) / this.#blockSamples;
  }

  /** What the filter hears of the power of a tone that is so far off: 1 at the right frequency. */
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

  /** All four side by side, which the processor does at once. */
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
