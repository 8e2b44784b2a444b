// A short utterance with its audio that is played while the agent's own speech is missing: before an utterance that
// waits for its words, or within one. It is not part of the queue; playout sends it while the queue has nothing.

import { FRAME_SAMPLES } from '../../audio/pcm.ts';
import type { PlayheadPosition } from './playhead.ts';
import type { PlayoutListener } from './playout-options.ts';
import type { Segment, Utterance } from './utterance.ts';

/** One interjection at a time. Times are media time. */
export class Interjection {
  readonly #listener: Pick<PlayoutListener, 'onStarted' | 'onFinished'>;
  #segment: Segment | undefined;
  #at = 0;
  /** Time at which the far end will have played all sent audio. */
  #endMs = Number.NaN;

  constructor(listener: Pick<PlayoutListener, 'onStarted' | 'onFinished'>) {
    this.#listener = listener;
  }

  get isPending(): boolean {
    return this.#segment !== undefined;
  }

  /** Whether its beginning was sent, and not yet its end. */
  get isUnderWay(): boolean {
    return this.#at > 0 && this.#hasMore;
  }

  get #hasMore(): boolean {
    return this.#segment !== undefined && this.#at < this.#segment.samples;
  }

  /** Begins an utterance of one complete segment. */
  begin(utterance: Utterance, nowMs: number): void {
    this.drop(nowMs);
    this.#segment = utterance.segments[0];
    this.#at = 0;
    this.#endMs = Number.NaN;
  }

  /** Reads the next frame. False if there is none. */
  read(frame: Int16Array): boolean {
    if (!this.#hasMore) return false;
    this.#segment?.read(this.#at, frame);
    this.#at += FRAME_SAMPLES;
    return true;
  }

  /** Notes that the frame was sent, and will be played from `playMs` to `endMs`. */
  sent(playMs: number, endMs: number, nowMs: number): void {
    this.#endMs = endMs;
    const segment = this.#segment;
    if (segment === undefined) return;
    if (!this.#hasMore) segment.sentEndMs = endMs;
    if (segment.utterance.startMs !== undefined) return;
    segment.utterance.startMs = playMs;
    this.#listener.onStarted(segment.utterance, nowMs);
  }

  /** Reports it once all of it was played. */
  finishPlayed(nowMs: number): void {
    if (this.isPending && !this.#hasMore && nowMs >= this.#endMs) this.drop(nowMs);
  }

  /** Drops it, unless it has begun, as the queue continues. */
  dropUnbegun(nowMs: number): void {
    if (this.#at === 0) this.drop(nowMs);
  }

  /** Ends and reports it. Returns the position of the cut, if it sounded. */
  drop(nowMs: number): PlayheadPosition | undefined {
    const segment = this.#segment;
    if (segment === undefined) return undefined;
    this.#segment = undefined;
    const { utterance } = segment;
    const isBegun = this.#at > 0;
    const unplayedMs = isBegun ? Math.max(0, this.#endMs - nowMs) : 0;
    const at = Math.max(0, Math.min(this.#at, segment.samples) - Math.round(unplayedMs * 8));
    segment.playedSamples = at;
    const interrupted = !utterance.played(nowMs);
    const heardText = isBegun ? utterance.heardText() : '';
    const endMs = isBegun ? Math.min(nowMs, this.#endMs) : nowMs;
    this.#listener.onFinished({ utterance, heardText, interrupted, endMs });
    return unplayedMs > 0 ? { segment, at, gain: 1 } : undefined;
  }
}
