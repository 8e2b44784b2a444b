// The 20 ms heartbeat of all audio: sources first, then ears, so that what is sent in one beat is heard in
// it. Free of drift; a beat that comes late is followed at once by those that were missed.

import type { Clock, Timer } from '../../../../src/std/clock.ts';

const BEAT_MS = 20;
/** After a longer stall (a suspended machine) the missed beats are given up. */
const CATCH_UP_BEATS_MAX = 500;

export type Beat = (atMs: number) => void;

export class Ticker {
  readonly #clock: Clock;
  readonly #sources = new Set<Beat>();
  readonly #ears = new Set<Beat>();
  #timer: Timer | undefined;
  #nextMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Called every 20 ms until the returned function is. */
  add(kind: 'source' | 'ear', beat: Beat): () => void {
    const set = kind === 'source' ? this.#sources : this.#ears;
    set.add(beat);
    if (this.#timer === undefined) {
      this.#nextMs = this.#clock.monotonicMs() + BEAT_MS;
      this.#await();
    }
    return () => void set.delete(beat);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sources.clear();
    this.#ears.clear();
  }

  #await(): void {
    this.#timer = this.#clock.after(this.#nextMs - this.#clock.monotonicMs(), () => this.#run());
  }

  #run(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonicMs();
    if (now - this.#nextMs > CATCH_UP_BEATS_MAX * BEAT_MS) this.#nextMs = now;
    for (; this.#nextMs <= now; this.#nextMs += BEAT_MS) {
      for (const beat of [...this.#sources]) beat(this.#nextMs);
      for (const beat of [...this.#ears]) beat(this.#nextMs);
    }
    if (this.#timer === undefined && this.#sources.size + this.#ears.size > 0) this.#await();
  }
}
