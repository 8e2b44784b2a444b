// Sends speech to a media session at the pace of a call: at most the requested time ahead of real time, in messages of
// the provider's frame size. For one call at a time; conversations use pipeline/speak/playout.

import { FRAME_MS, RATE_HZ } from '../../audio/pcm.ts';
import { createResampler } from '../../audio/resample/resampler.ts';
import type { Codec } from '../../codec/codec.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';

export class PacedSpeech {
  readonly #clock: Clock;
  readonly #media: MediaSession;
  readonly #codec: Codec;
  readonly #payload: Uint8Array;
  readonly #frame: Int16Array;
  #samples = new Int16Array(0);
  #at = 0;
  #startMs = 0;
  #aheadMs = 0;
  #timer: Timer | undefined;
  #onSent: () => void = () => undefined;

  constructor(options: { clock: Clock; media: MediaSession; codec: Codec }) {
    const { clock, media, codec } = options;
    this.#clock = clock;
    this.#media = media;
    this.#codec = codec;
    const { stepMs: step } = media.traits.lead;
    this.#payload = new Uint8Array((codec.frameBytes * step) / FRAME_MS);
    this.#frame = new Int16Array((codec.rateHz * step) / 1_000);
  }

  /** Sends 8 kHz samples, up to `aheadMs` ahead of real time, and replaces what was being said. Settles when all are
   *  sent, or at `stop`. */
  say(samples: Int16Array, aheadMs: number): Promise<void> {
    this.stop();
    const { rateHz } = this.#codec;
    const wide = createResampler({ fromHz: RATE_HZ, toHz: rateHz }).process(samples);
    this.#samples = wide.slice();
    this.#at = 0;
    this.#aheadMs = Math.max(aheadMs, this.#media.traits.lead.stepMs);
    this.#startMs = this.#clock.monotonicMs();
    return new Promise((resolve) => {
      this.#onSent = resolve;
      this.#send();
    });
  }

  /** Stops sending. Returns how much of the sent speech cannot have been played yet, in milliseconds. */
  stop(): number {
    this.#timer?.cancel();
    this.#timer = undefined;
    const leftMs = this.#sentMs - (this.#clock.monotonicMs() - this.#startMs);
    this.#samples = this.#samples.subarray(0, 0);
    this.#at = 0;
    this.#onSent();
    return Math.max(0, leftMs);
  }

  get #sentMs(): number {
    return (this.#at * 1_000) / this.#codec.rateHz;
  }

  #send(): void {
    const passedMs = this.#clock.monotonicMs() - this.#startMs;
    while (this.#at < this.#samples.length && this.#sentMs - passedMs < this.#aheadMs) {
      this.#frame.fill(0);
      this.#frame.set(this.#samples.subarray(this.#at, this.#at + this.#frame.length));
      this.#codec.encode(this.#frame, this.#payload);
      this.#media.audio(this.#payload);
      this.#at += this.#frame.length;
    }
    if (this.#at >= this.#samples.length) this.#onSent();
    else this.#timer = this.#clock.after(FRAME_MS, () => this.#send());
  }
}
