// The adaptive predictor of one G.722 sub-band: two poles and six zeros whose coefficients follow the signs
// of the last samples. Integer arithmetic to the bit. Source: ITU-T G.722, block 4 (names in comments).

const ZEROS = 6;
const POLE_2_MAX = 12_288;
const POLE_1_SPAN = 15_360;

export class AdaptivePredictor {
  /** SL, SH: the predicted next sample. */
  prediction = 0;
  /** SZL: the zeros' part of the prediction. */
  #zeroPart = 0;
  /** AL1, AL2. */
  #pole1 = 0;
  #pole2 = 0;
  /** BL1..BL6 and the last six differences, newest first. */
  readonly #zeros = new Int32Array(ZEROS);
  readonly #differences = new Int32Array(ZEROS);
  /** RLT and PLT: the last two reconstructed signals, whole and without the poles' part. */
  #signal1 = 0;
  #partial1 = 0;
  #partial2 = 0;

  /** Takes the quantized difference of the sample that was predicted. */
  advance(difference: number): void {
    const signal = clamp16(this.prediction + difference);
    const partial = clamp16(this.#zeroPart + difference);
    this.#adaptPoles(partial);
    this.#adaptZeros(difference);
    const differences = this.#differences;
    for (let i = ZEROS - 1; i > 0; i--) differences[i] = differences[i - 1] as number;
    differences[0] = difference;
    this.#predict(signal);
    this.#signal1 = signal;
    this.#partial2 = this.#partial1;
    this.#partial1 = partial;
  }

  /** UPPOL2, then UPPOL1 within the bounds that the new second pole gives. */
  #adaptPoles(partial: number): void {
    const isLikeLast = partial < 0 === this.#partial1 < 0;
    const isLikeBefore = partial < 0 === this.#partial2 < 0;
    const quadruple = clamp16(this.#pole1 * 4);
    const pull = Math.min(32_767, isLikeLast ? -quadruple : quadruple) >> 7;
    const second = pull + (isLikeBefore ? 128 : -128) + ((this.#pole2 * 32_512) >> 15);
    const first = clamp16((isLikeLast ? 192 : -192) + ((this.#pole1 * 32_640) >> 15));
    this.#pole2 = Math.min(POLE_2_MAX, Math.max(-POLE_2_MAX, second));
    const span = clamp16(POLE_1_SPAN - this.#pole2);
    this.#pole1 = Math.min(span, Math.max(-span, first));
  }

  /** UPZERO. */
  #adaptZeros(difference: number): void {
    const zeros = this.#zeros;
    for (let i = 0; i < ZEROS; i++) {
      const isLike = difference < 0 === (this.#differences[i] as number) < 0;
      const pull = difference === 0 ? 0 : isLike ? 128 : -128;
      zeros[i] = clamp16(pull + (((zeros[i] as number) * 32_640) >> 15));
    }
  }

  /** FILTEP, FILTEZ, PREDIC. */
  #predict(signal: number): void {
    const poles =
      ((this.#pole1 * clamp16(signal * 2)) >> 15) +
      ((this.#pole2 * clamp16(this.#signal1 * 2)) >> 15);
    let zeros = 0;
    for (let i = 0; i < ZEROS; i++) {
      zeros += ((this.#zeros[i] as number) * clamp16((this.#differences[i] as number) * 2)) >> 15;
    }
    this.#zeroPart = clamp16(zeros);
    this.prediction = clamp16(clamp16(poles) + this.#zeroPart);
  }
}

export function clamp16(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}
