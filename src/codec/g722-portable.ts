// The arithmetic of G.722 in plain TypeScript: two sub-bands of ADPCM, six bits for the lower, two for the
// upper. Source: ITU-T G.722 (09/2012), whose names of blocks and tables are in the comments.

/** Predictor of a sub-band: its zeros, and the bounds of its poles. */
const ZEROS = 6;
const POLE_2_MAX = 12_288;
const POLE_1_SPAN = 15_360;

/** Q6: decision levels of the lower band's quantizer, in units of its step. */
const LOW_LEVELS = Int16Array.of(
  35,
  72,
  110,
  150,
  190,
  233,
  276,
  323,
  370,
  422,
  473,
  530,
  587,
  650,
  714,
  786,
  858,
  940,
  1023,
  1121,
  1219,
  1339,
  1458,
  1612,
  1765,
  1980,
  2195,
  2557,
  2919,
);
/** QQ6: the values of the 30 steps away from zero; the first is next to zero. */
const LOW_STEPS = Int16Array.of(
  136,
  432,
  728,
  1040,
  1360,
  1688,
  2032,
  2400,
  2776,
  3168,
  3576,
  4008,
  4464,
  4944,
  5456,
  6000,
  6576,
  7192,
  7856,
  8576,
  9360,
  10232,
  11192,
  12280,
  13512,
  14984,
  16704,
  19008,
  21904,
  24808,
);
/** QQ4: the same for the four most significant bits, which alone control the adaptation. */
const LOW_COARSE = Int16Array.of(1200, 2584, 4240, 6288, 8968, 12896, 20456);
/** WL: logarithmic step of the scale factor by coarse magnitude, from zero up. */
const LOW_SCALE = Int16Array.of(-60, -30, 58, 172, 334, 538, 1198, 3042);
/** ILB: powers of two by 32nds, 11 bits after the point. */
const INVERSE_LOG = Int16Array.from({ length: 32 }, (_, i) => Math.round(2_048 * 2 ** (i / 32)));
const HIGH_LEVEL = 564;
const HIGH_STEPS = Int16Array.of(-7408, -1616, 7408, 1616);
const HIGH_SCALE = Int16Array.of(798, -214, 798, -214);
const LOW_SCALE_MAX = 18_432;
const HIGH_SCALE_MAX = 22_528;
/** Codes of the lower band: 1..30 and 31 away from zero downwards, 32..61 upwards, 62 and 63 next to it. */
const LOW_CODES = 64;

/** The quadrature mirror filter's twelve coefficients; the other half are the same in reverse order. */
const QMF = Int16Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
const TAPS = 2 * QMF.length;

/** Signed step of each of the lower band's codes. */
const lowValue = new Int16Array(LOW_CODES);
const lowCoarseValue = new Int16Array(16);
const lowCoarseMagnitude = new Uint8Array(16);
const codeAbove = new Uint8Array(30);
const codeBelow = new Uint8Array(30);
fillTables();

/** Both directions of one call, each with its own state. */
export class PortableG722 {
  readonly #encoder = new Encoder();
  readonly #decoder = new Decoder();

  /** Same contract as Codec.decode. */
  decode(payload: Uint8Array, pcm: Int16Array): number {
    return this.#decoder.decode(payload, pcm);
  }

  /** Same contract as Codec.encode. */
  encode(pcm: Int16Array, payload: Uint8Array): number {
    return this.#encoder.encode(pcm, payload);
  }
}

/** One sub-band: predictor and scale factor. */
class Band {
  readonly predictor = new AdaptivePredictor();
  /** DETL, DETH: the quantizer's step. */
  step: number;
  #log = 0;
  readonly #logMax: number;
  readonly #shift: number;

  constructor(options: { step: number; logMax: number; shift: number }) {
    this.step = options.step;
    this.#logMax = options.logMax;
    this.#shift = options.shift;
  }

  /** LOGSCL and SCALEL (LOGSCH and SCALEH), then the predictor. */
  adapt(difference: number, scale: number): void {
    const log = ((this.#log * 127) >> 7) + scale;
    this.#log = Math.min(this.#logMax, Math.max(0, log));
    const mantissa = INVERSE_LOG[(this.#log >> 6) & 31] as number;
    const exponent = this.#shift - (this.#log >> 11);
    this.step = (exponent < 0 ? mantissa << -exponent : mantissa >> exponent) << 2;
    this.predictor.advance(difference);
  }
}

const lowBand = () => new Band({ step: 32, logMax: LOW_SCALE_MAX, shift: 8 });
const highBand = () => new Band({ step: 8, logMax: HIGH_SCALE_MAX, shift: 10 });

/** The last 24 samples in one piece: each is written twice, so that a window never wraps around. */
class Window {
  readonly samples = new Int32Array(2 * TAPS);
  #at = 0;

  /** Takes the two newest samples; returns the index of the window's oldest sample. */
  push(first: number, second: number): number {
    const { samples } = this;
    const at = this.#at;
    samples[at] = first;
    samples[at + 1] = second;
    samples[at + TAPS] = first;
    samples[at + TAPS + 1] = second;
    this.#at = at + 2 === TAPS ? 0 : at + 2;
    return at + 2;
  }
}

class Encoder {
  readonly #low = lowBand();
  readonly #high = highBand();
  readonly #window = new Window();

  encode(pcm: Int16Array, payload: Uint8Array): number {
    const bytes = pcm.length >> 1;
    for (let i = 0; i < bytes; i++) {
      payload[i] = this.#pair(pcm[2 * i] as number, pcm[2 * i + 1] as number);
    }
    return bytes;
  }

  #pair(first: number, second: number): number {
    const { samples } = this.#window;
    const from = this.#window.push(first, second);
    let odd = 0;
    let even = 0;
    for (let i = 0; i < QMF.length; i++) {
      odd += (samples[from + 2 * i] as number) * (QMF[i] as number);
      even += (samples[from + 2 * i + 1] as number) * (QMF[QMF.length - 1 - i] as number);
    }
    const low = this.#encodeLow((even + odd) >> 14);
    return (this.#encodeHigh((even - odd) >> 14) << 6) | low;
  }

  #encodeLow(sample: number): number {
    const band = this.#low;
    const error = clamp16(sample - band.predictor.prediction);
    const magnitude = error >= 0 ? error : -(error + 1);
    let level = 0;
    while (
      level < LOW_LEVELS.length &&
      magnitude >= ((LOW_LEVELS[level] as number) * band.step) >> 12
    ) {
      level++;
    }
    const code = (error >= 0 ? codeAbove : codeBelow)[level] as number;
    adaptLow(band, code);
    return code;
  }

  #encodeHigh(sample: number): number {
    const band = this.#high;
    const error = clamp16(sample - band.predictor.prediction);
    const magnitude = error >= 0 ? error : -(error + 1);
    const isFar = magnitude >= (HIGH_LEVEL * band.step) >> 12;
    const code = (error >= 0 ? 2 : 0) + (isFar ? 0 : 1);
    adaptHigh(band, code);
    return code;
  }
}

class Decoder {
  readonly #low = lowBand();
  readonly #high = highBand();
  readonly #window = new Window();

  decode(payload: Uint8Array, pcm: Int16Array): number {
    for (let i = 0; i < payload.length; i++) this.#pair(payload[i] as number, pcm, 2 * i);
    return payload.length * 2;
  }

  #pair(byte: number, pcm: Int16Array, at: number): void {
    const code = byte & 63;
    const low = this.#low;
    const lowDifference = (low.step * (lowValue[code] as number)) >> 15;
    const lower = clamp15(low.predictor.prediction + lowDifference);
    adaptLow(low, code);
    const high = this.#high;
    const predicted = high.predictor.prediction;
    const upper = clamp15(predicted + adaptHigh(high, byte >> 6));
    this.#synthesize(lower, upper, pcm, at);
  }

  #synthesize(lower: number, upper: number, pcm: Int16Array, at: number): void {
    const { samples } = this.#window;
    const from = this.#window.push(lower + upper, lower - upper);
    let first = 0;
    let second = 0;
    for (let i = 0; i < QMF.length; i++) {
      second += (samples[from + 2 * i] as number) * (QMF[i] as number);
      first += (samples[from + 2 * i + 1] as number) * (QMF[QMF.length - 1 - i] as number);
    }
    pcm[at] = clamp16(first >> 11);
    pcm[at + 1] = clamp16(second >> 11);
  }
}

/** The two least significant bits are ignored here: they may carry data. */
function adaptLow(band: Band, code: number): void {
  const coarse = code >> 2;
  const difference = (band.step * (lowCoarseValue[coarse] as number)) >> 15;
  band.adapt(difference, LOW_SCALE[lowCoarseMagnitude[coarse] as number] as number);
}

/** Returns the difference that `code` stands for. */
function adaptHigh(band: Band, code: number): number {
  const difference = (band.step * (HIGH_STEPS[code] as number)) >> 15;
  band.adapt(difference, HIGH_SCALE[code] as number);
  return difference;
}

function fillTables(): void {
  for (let level = 0; level < LOW_STEPS.length; level++) {
    const above = 61 - level;
    const below = level < 2 ? 63 - level : 33 - level;
    codeAbove[level] = above;
    codeBelow[level] = below;
    lowValue[above] = LOW_STEPS[level] as number;
    lowValue[below] = -(LOW_STEPS[level] as number);
  }
  // Codes that no encoder sends; they decode as the smallest step downwards.
  for (let code = 0; code < 4; code++) lowValue[code] = -136;
  for (let magnitude = 1; magnitude <= LOW_COARSE.length; magnitude++) {
    const value = LOW_COARSE[magnitude - 1] as number;
    lowCoarseValue[15 - magnitude] = value;
    lowCoarseMagnitude[15 - magnitude] = magnitude;
    lowCoarseValue[8 - magnitude] = -value;
    lowCoarseMagnitude[8 - magnitude] = magnitude;
  }
}

function clamp15(value: number): number {
  return value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value;
}

/** The adaptive predictor of one sub-band: two poles and six zeros whose coefficients follow the signs of the last
 *  samples. Integer arithmetic to the bit. Block 4 of G.722. */
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

function clamp16(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}
