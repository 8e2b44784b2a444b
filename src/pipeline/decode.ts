// The caller's packets to an even stream of 20 ms frames at 8 kHz, each with its media time. Packets
// are put in order by timestamp; short gaps are concealed, longer ones become silence. It hears nothing.

import { FRAME_MS, FRAME_SAMPLES, RATE_HZ } from '../audio/pcm.ts';
import { createResampler, type Resampler } from '../audio/resample.ts';
import type { Codec } from '../codec/codec.ts';
import { framesConcealed } from '../metrics.ts';
import { ArrivalClock } from './arrival.ts';

/** `frame` is borrowed; `atMs` is the media time of its first sample. */
export type FrameSink = (frame: Int16Array, atMs: number) => void;

/** Gaps up to this are concealed by repetition, and worth waiting for a packet out of order. */
const CONCEAL_SAMPLES_MAX = 3 * FRAME_SAMPLES;
/** Silence put into a longer gap: enough to end any speech. The rest is a jump in media time. */
const SILENCE_SAMPLES_MAX = RATE_HZ / 2;
/** Packets held back while one before them is missing. */
const HELD_MAX = 3;
const HELD_MS_MAX = 60;
/** Samples of one packet: half a second. Longer ones are cut. */
const PACKET_SAMPLES_MAX = RATE_HZ / 2;
/** A timestamp this far from the expected one begins a new stream. */
const RESTART_BACK_SAMPLES = 2 * RATE_HZ;
const RESTART_AHEAD_SAMPLES = 120 * RATE_HZ;
/** Timestamps of an exact sender may be off by rounding, */
const ROUNDING_SAMPLES = 24;
/** those of a sender that stamps by its wall clock by this. */
const WALL_CLOCK_SAMPLES = 4 * FRAME_SAMPLES;
/** Loudness of the repeated frames, one after the other. */
const CONCEAL_GAINS = [0.7, 0.4, 0.15, 0] as const;
const PER_MS = RATE_HZ / 1_000;

interface Held {
  used: boolean;
  start: number;
  count: number;
  readonly pcm: Int16Array;
}

export class Decoder {
  /** Packets that came after their place was filled, and copies of packets. */
  late = 0;
  duplicates = 0;
  concealed = 0;
  readonly #codec: Codec;
  readonly #sink: FrameSink;
  readonly #resampler: Resampler | undefined;
  readonly #arrival = new ArrivalClock();
  #pcm = new Int16Array(2 * FRAME_SAMPLES);
  /** The frame being filled, and the last whole one. */
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  readonly #last = new Int16Array(FRAME_SAMPLES);
  readonly #filler = new Int16Array(FRAME_SAMPLES);
  #filled = 0;
  /** Stream position, in samples, of the next sample; undefined before the first packet. */
  #next: number | undefined;
  #lastStart = Number.NaN;
  #wallClock = false;
  readonly #held: Held[] = [];
  #heldCount = 0;
  #heldSinceMs = 0;

  constructor(options: { codec: Codec; sink: FrameSink }) {
    this.#codec = options.codec;
    this.#sink = options.sink;
    const fromHz = options.codec.rateHz;
    if (fromHz !== RATE_HZ) this.#resampler = createResampler({ fromHz, toHz: RATE_HZ });
    for (let i = 0; i < HELD_MAX; i++) {
      this.#held.push({ used: false, start: 0, count: 0, pcm: new Int16Array(PACKET_SAMPLES_MAX) });
    }
  }

  /** One packet, borrowed. `timestampMs` is the stream time of its begin or NaN; `nowMs` media time. */
  push(payload: Uint8Array, timestampMs: number, nowMs: number): void {
    const pcm = this.#decode(payload);
    const count = Math.min(pcm.length, PACKET_SAMPLES_MAX);
    if (count === 0) return;
    const start = this.#place(timestampMs, count);
    this.#arrival.arrived((start + count) / PER_MS, nowMs);
    this.#order(pcm, count, start, nowMs);
    this.#lastStart = start;
  }

  /** Lets go what was held back long enough. */
  tick(nowMs: number): void {
    if (this.#heldCount > 0 && nowMs - this.#heldSinceMs >= HELD_MS_MAX) this.#giveUpWaiting();
  }

  #decode(payload: Uint8Array): Int16Array {
    const count = this.#codec.samplesIn(payload);
    if (this.#pcm.length !== count) this.#pcm = new Int16Array(count);
    this.#codec.decode(payload, this.#pcm);
    return this.#resampler === undefined ? this.#pcm : this.#resampler.process(this.#pcm);
  }

  /** The stream position that a packet belongs to. */
  #place(timestampMs: number, count: number): number {
    if (Number.isNaN(timestampMs)) return this.#next ?? 0;
    const start = Math.round(timestampMs * PER_MS);
    if (this.#next === undefined) return start;
    const off = start - this.#next;
    if (off < -RESTART_BACK_SAMPLES || off > RESTART_AHEAD_SAMPLES) {
      this.#restart();
      return start;
    }
    const odd = Math.abs(off) % count;
    if (odd > ROUNDING_SAMPLES && count - odd > ROUNDING_SAMPLES) this.#wallClock = true;
    const loose = this.#wallClock && this.#heldCount === 0;
    return Math.abs(off) <= (loose ? WALL_CLOCK_SAMPLES : ROUNDING_SAMPLES) ? this.#next : start;
  }

  #restart(): void {
    this.#giveUpWaiting();
    this.#next = undefined;
    this.#filled = 0;
    this.#arrival.reset();
  }

  #order(pcm: Int16Array, count: number, start: number, nowMs: number): void {
    const next = this.#next ?? start;
    const gap = start - next;
    if (gap > 0 && gap <= CONCEAL_SAMPLES_MAX && this.#hold(pcm, count, start, nowMs)) return;
    if (gap > 0) {
      this.#giveUpWaiting();
      this.#fill(start);
    }
    this.#append(pcm, count, start);
    this.#appendHeld();
  }

  /** Appends what of the packet is new. */
  #append(pcm: Int16Array, count: number, start: number): void {
    this.#next ??= start;
    const old = this.#next - start;
    if (old >= count) {
      if (start === this.#lastStart) this.duplicates++;
      else this.late++;
      return;
    }
    this.#stream(pcm, Math.max(0, old), count, true);
  }

  #hold(pcm: Int16Array, count: number, start: number, nowMs: number): boolean {
    const slot = this.#held.find((each) => !each.used);
    if (slot === undefined) return false;
    for (let i = 0; i < count; i++) slot.pcm[i] = pcm[i] as number;
    slot.used = true;
    slot.start = start;
    slot.count = count;
    if (this.#heldCount === 0) this.#heldSinceMs = nowMs;
    this.#heldCount++;
    if (this.#heldCount === HELD_MAX) this.#giveUpWaiting();
    return true;
  }

  /** Held packets whose turn has come. */
  #appendHeld(): void {
    for (let slot = this.#earliestHeld(); slot !== undefined; slot = this.#earliestHeld()) {
      if (slot.start - (this.#next ?? slot.start) > ROUNDING_SAMPLES) return;
      this.#release(slot);
    }
  }

  #giveUpWaiting(): void {
    for (let slot = this.#earliestHeld(); slot !== undefined; slot = this.#earliestHeld()) {
      if (slot.start > (this.#next ?? slot.start)) this.#fill(slot.start);
      this.#release(slot);
    }
  }

  #release(slot: Held): void {
    slot.used = false;
    this.#heldCount--;
    this.#append(slot.pcm, slot.count, slot.start);
  }

  #earliestHeld(): Held | undefined {
    if (this.#heldCount === 0) return undefined;
    let earliest: Held | undefined;
    for (const slot of this.#held) {
      if (slot.used && (earliest === undefined || slot.start < earliest.start)) earliest = slot;
    }
    return earliest;
  }

  /** Fills the stream up to `until`: repetition for a short gap, else silence and a jump. */
  #fill(until: number): void {
    const from = this.#next ?? until;
    const gap = until - from;
    const frames = Math.ceil(gap / FRAME_SAMPLES);
    this.concealed += frames;
    framesConcealed.inc(frames);
    const end = from + Math.min(gap, SILENCE_SAMPLES_MAX);
    const short = gap <= CONCEAL_SAMPLES_MAX;
    for (let at = from; at < end; at += FRAME_SAMPLES) {
      this.#conceal(short ? (at - from) / FRAME_SAMPLES : CONCEAL_GAINS.length);
      this.#stream(this.#filler, 0, Math.min(FRAME_SAMPLES, end - at), false);
    }
    if (end === until) return;
    this.#filled = 0;
    this.#next = until;
  }

  /** The last frame again, fading: the `nth` frame of a gap. */
  #conceal(nth: number): void {
    const from = CONCEAL_GAINS[nth] ?? 0;
    const to = CONCEAL_GAINS[nth + 1] ?? 0;
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      const gain = from + ((to - from) * i) / FRAME_SAMPLES;
      this.#filler[i] = Math.round((this.#last[i] as number) * gain);
    }
  }

  /** Cuts samples into frames; `heard` ones may be repeated later. */
  #stream(pcm: Int16Array, from: number, to: number, heard: boolean): void {
    for (let at = from; at < to; ) {
      const count = Math.min(FRAME_SAMPLES - this.#filled, to - at);
      for (let i = 0; i < count; i++) this.#frame[this.#filled + i] = pcm[at + i] as number;
      at += count;
      this.#filled += count;
      this.#next = (this.#next ?? 0) + count;
      if (this.#filled === FRAME_SAMPLES) this.#emit(heard);
    }
  }

  #emit(heard: boolean): void {
    this.#filled = 0;
    if (heard) this.#last.set(this.#frame);
    const endMs = (this.#next ?? 0) / PER_MS + this.#arrival.offsetMs;
    this.#sink(this.#frame, endMs - FRAME_MS);
  }
}
