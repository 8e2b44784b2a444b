// The last seconds of a call's audio, by position: what a recogniser has not confirmed is sent to the next one.

/** 15 s at 8 kHz: longer than most turns, 240 kB. */
const SAMPLES = 15 * 8_000;

export class AudioRing {
  readonly #samples = new Int16Array(SAMPLES);
  #written = 0;

  /** Samples since the begin. */
  get written(): number {
    return this.#written;
  }

  /** The position of the oldest sample that is left. */
  get oldest(): number {
    return Math.max(0, this.#written - SAMPLES);
  }

  /** At most 15 s; borrowed. */
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

  /** Fills `into` with what is at `position`; both ends must be within the ring. */
  read(position: number, into: Int16Array): void {
    const at = position % SAMPLES;
    const first = Math.min(into.length, SAMPLES - at);
    into.set(this.#samples.subarray(at, at + first));
    if (first < into.length) into.set(this.#samples.subarray(0, into.length - first), first);
  }
}
