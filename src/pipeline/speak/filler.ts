// Audio in the agent's pauses: none, frames for background noise (which the writer adds), a ring-back tone, or a
// waiting tone; and the sound for the caller while the agent announces the caller to a transfer destination.

import { fadeOut } from '../../audio/gain.ts';
import { ringbackTone, type ToneSamples, waitingTone } from '../../audio/tones/tone-generator.ts';

export type AwaySound = 'music' | 'ringback' | 'silence';

export class Filler {
  readonly #ambient: boolean;
  readonly #ring = new PauseTone(ringbackTone);
  readonly #waiting = new PauseTone(waitingTone);
  readonly #away = { music: new PauseTone(waitingTone), ringback: new PauseTone(ringbackTone) };

  /** `ambient`: whether every pause has frames. */
  constructor(ambient: boolean) {
    this.#ambient = ambient;
  }

  /** Starts the ring-back tone, with its two seconds of sound first; or stops it, with one more frame if it sounds. */
  ring(on: boolean): void {
    this.#ring.turn(on);
  }

  /** Starts or stops the waiting tone in the same way. */
  hold(on: boolean): void {
    this.#waiting.turn(on);
  }

  /** Starts one of the two sounds, or stops the current one. The agent's words do not end them. */
  away(sound: AwaySound | null): void {
    this.#away.music.turn(sound === 'music');
    this.#away.ringback.turn(sound === 'ringback');
  }

  /** Fills the next frame of the pause. False if none is to be sent; `frame` is not written then. */
  fill(frame: Int16Array): boolean {
    if (this.#ring.fill(frame) || this.#waiting.fill(frame)) return true;
    if (this.#away.music.fill(frame) || this.#away.ringback.fill(frame)) return true;
    if (this.#ambient) frame.fill(0);
    return this.#ambient;
  }
}

class PauseTone {
  readonly #make: () => ToneSamples;
  #tone: ToneSamples | undefined;
  /** State of the tone. `ending`: it fades out in the next frame. */
  #state: 'off' | 'begun' | 'heard' | 'ending' = 'off';

  constructor(make: () => ToneSamples) {
    this.#make = make;
  }

  turn(on: boolean): void {
    if (on) {
      if (this.#state === 'begun' || this.#state === 'heard') return;
      this.#tone = this.#make();
      this.#state = 'begun';
    } else if (this.#state !== 'off') {
      this.#state = this.#state === 'begun' ? 'off' : 'ending';
    }
  }

  fill(frame: Int16Array): boolean {
    if (this.#state === 'off' || this.#tone === undefined) return false;
    this.#tone.fill(frame);
    if (this.#state === 'ending') {
      fadeOut(frame);
      this.#state = 'off';
    } else {
      this.#state = 'heard';
    }
    return true;
  }
}
