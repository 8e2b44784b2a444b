// Tones of the telephone network and of machines in the callee's audio: the special information tone before the
// announcement that a number is not in service, and the answer of a fax. Source: ITU-T E.180 (SIT), T.30 (CED).

import { FRAME_MS } from '../../audio/pcm.ts';

export type NetworkTone = 'special-information' | 'fax';

/** The three tones of the SIT, in Hz, with what networks differ by; each lasts 276 or 380 ms. */
const SIT_HZ = [
  [890, 1_010],
  [1_360, 1_450],
  [1_740, 1_840],
] as const;
const SIT_FRAMES = { min: 180 / FRAME_MS, max: 460 / FRAME_MS };
/** Longest pause between two tones of a SIT. */
const SIT_PAUSE_FRAMES_MAX = 80 / FRAME_MS;
/** The answer tone of a fax, in Hz, and its shortest length: a beep is shorter. */
const CED_HZ = [2_070, 2_130] as const;
const CED_FRAMES_MIN = 2_100 / FRAME_MS;

export class NetworkToneDetector {
  /** Tones of a SIT that have sounded; frames of the current one, and since it. */
  #stage = 0;
  #frames = 0;
  #since = 0;
  #cedFrames = 0;

  /** Takes the frequency of the single tone of a frame, 0 for none. Returns the tone that has just been recognised. */
  push(hz: number): NetworkTone | undefined {
    this.#cedFrames = isWithin(hz, CED_HZ) ? this.#cedFrames + 1 : 0;
    if (this.#cedFrames === CED_FRAMES_MIN) return 'fax';
    return this.#isSit(hz) ? 'special-information' : undefined;
  }

  #isSit(hz: number): boolean {
    const wanted = SIT_HZ[this.#stage];
    if (wanted !== undefined && isWithin(hz, wanted)) {
      this.#frames += 1;
      this.#since = 0;
      // The last tone need not end: an announcement may follow at once.
      return this.#stage === SIT_HZ.length - 1 && this.#frames === SIT_FRAMES.min;
    }
    if (this.#frames > 0) {
      const { min, max } = SIT_FRAMES;
      if (this.#frames < min || this.#frames > max) return this.#restart(hz);
      this.#stage += 1;
      this.#frames = 0;
      const next = SIT_HZ[this.#stage];
      if (next !== undefined && isWithin(hz, next)) this.#frames = 1;
    }
    this.#since += 1;
    if (this.#since > SIT_PAUSE_FRAMES_MAX) return this.#restart(hz);
    return false;
  }

  #restart(hz: number): false {
    this.#stage = 0;
    this.#since = 0;
    this.#frames = isWithin(hz, SIT_HZ[0]) ? 1 : 0;
    return false;
  }
}

function isWithin(hz: number, [min, max]: readonly [number, number]): boolean {
  return hz >= min && hz <= max;
}
