// A provider's media socket as the call sees it: it buffers what it is sent, plays it in real time,
// and treats marks after a clear as its provider does.

import { levelDb } from '../../../src/audio/gain.ts';
import type { Codec } from '../../../src/codec/codec.ts';
import type { AudioWire } from '../../../src/pipeline/speak/frame-batch.ts';
import type { Clock, Timer } from '../../../src/std/clock.ts';

interface Played {
  atMs: number;
  untilMs: number;
  pcm: Int16Array;
}

interface Mark {
  name: string;
  returnsMs: number;
  timer: Timer;
}

export class FarEnd implements AudioWire {
  bufferedBytes = 0;
  clears = 0;
  readonly marksSent: string[] = [];
  /** Sent and not returned. */
  readonly marksPending: Mark[] = [];
  readonly frames: Played[] = [];
  /** Returned marks, with the time. */
  readonly returned: { name: string; atMs: number }[] = [];
  /** The most audio it ever held. */
  aheadMsMax = 0;
  /** The least that it held when audio came behind other audio. */
  aheadMsMin = Number.POSITIVE_INFINITY;
  /** Messages of audio, each of one frame or more. */
  messages = 0;
  /** Marks are lost on the way back. */
  losesMarks = false;
  onMark: (name: string) => void = () => undefined;
  readonly #clock: Clock;
  readonly #codec: Codec;
  readonly #semantics: 'none' | 'echo-on-clear' | 'drop-on-clear';
  readonly #oneWayMs: number;
  #endMs = 0;

  constructor(options: {
    clock: Clock;
    codec: Codec;
    semantics: 'none' | 'echo-on-clear' | 'drop-on-clear';
    oneWayMs?: number;
  }) {
    this.#clock = options.clock;
    this.#codec = options.codec;
    this.#semantics = options.semantics;
    this.#oneWayMs = options.oneWayMs ?? 0;
  }

  /** Any whole number of frames: each is kept as its own. */
  audio(payload: Uint8Array): void {
    const { frameBytes } = this.#codec;
    const aheadMs = this.#endMs - this.#clock.monotonicMs() - this.#oneWayMs;
    if (aheadMs > 0) this.aheadMsMin = Math.min(this.aheadMsMin, aheadMs);
    for (let at = 0; at < payload.length; at += frameBytes) {
      this.#frame(payload.subarray(at, at + frameBytes));
    }
    this.messages++;
  }

  #frame(payload: Uint8Array): void {
    const pcm = new Int16Array(this.#codec.samplesIn(payload));
    this.#codec.decode(payload, pcm);
    const arrivesMs = this.#clock.monotonicMs() + this.#oneWayMs;
    const atMs = Math.max(this.#endMs, arrivesMs);
    this.#endMs = atMs + (pcm.length * 1_000) / this.#codec.rateHz;
    this.aheadMsMax = Math.max(this.aheadMsMax, this.#endMs - arrivesMs);
    this.frames.push({ atMs, untilMs: this.#endMs, pcm });
  }

  mark(name: string): void {
    this.marksSent.push(name);
    const arrivesMs = this.#clock.monotonicMs() + this.#oneWayMs;
    const returnsMs = Math.max(this.#endMs, arrivesMs) + this.#oneWayMs;
    const timer = this.#clock.after(returnsMs - this.#clock.monotonicMs(), () =>
      this.#return(mark),
    );
    const mark: Mark = { name, returnsMs, timer };
    this.marksPending.push(mark);
  }

  /** How much of what has arrived is not played yet. */
  get unplayedMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonicMs());
  }

  /** It plays nothing for so long, and never makes up for it. */
  lose(ms: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#endMs <= nowMs) return;
    this.#endMs += ms;
    for (const frame of this.frames) {
      if (frame.atMs < nowMs) continue;
      frame.atMs += ms;
      frame.untilMs += ms;
    }
    for (const mark of this.marksPending) {
      mark.timer.cancel();
      mark.returnsMs += ms;
      mark.timer = this.#clock.after(mark.returnsMs - nowMs, () => this.#return(mark));
    }
  }

  clear(): void {
    this.clears++;
    const nowMs = this.#clock.monotonicMs() + this.#oneWayMs;
    while ((this.frames.at(-1)?.atMs ?? 0) >= nowMs && this.frames.length > 0) this.frames.pop();
    const last = this.frames.at(-1);
    if (last !== undefined) last.untilMs = Math.min(last.untilMs, nowMs);
    this.#endMs = Math.min(this.#endMs, nowMs);
    for (const mark of [...this.marksPending]) {
      mark.timer.cancel();
      if (this.#semantics === 'echo-on-clear') {
        this.#clock.after(2 * this.#oneWayMs, () => this.#return(mark));
      } else {
        this.marksPending.splice(this.marksPending.indexOf(mark), 1);
      }
    }
  }

  /** How long the caller has heard the agent. */
  get playedMs(): number {
    const nowMs = this.#clock.monotonicMs();
    let total = 0;
    for (const { atMs, untilMs } of this.frames) {
      total += Math.max(0, Math.min(untilMs, nowMs) - atMs);
    }
    return total;
  }

  /** Level in dB of what was heard at `ms`; -70 for nothing. */
  levelAt(ms: number): number {
    const frame = this.frames.find(({ atMs, untilMs }) => atMs <= ms && ms < untilMs);
    return frame === undefined ? -70 : levelDb(frame.pcm);
  }

  /** Overwrites `pcm` (8 kHz) with what was heard from `fromMs` on; silence where nothing was. */
  heard(fromMs: number, pcm: Int16Array): void {
    pcm.fill(0);
    const perMs = this.#codec.rateHz / 1_000;
    const toMs = fromMs + pcm.length / perMs;
    for (let nth = this.frames.length - 1; nth >= 0; nth--) {
      const { atMs, untilMs, pcm: played } = this.frames[nth] as Played;
      if (atMs >= toMs) continue;
      if (untilMs <= fromMs) return;
      const first = Math.round((atMs - fromMs) * perMs);
      const count = Math.min(played.length, Math.round((untilMs - atMs) * perMs));
      for (let i = Math.max(0, -first); i < count && first + i < pcm.length; i++) {
        pcm[first + i] = played[i] as number;
      }
    }
  }

  /** When the last sound before `ms` ended. */
  silentSince(ms: number): number {
    let since = 0;
    for (const { atMs, untilMs } of this.frames) if (atMs < ms) since = Math.max(since, untilMs);
    return since;
  }

  #return(mark: Mark): void {
    const at = this.marksPending.indexOf(mark);
    if (at >= 0) this.marksPending.splice(at, 1);
    if (this.losesMarks || this.#semantics === 'none') return;
    this.returned.push({ name: mark.name, atMs: this.#clock.monotonicMs() });
    this.onMark(mark.name);
  }
}
