// Background noise under the agent's voice and in its pauses: a loop that is added to every frame before it is
// sent. The position in the loop follows from media time, so that it does not jump after a clear.

import { crossFade, mixLoop } from '../../audio/gain.ts';
import { RATE_HZ } from '../../audio/pcm.ts';

/** Cross-fade of the loop's end into its start: 50 ms. */
const SEAM_SAMPLES = RATE_HZ / 20;
/** Length of the built-in loop, at which the repetition is not noticed. */
const OFFICE_SECONDS = 10;
/** Mean square of the built-in noise: about -35 dBFS, before the volume. */
const OFFICE_RMS = 580;

export class BackgroundNoise {
  readonly #loop: Int16Array;
  readonly #gain: number;

  /** `loop` is at 8 kHz, not empty; borrowed, never changed. `volume` is an amplitude factor, clamped to 0..1. */
  constructor(loop: Int16Array, volume: number) {
    this.#loop = loop;
    this.#gain = Math.max(0, Math.min(1, volume));
  }

  /** Adds the noise of media time `playMs` and after. Allocates nothing. */
  mixInto(frame: Int16Array, playMs: number): void {
    const at = Math.round(playMs * (RATE_HZ / 1_000)) % this.#loop.length;
    mixLoop(frame, this.#loop, this.#gain, at);
  }
}

/** The samples as a loop without a click: a little shorter than they are. The result is the caller's. */
export function loopOf(samples: Int16Array): Int16Array {
  const seam = Math.min(SEAM_SAMPLES, Math.floor(samples.length / 4));
  const loop = samples.slice(0, samples.length - seam);
  crossFade(loop.subarray(0, seam), samples.subarray(loop.length));
  return loop;
}

let office: Int16Array | undefined;

/** The built-in noise: soft and low, like distant ventilation. Always the same, generated once. */
export function officeBackgroundNoise(): Int16Array {
  office ??= makeOfficeNoise();
  return office;
}

function makeOfficeNoise(): Int16Array {
  const length = OFFICE_SECONDS * RATE_HZ;
  const noise = new Float64Array(length);
  let seed = 1;
  for (let i = 0; i < length; i++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    noise[i] = seed / 2 ** 31 - 1;
  }
  // The loop is generated twice, so that the filters' state at its start is that of its end: no seam.
  const soft = new Float64Array(length);
  let low = 0;
  let lower = 0;
  for (let i = 0; i < 2 * length; i++) {
    low += 0.25 * ((noise[i % length] as number) - low);
    lower += 0.02 * (low - lower);
    soft[i % length] = 0.6 * low + 2 * lower;
  }
  return scaled(soft);
}

/** Two whole swells per loop, at the intended level. */
function scaled(soft: Float64Array): Int16Array {
  for (const [i, sample] of soft.entries()) {
    soft[i] = sample * (1 + 0.2 * Math.sin((4 * Math.PI * i) / soft.length));
  }
  const square = soft.reduce((sum, sample) => sum + sample ** 2, 0) / soft.length;
  const factor = OFFICE_RMS / Math.sqrt(square);
  return Int16Array.from(soft, (sample) => Math.round(sample * factor));
}
