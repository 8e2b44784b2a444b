// What is sent while the agent has nothing to say: nothing at all, frames for background noise (which the
// writer adds), or a ring-back tone.

import { fadeOut } from '../../audio/gain.ts';
import { ringbackTone, type ToneSamples } from '../../audio/tones/tone-generator.ts';

export class Filler {
  readonly #ambient: boolean;
  #tone: ToneSamples | undefined;
  /** `ending`: it fades out with the next frame. */
  #ring: 'off' | 'begun' | 'heard' | 'ending' = 'off';

  /** `ambient`: there are frames in every pause. */
  constructor(ambient: boolean) {
    this.#ambient = ambient;
  }

  /** Begins the tone, with two seconds of sound; or ends it with one more frame, if there was any. */
  ring(on: boolean): void {
    if (on) {
      if (this.#ring === 'begun' || this.#ring === 'heard') return;
      this.#tone = ringbackTone();
      this.#ring = 'begun';
    } else if (this.#ring !== 'off') {
      this.#ring = this.#ring === 'begun' ? 'off' : 'ending';
    }
  }

  /** The pause's next frame; false if none is to be sent, `frame` is not written then. */
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
