// Times of RTP audio: passes on each packet's audio with its position in the call. It delays nothing: the pipeline
// (decode.ts) reorders packets and conceals losses by these times, so there is no second jitter buffer here. A sender
// that restarts its sequence continues in the same time.
// Source: RFC 3550 (5.1, appendix A.1), RFC 3551 (4.5: the clock of PCMU, PCMA and, by a historical error, of G722 is 8
// kHz).

import { packetsDropped } from '../../metrics/metrics.ts';
import { type RtpPacket, readRtp } from './rtp-packet.ts';

const TICKS_PER_MS = 8;
/** Bytes of 1 ms in all payload types of this file. */
const BYTES_PER_MS = 8;
/** A packet this far behind is already concealed: the pipeline waits for 120 ms, twelve of the shortest. */
const LATE_PACKETS_MAX = 12;
/** Distance from which a packet is neither late nor lost but begins a new sequence (A.1). */
const BEHIND_MAX = 100;
const AHEAD_MAX = 3_000;
/** Timestamps that jump back by this, or ahead of the elapsed time by it, begin a new sequence. */
const JUMP_MS = 1_000;

export class RtpTimestamps {
  /** Time of the last packet in milliseconds since the first; NaN before that. */
  timestampMs = Number.NaN;
  readonly #nowMs: () => number;
  #ssrc = 0;
  #sequence = 0;
  #timestamp = 0;
  /** Start and end of the packet `#sequence`, and its arrival time. */
  #positionMs = 0;
  #endMs = 0;
  #arrivedMs = Number.NaN;

  /** `nowMs`: monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Audio of a packet, as a view of it. Undefined if there is none to play. */
  payload(message: Uint8Array): Uint8Array | undefined {
    const packet = readRtp(message);
    if (packet === undefined || packet.payload.length === 0) return undefined;
    const nowMs = this.#nowMs();
    if (Number.isNaN(this.#arrivedMs)) this.#follow(packet, 0, nowMs);
    else if (this.#isAnew(packet, nowMs)) this.#follow(packet, this.#passed(nowMs), nowMs);
    else return this.#next(packet, nowMs);
    return packet.payload;
  }

  #next(packet: RtpPacket, nowMs: number): Uint8Array | undefined {
    const ahead = difference16(packet.sequence, this.#sequence);
    const startMs = this.#placeOf(packet);
    if (ahead > 0) {
      this.#follow(packet, startMs, nowMs);
      return packet.payload;
    }
    if (ahead === 0 || ahead < -LATE_PACKETS_MAX) {
      packetsDropped.inc({ kind: 'rtp', reason: ahead === 0 ? 'duplicate' : 'late' });
      return undefined;
    }
    this.timestampMs = startMs;
    return packet.payload;
  }

  #isAnew(packet: RtpPacket, nowMs: number): boolean {
    if (packet.ssrc !== this.#ssrc) return true;
    const ahead = difference16(packet.sequence, this.#sequence);
    if (ahead < -BEHIND_MAX || ahead > AHEAD_MAX) return true;
    const startMs = this.#placeOf(packet);
    // A smaller step is no jump: packets arrive late and in bursts, and a sender may not count pauses.
    return startMs > this.#passed(nowMs) + JUMP_MS || startMs < this.#positionMs - JUMP_MS;
  }

  #placeOf(packet: RtpPacket): number {
    return this.#positionMs + ((packet.timestamp - this.#timestamp) | 0) / TICKS_PER_MS;
  }

  /** Position of a packet that arrives now, without other information: not before earlier audio. */
  #passed(nowMs: number): number {
    return Math.max(this.#endMs, this.#positionMs + Math.round(nowMs - this.#arrivedMs));
  }

  #follow(packet: RtpPacket, startMs: number, nowMs: number): void {
    this.#ssrc = packet.ssrc;
    this.#sequence = packet.sequence;
    this.#timestamp = packet.timestamp;
    this.#positionMs = startMs;
    this.#endMs = startMs + packet.payload.length / BYTES_PER_MS;
    this.#arrivedMs = nowMs;
    this.timestampMs = startMs;
  }
}

/** Difference of two 16-bit numbers that wrap around. */
function difference16(a: number, b: number): number {
  return ((a - b) << 16) >> 16;
}
