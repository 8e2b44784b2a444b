// What is sent while the agent is silent: nothing, frames for background noise (which the writer adds), or a
// ring-back tone.

import { fadeOut } from '../../audio/gain.ts';
import { ringbackTone, type ToneSamples } from '../../audio/tones/tone-generator.ts';

export class Filler {
  readonly #ambient: boolean;
  #tone: ToneSamples | undefined;
  /** `ending`: it fades out in the next frame. */
  #ring: 'off' | 'begun' | 'heard' | 'ending' = 'off';

  /** `ambient`: every pause has frames. */
  constructor(ambient: boolean) {
    this.#ambient = ambient;
  }

  /** Starts the tone, with its two seconds of sound first; or stops it with one more frame, if it sounds. */
  ring(on: boolean): void {
    if (on) {
      if (this.#ring === 'begun' || this.#ring === 'heard') return;
      this.#tone = ringbackTone();
      this.#ring = 'begun';
    } else if (this.#ring !== 'off') {
      this.#ring = this.#ring === 'begun' ? 'off' : 'ending';
    }
  }

  /** The next frame of the pause; false if none is to be sent: `frame` is not written then. */
  fill(frame: Int16Array): boolean {
    if (this.#ring === 'off' || this.#tone === undefined) {
      if (this.#ambient) frame.fill(0);
      return this.#ambient;
    }
    this.#tone.fill(frame);
    if (this.#ring === 'ending') {
      fadeOut(frame);
      this.#ring = 'off';
    } else {
      this.#ring = 'heard';
    }
    return true;
  }
}
