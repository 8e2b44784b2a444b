// Time in a service's stream against time in the call's audio: the stream also has silence that was sent while the call
// had no audio.

/** Gaps that are kept apart; older ones are before any word that can still come. */
const GAPS_MAX = 50;

export class StreamTime {
  #gaps: { atMs: number; ms: number }[] = [];
  #beforeMs = 0;

  /** So much silence was put into the stream, at `atMs` of the stream. */
  inserted(atMs: number, ms: number): void {
    this.#gaps.push({ atMs, ms });
    if (this.#gaps.length > GAPS_MAX) this.#beforeMs += this.#gaps.shift()?.ms ?? 0;
  }

  /** Milliseconds of the call's audio. */
  inCall(streamMs: number): number {
    let ms = streamMs - this.#beforeMs;
    for (const gap of this.#gaps) ms -= Math.min(gap.ms, Math.max(0, streamMs - gap.atMs));
    return ms;
  }
}
