// Converts times in a service's stream to the call's audio: the stream also contains silence that was sent during gaps
// in the call's audio.

/** Gaps that are stored. Older ones precede any word that can still arrive. */
const GAPS_MAX = 50;

export class StreamTime {
  #gaps: { atMs: number; ms: number }[] = [];
  #beforeMs = 0;

  /** Records `ms` of silence that was inserted at `atMs` of the stream. */
  inserted(atMs: number, ms: number): void {
    this.#gaps.push({ atMs, ms });
    if (this.#gaps.length > GAPS_MAX) this.#beforeMs += this.#gaps.shift()?.ms ?? 0;
  }

  /** Converts to milliseconds of the call's audio. */
  inCall(streamMs: number): number {
    let ms = streamMs - this.#beforeMs;
    for (const gap of this.#gaps) ms -= Math.min(gap.ms, Math.max(0, streamMs - gap.atMs));
    return ms;
  }
}
