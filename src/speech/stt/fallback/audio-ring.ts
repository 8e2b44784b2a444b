// Ring buffer of the last seconds of a call's audio, by position: unconfirmed audio is replayed to the next recogniser.

/** 15 s at 8 kHz: longer than most turns, 240 kB. */
const SAMPLES = 15 * 8_000;

export class AudioRing {
  readonly #samples = new Int16Array(SAMPLES);
  #written = 0;

  /** Samples since the beginning of the call. */
  get written(): number {
    return this.#written;
  }

  /** Position of the oldest sample in the ring. */
  get oldest(): number {
    return Math.max(0, this.#written - SAMPLES);
  }

  /** Adds a frame of at most 15 s; borrowed. */
  write(frame: Int16Array): void {
    const at = this.#written % SAMPLES;
    const first = SAMPLES - at;
    if (frame.length <= first) {
      this.#samples.set(frame, at);
    } else {
      this.#samples.set(frame.subarray(0, first), at);
      this.#samples.set(frame.subarray(first), 0);
    }
    this.#written += frame.length;
  }

  /** Copies the audio at `position` into `into`. Both ends must be within the ring. */
  read(position: number, into: Int16Array): void {
    const at = position % SAMPLES;
    const first = Math.min(into.length, SAMPLES - at);
    into.set(this.#samples.subarray(at, at + first));
    if (first < into.length) into.set(this.#samples.subarray(0, into.length - first), first);
  }
}
