// The jitter buffer: turns the caller's packets into an even stream of 20 ms frames at 8 kHz, each with its media
// time. Packets are put in order by timestamp; short gaps are filled by packet loss concealment, longer ones with
// silence.

import {
  CONCEALED_SAMPLES_MAX,
  CONCEALMENT_SAMPLES,
  PacketLossConcealer,
} from '../../audio/packet-loss-concealment.ts';
import { copySamples, FRAME_MS, FRAME_SAMPLES, RATE_HZ } from '../../audio/pcm.ts';
import { createResampler, type Resampler } from '../../audio/resample/resampler.ts';
import type { Codec } from '../../codec/codec.ts';
import { framesConcealed } from '../../metrics/metrics.ts';
import { ClockRecovery } from './clock-recovery.ts';

/** Handler of frames. `frame` is borrowed; `atMs` is the media time of its first sample. */
export type FrameHandler = (frame: Int16Array, atMs: number) => void;

/** Largest gap before the first packet after it for which the buffer waits (`ArrivalJitter`): a longer gap is a pause
 *  of the sender. */
const WAIT_SAMPLES_MAX = 6 * FRAME_SAMPLES;
/** Shortest wait: two packets that follow a missing one arrive within it. */
const WAIT_MS_MIN = 40;
/** Longest wait, as it delays all audio held meanwhile. */
const WAIT_MS_MAX = 120;
/** Wait as a multiple of the jitter. Packets whose delay is spread evenly up to a limit have a third of it as jitter;
 *  the packet's own length passes before a later packet can arrive. Measured: with a factor of 3 no fewer packets came
 *  too late, and all were delayed more. */
const WAITS_PER_JITTER = 2;
const SMOOTHING = 16;
/** Longest gap that is concealed. */
const CONCEAL_SAMPLES_MAX = CONCEALED_SAMPLES_MAX;
/** Longest silence for a longer gap, enough to end any speech. The rest is a jump in media time. */
const SILENCE_SAMPLES_MAX = RATE_HZ / 2;
/** Packets held while an earlier one is missing: 120 ms in packets of 10 ms. */
const HELD_MAX = 12;
/** Packet lengths with shared decode buffers: a far end has one length, all far ends a few. */
const SHARED_MAX = 32;
/** Longest packet that is held. */
const HELD_SAMPLES_MAX = 3 * FRAME_SAMPLES;
/** Samples of one packet: half a second. Longer packets are cut. */
const PACKET_SAMPLES_MAX = RATE_HZ / 2;
/** Distance of a timestamp from the expected one that starts a new stream. */
const RESTART_BACK_SAMPLES = 2 * RATE_HZ;
const RESTART_AHEAD_SAMPLES = 120 * RATE_HZ;
/** Age of a packet in a backlog above which it is dropped; younger ones are processed late, and recorded. */
const BACKLOG_MS_MAX = 1_000;
/** Rounding error of an exact sender's timestamps. */
const ROUNDING_SAMPLES = 24;
/** Error of a sender that uses its wall clock. */
const WALL_CLOCK_SAMPLES = 4 * FRAME_SAMPLES;
/** Frames of history that the concealment needs. */
const RING_FRAMES = Math.ceil(CONCEALMENT_SAMPLES / FRAME_SAMPLES) + 1;
const PER_MS = RATE_HZ / 1_000;

interface Held {
  used: boolean;
  start: number;
  count: number;
  sinceMs: number;
  readonly pcm: Int16Array;
}

// Decode buffers shared by all calls: the samples become frames before another call decodes.
const filler = new Int16Array(FRAME_SAMPLES);
/** Decode buffers by the number of samples of a packet. */
const shared = new Map<number, Int16Array>();

export class Depacketizer {
  /** Number of packets that came after their position was filled, and of duplicates. */
  late = 0;
  duplicates = 0;
  concealed = 0;
  readonly #codec: Codec;
  readonly #sink: FrameHandler;
  readonly #resampler: Resampler | undefined;
  readonly #arrival = new ClockRecovery();
  readonly #jitter = new ArrivalJitter();
  readonly #concealer = new PacketLossConcealer();
  #pcm = pcmOf(FRAME_SAMPLES);
  /** Circular buffer of the last frames, and of the one being filled. */
  readonly #ring = new Int16Array(RING_FRAMES * FRAME_SAMPLES);
  readonly #frames: readonly Int16Array[];
  #nth = 0;
  #filled = 0;
  /** Stream position of the next sample, in samples; undefined before the first packet. */
  #next: number | undefined;
  #lastStart = Number.NaN;
  /** Samples of dropped and of missing packets without a timestamp, since the last packet. */
  #dropped = 0;
  #wallClock = false;
  /** Held packets, at most HELD_MAX, allocated when needed. */
  readonly #held: Held[] = [];
  #heldCount = 0;

  constructor(options: { codec: Codec; sink: FrameHandler }) {
    this.#codec = options.codec;
    this.#sink = options.sink;
    this.#frames = Array.from({ length: RING_FRAMES }, (_, i) =>
      this.#ring.subarray(i * FRAME_SAMPLES, (i + 1) * FRAME_SAMPLES),
    );
    const fromHz = options.codec.rateHz;
    if (fromHz !== RATE_HZ) this.#resampler = createResampler({ fromHz, toHz: RATE_HZ });
  }

  /** Takes one packet, borrowed. `timestampMs` is the stream time of its start or NaN; `nowMs` is media time. An empty
   *  packet without a timestamp is a frame that the far end's own jitter buffer misses. */
  push(payload: Uint8Array, timestampMs: number, nowMs: number): void {
    if (payload.length === 0) {
      if (Number.isNaN(timestampMs) && this.#next !== undefined) this.#dropped += FRAME_SAMPLES;
      return;
    }
    const pcm = this.#decode(payload);
    const count = Math.min(pcm.length, PACKET_SAMPLES_MAX);
    if (count === 0) return;
    if (this.#dropped > 0) this.#fill((this.#next ?? 0) + this.#dropped);
    this.#dropped = 0;
    const start = this.#place(timestampMs, count);
    // Packets with timestamps are put in order: their smallest delay is followed exactly.
    const jitterMs = Number.isNaN(timestampMs) ? this.#jitter.jitterMs : 0;
    this.#arrival.arrived((start + count) / PER_MS, nowMs, jitterMs);
    this.#jitter.arrived(start / PER_MS, nowMs);
    this.#order(pcm, count, start, nowMs);
    this.#lastStart = start;
  }

  /** Decides about a packet of a backlog. Returns its milliseconds if it is too old, which makes it a gap; 0 if it is
   *  to be pushed. */
  dropIfOld(payload: Uint8Array, timestampMs: number, nowMs: number): number {
    if (this.#next === undefined) return 0;
    const isStamped = !Number.isNaN(timestampMs);
    const start = isStamped ? timestampMs : (this.#next + this.#dropped) / PER_MS;
    const ageMs = nowMs - this.#arrival.offsetMs - start;
    if (!(ageMs > BACKLOG_MS_MAX)) return 0;
    const ms = (this.#codec.samplesIn(payload) * 1_000) / this.#codec.rateHz;
    if (!isStamped) this.#dropped += Math.round(ms * PER_MS);
    return ms;
  }

  /** Releases packets that were held long enough. */
  tick(nowMs: number): void {
    while (this.#heldCount > 0 && nowMs - this.#heldSinceMs() >= this.#jitter.waitMs)
      this.#giveUp();
  }

  #decode(payload: Uint8Array): Int16Array {
    const count = this.#codec.samplesIn(payload);
    if (this.#pcm.length !== count) this.#pcm = pcmOf(count);
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
    this.#giveUpBefore(Number.POSITIVE_INFINITY);
    this.#next = undefined;
    this.#filled = 0;
    this.#arrival.reset();
    this.#jitter.reset();
  }

  #order(pcm: Int16Array, count: number, start: number, nowMs: number): void {
    const next = this.#next ?? start;
    const gap = start - next;
    const waitMax = this.#heldCount === 0 ? WAIT_SAMPLES_MAX : 2 * WAIT_SAMPLES_MAX;
    if (gap > 0 && gap <= waitMax && this.#hold(pcm, count, start, nowMs)) return;
    if (gap > 0) {
      this.#giveUpBefore(start);
      this.#fill(start);
    }
    this.#append(pcm, count, start);
    this.#appendHeld();
  }

  /** Appends the part of the packet that is new. */
  #append(pcm: Int16Array, count: number, start: number): void {
    this.#next ??= start;
    const old = this.#next - start;
    if (old >= count) {
      if (start === this.#lastStart) this.duplicates++;
      else this.late++;
      return;
    }
    const from = Math.max(0, old);
    this.#concealer.end(pcm, from, count);
    this.#stream(pcm, from, count);
  }

  #hold(pcm: Int16Array, count: number, start: number, nowMs: number): boolean {
    if (count > HELD_SAMPLES_MAX) return false;
    const slot = this.#freeSlot();
    if (slot === undefined) return false;
    for (let i = 0; i < count; i++) slot.pcm[i] = pcm[i] as number;
    slot.used = true;
    slot.start = start;
    slot.count = count;
    slot.sinceMs = nowMs;
    this.#heldCount++;
    if (this.#heldCount === HELD_MAX) this.#giveUp();
    this.tick(nowMs);
    return true;
  }

  #freeSlot(): Held | undefined {
    const free = this.#held.find((each) => !each.used);
    if (free !== undefined || this.#held.length === HELD_MAX) return free;
    const pcm = new Int16Array(HELD_SAMPLES_MAX);
    const slot: Held = { used: false, start: 0, count: 0, sinceMs: 0, pcm };
    this.#held.push(slot);
    return slot;
  }

  /** Appends held packets whose position is next. */
  #appendHeld(): void {
    for (let slot = this.#earliestHeld(); slot !== undefined; slot = this.#earliestHeld()) {
      if (slot.start - (this.#next ?? slot.start) > ROUNDING_SAMPLES) return;
      this.#release(slot);
    }
  }

  /** Fills the first gap, and appends the packets after it up to the next gap. */
  #giveUp(): void {
    const slot = this.#earliestHeld();
    if (slot === undefined) return;
    this.#fill(slot.start);
    this.#release(slot);
    this.#appendHeld();
  }

  #giveUpBefore(start: number): void {
    while ((this.#earliestHeld()?.start ?? start) < start) this.#giveUp();
  }

  /** Arrival time of the first packet after the first gap. */
  #heldSinceMs(): number {
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const slot of this.#held) if (slot.used) sinceMs = Math.min(sinceMs, slot.sinceMs);
    return sinceMs;
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

  /** Fills the stream up to `until`: a short gap is concealed, a longer one becomes silence and a jump. Does
   *  nothing if the stream is already that far. */
  #fill(until: number): void {
    const from = this.#next ?? until;
    const gap = until - from;
    if (gap <= 0) return;
    const frames = Math.ceil(gap / FRAME_SAMPLES);
    this.concealed += frames;
    framesConcealed.inc(frames);
    const end = from + Math.min(gap, SILENCE_SAMPLES_MAX);
    const short = gap <= CONCEAL_SAMPLES_MAX;
    this.#concealer.begin(this.#ring, this.#nth * FRAME_SAMPLES + this.#filled);
    for (let at = from; at < end; at += FRAME_SAMPLES) {
      const count = Math.min(FRAME_SAMPLES, end - at);
      if (short) this.#concealer.conceal(filler, count);
      else this.#concealer.silence(filler, count);
      this.#stream(filler, 0, count);
    }
    if (end === until) return;
    this.#filled = 0;
    this.#next = until;
  }

  /** Cuts samples into frames. */
  #stream(pcm: Int16Array, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const frame = this.#frames[this.#nth] as Int16Array;
      const count = Math.min(FRAME_SAMPLES - this.#filled, to - at);
      if (count === pcm.length) frame.set(pcm, this.#filled);
      else copySamples(pcm, at, frame, this.#filled, count);
      at += count;
      this.#filled += count;
      this.#next = (this.#next ?? 0) + count;
      if (this.#filled === FRAME_SAMPLES) this.#emit(frame);
    }
  }

  #emit(frame: Int16Array): void {
    this.#filled = 0;
    this.#nth = (this.#nth + 1) % RING_FRAMES;
    const endMs = (this.#next ?? 0) / PER_MS + this.#arrival.offsetMs;
    this.#sink(frame, endMs - FRAME_MS);
  }
}

/** The decode buffer for packets of `samples`. */
function pcmOf(samples: number): Int16Array {
  const known = shared.get(samples);
  if (known !== undefined) return known;
  const pcm = new Int16Array(samples);
  if (shared.size < SHARED_MAX) shared.set(samples, pcm);
  return pcm;
}

/** Interarrival jitter of the caller's packets, and from it how long a missing packet is waited for. Source: RFC 3550
 *  (6.4.1, A.8). */
export class ArrivalJitter {
  /** Mean difference between the transit times of two consecutive packets, in milliseconds. */
  jitterMs = 0;
  #wayMs = Number.NaN;

  /** Milliseconds from the first packet after a missing one until the missing one is abandoned. */
  get waitMs(): number {
    return Math.max(WAIT_MS_MIN, Math.min(WAIT_MS_MAX, WAITS_PER_JITTER * this.jitterMs));
  }

  /** Takes a packet with stream time `streamMs` that arrived at `nowMs` of another clock. */
  arrived(streamMs: number, nowMs: number): void {
    const wayMs = nowMs - streamMs;
    const differenceMs = Math.abs(wayMs - this.#wayMs);
    this.#wayMs = wayMs;
    if (!Number.isNaN(differenceMs)) this.jitterMs += (differenceMs - this.jitterMs) / SMOOTHING;
  }

  /** Forgets the last packet: the stream starts again. */
  reset(): void {
    this.#wayMs = Number.NaN;
  }
}
