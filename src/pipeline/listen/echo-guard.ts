// Detects whether the caller's audio contains the agent's own voice as echo, by comparing the envelopes of both over
// all delays of telephone echo. It cancels nothing.

import { LEVEL_MIN_DB } from '../../audio/gain.ts';
import { FRAME_MS } from '../../audio/pcm.ts';

/** Frames kept of each side; a power of two. */
const FRAMES = 128;
/** Frames that are compared: an echo lasts as long as the agent speaks, an interruption does not. */
const COMPARED = 50;
/** Range of echo delays: 20 to 440 ms. */
const LAG_MIN = 1;
const LAG_MAX = 22;
/** Frames of the agent whose echo may be in the compared frames. */
const SHAPED = COMPARED + LAG_MAX;
/** Correlation from which two envelopes are the same sound. */
const ALIKE = 0.7;
/** An envelope with less variation has no shape to compare. */
const FLAT = 1;
/** Below this level, the caller is silent. */
const QUIET_DB = -50;
/** Sound this far below the agent's level is its echo or noise, of any shape. */
const FAINT_DB = 24;
/** The same with too few frames for a comparison. */
const CLEAR_DB = 7;
/** Frames of the agent's voice that are enough for a comparison: 600 ms. */
const ENOUGH = 30;
/** Latest frames whose level is compared with earlier ones. */
const MOMENT = 8;
/** Largest distance in dB of those frames from the agent's loudest one. */
const ECHO_RANGE_DB = 20;
/** Fewest such frames for a comparison. */
const COUPLED = 15;
/** Audio this much above its expected echo contains another sound: room acoustics change the level by less. */
const EXCEEDS_DB = 6;
/** Variation of an echo around the learned echo level of the call. */
const LEARNED_DB = 6;
/** Rates of learning the echo level: up fast, down slowly, because its loudest counts. */
const LEARNING_UP = 0.5;
const LEARNING_DOWN = 0.02;
/** Increase in dB when two powers are added, by their difference in dB. The steps are so small that the nearest entry
 *  is wrong by less than 0.02 dB; the table ends where the increase is below that. */
const STEPS_PER_DB = 16;
const STEPS = 25 * STEPS_PER_DB;
const ADDED_DB = Float64Array.from({ length: STEPS + 1 }, (_, step) =>
  step < STEPS ? 10 * Math.log10(1 + 10 ** (-step / STEPS_PER_DB / 10)) : 0,
);

/** Scratch memory shared by all calls: the agent's latest frames as `#shape` computed them (and one that is not
 *  compared), and the caller's as `#center` did, the latest first. */
const shaped = new Float64Array(SHAPED + 1);
const centered = new Float64Array(COMPARED);
const products = new Float64Array(LAG_MAX + 1);

export class EchoDetector {
  readonly #incoming = new Float64Array(FRAMES).fill(LEVEL_MIN_DB);
  readonly #outgoing = new Float64Array(FRAMES).fill(LEVEL_MIN_DB);
  /** Number of the caller's latest frame; frame n covers media time n x 20 ms. */
  #latest = 0;
  #latestOut = 0;
  /** Learned echo level relative to the agent's in dB (below 0); NaN until an echo was found. */
  #couplingDb = Number.NaN;

  /** Takes the caller's frame at media time `atMs`. */
  incoming(frameDb: number, atMs: number): void {
    const frame = Math.round(atMs / FRAME_MS);
    for (let each = Math.max(this.#latest + 1, frame - FRAMES); each < frame; each++) {
      this.#incoming[each & (FRAMES - 1)] = LEVEL_MIN_DB;
    }
    if (frame > this.#latest) this.#latest = frame;
    this.#incoming[frame & (FRAMES - 1)] = frameDb;
  }

  /** Takes a frame of the agent that was played at media time `atMs`. */
  outgoing(frameDb: number, atMs: number): void {
    const frame = Math.round(atMs / FRAME_MS);
    this.#silence(frame);
    this.#outgoing[frame & (FRAMES - 1)] = frameDb;
    if (frame > this.#latestOut) this.#latestOut = frame;
  }

  /** Whether the current voice may be the agent's own. */
  isEcho(): boolean {
    this.#silence(this.#latest + 1);
    const loudOut = this.#loudest(this.#outgoing, LAG_MAX + 2);
    if (loudOut < QUIET_DB) return false;
    const loudIn = this.#loudest(this.#incoming, 3);
    if (loudIn < loudOut - FAINT_DB) return true;
    if (loudIn > loudOut) return false;
    if (this.#voiced() < ENOUGH) {
      if (loudIn <= loudOut + this.#couplingDb + LEARNED_DB) return true;
      return loudIn <= loudOut - CLEAR_DB && this.#delay() !== undefined;
    }
    const lag = this.#delay();
    if (lag === undefined || this.#exceeds(lag)) return false;
    this.#learn(loudIn - loudOut);
    return true;
  }

  /** The echo delay in frames; undefined if there is no echo. */
  #delay(): number | undefined {
    this.#shape();
    const varianceIn = this.#center();
    if (varianceIn < FLAT) return undefined;
    multiply();
    let found: number | undefined;
    let most = ALIKE;
    // Running sums of the agent's envelope: with each lag one frame leaves and another enters.
    let sum = 0;
    let squares = 0;
    for (let back = LAG_MIN; back < LAG_MIN + COMPARED; back++) {
      sum += shaped[back] as number;
      squares += (shaped[back] as number) ** 2;
    }
    for (let lag = LAG_MIN; lag <= LAG_MAX; lag++) {
      const variance = squares - (sum * sum) / COMPARED;
      const alike =
        variance < FLAT ? 0 : (products[lag] as number) / Math.sqrt(varianceIn * variance);
      const leaving = shaped[lag] as number;
      const coming = shaped[lag + COMPARED] as number;
      sum += coming - leaving;
      squares += coming * coming - leaving * leaving;
      if (alike < most) continue;
      most = alike;
      found = lag;
    }
    return found;
  }

  /** Fills `shaped` with the agent's envelope as it would return: frames below the noise floor are flat. */
  #shape(): void {
    let quietest = 0;
    for (let back = 0; back < COMPARED; back++) {
      const frameDb = this.#incoming[(this.#latest - back) & (FRAMES - 1)] as number;
      quietest = Math.min(quietest, frameDb);
    }
    const rangeDb = this.#loudest(this.#incoming, COMPARED) - quietest;
    const floorDb = this.#loudest(this.#outgoing, SHAPED) - rangeDb;
    for (let back = 0; back < SHAPED; back++) {
      const frameDb = this.#outgoing[(this.#latest - back) & (FRAMES - 1)] as number;
      const belowDb = Math.abs(frameDb - floorDb);
      const step = Math.min(STEPS, Math.round(belowDb * STEPS_PER_DB));
      const addedDb = ADDED_DB[step] as number;
      shaped[back] = Math.max(frameDb, floorDb) + addedDb;
    }
  }

  /** Whether the caller's audio is louder than the echo of `lag` frames was until now. */
  #exceeds(lag: number): boolean {
    const audibleDb = this.#loudest(this.#outgoing, FRAMES - 1) - ECHO_RANGE_DB;
    let sum = 0;
    let count = 0;
    for (let back = MOMENT; back < COMPARED; back++) {
      const out = this.#outgoing[(this.#latest - back - lag) & (FRAMES - 1)] as number;
      if (out < audibleDb) continue;
      sum += (this.#incoming[(this.#latest - back) & (FRAMES - 1)] as number) - out;
      count++;
    }
    if (count < COUPLED) return false;
    let loudOut = LEVEL_MIN_DB;
    for (let back = lag - 1; back <= lag + 3; back++) {
      loudOut = Math.max(loudOut, this.#outgoing[(this.#latest - back) & (FRAMES - 1)] as number);
    }
    loudOut = Math.max(loudOut, QUIET_DB);
    return this.#loudest(this.#incoming, 3) > loudOut + sum / count + EXCEEDS_DB;
  }

  #learn(couplingDb: number): void {
    if (Number.isNaN(this.#couplingDb)) this.#couplingDb = couplingDb;
    const off = couplingDb - this.#couplingDb;
    this.#couplingDb += (off > 0 ? LEARNING_UP : LEARNING_DOWN) * off;
  }

  /** Fills frames between the last played one and `until` with silence. */
  #silence(until: number): void {
    for (let each = Math.max(this.#latestOut + 1, until - FRAMES); each < until; each++) {
      this.#outgoing[each & (FRAMES - 1)] = LEVEL_MIN_DB;
    }
    this.#latestOut = Math.max(this.#latestOut, until - 1);
  }

  #loudest(side: Float64Array, frames: number): number {
    let loudest = LEVEL_MIN_DB;
    for (let back = 0; back < frames; back++) {
      loudest = Math.max(loudest, side[(this.#latest - back) & (FRAMES - 1)] as number);
    }
    return loudest;
  }

  #voiced(): number {
    let count = 0;
    for (let back = 0; back < COMPARED; back++) {
      if ((this.#outgoing[(this.#latest - back) & (FRAMES - 1)] as number) > QUIET_DB) count++;
    }
    return count;
  }

  /** Fills in the caller's compared frames less their mean. Returns their variance times the number of frames. */
  #center(): number {
    let sum = 0;
    for (let back = 0; back < COMPARED; back++) {
      const frameDb = this.#incoming[(this.#latest - back) & (FRAMES - 1)] as number;
      centered[back] = frameDb;
      sum += frameDb;
    }
    let squares = 0;
    for (let back = 0; back < COMPARED; back++) {
      const off = (centered[back] as number) - sum / COMPARED;
      centered[back] = off;
      squares += off * off;
    }
    return squares;
  }
}

/** Covariance of both envelopes, the agent's `lag` frames earlier, for each lag. Written to a buffer: a
 *  fractional number as return value would be allocated. */
function multiply(): void {
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag++) {
    let even = 0;
    let odd = 0;
    for (let back = 0; back < COMPARED; back += 2) {
      even += (centered[back] as number) * (shaped[back + lag] as number);
      odd += (centered[back + 1] as number) * (shaped[back + 1 + lag] as number);
    }
    products[lag] = even + odd;
  }
}
