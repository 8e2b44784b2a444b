// UDP socket of one call's RTP: a media socket with audio only. RTP does not signal the end of a call, so silence is
// reported to the owner, which can query the PBX. Source: RFC 3550 (5.1).

import type { RemoteInfo, Socket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { mediaFaults, packetsDropped } from '../../metrics/metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { CLOSE, type MediaSocket, type MediaSocketListener } from '../media-socket.ts';
import { RateLimiter } from '../rate-limit.ts';
import { type RtpAddress, RtpLatching } from './rtp-latching.ts';
import { readRtp, writeRtp } from './rtp-packet.ts';

/** Rate limit: six times real time. */
const RATE = { messagesPerSecondMax: 300, bytesPerSecondMax: 128 * 1024 };
/** Bytes that the system has not sent: a second. */
const BUFFERED_BYTES_MAX = 16 * 1024;
/** Time without a packet after which inactivity is reported: the caller is silent, or the PBX is gone. */
export const RTP_INACTIVITY_MS = 10_000;
/** Bytes of a 20 ms frame of PCMU, PCMA or G722, which equal the ticks of their clock. */
const FRAME_BYTES = 160;
/** Ticks after the last audio from which a pause is assumed. */
const PAUSE_TICKS = 8 * 100;
const TICKS_PER_MS = 8;
const BROKEN = 1006;

/** Static payload types, by Asterisk's names; with dynamic ones audio goes one way only. Source: asterisk §3. */
export const RTP_PAYLOAD_TYPES: Readonly<Record<string, number>> = { ulaw: 0, alaw: 8, g722: 9 };

export interface RtpSession {
  payloadType: number;
  /** Address that the PBX announced. Undefined without one. */
  announced: RtpAddress | undefined;
  accept: (socket: MediaSocket) => MediaSocketListener;
  /** Called repeatedly while no packet has arrived for RTP_INACTIVITY_MS. */
  onRtpInactive: () => void;
}

export interface RtpSocketOptions {
  udp: Socket;
  port: number;
  clock: Clock;
  random: Random;
  log: Log;
  onClosed: () => void;
}

export class RtpSocket implements MediaSocket {
  readonly port: number;
  readonly #udp: Socket;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onClosed: () => void;
  readonly #rate: RateLimiter;
  readonly #isIPv6: boolean;
  #call: RtpSession | undefined;
  #source = new RtpLatching(undefined);
  #listener: MediaSocketListener | undefined;
  #silence: Timer | undefined;
  /** Time of the last packet or of the last report of silence. */
  #quietSinceMs = 0;
  #hasHeard = false;
  #hasWarned = false;
  #isOpen = true;
  // Out.
  readonly #ssrc: number;
  #sequence: number;
  #timestamp: number;
  /** Time at which the tick `#timestamp` is due; NaN before the first packet. */
  #dueMs = Number.NaN;

  constructor({ udp, port, clock, random, log, onClosed }: RtpSocketOptions) {
    this.port = port;
    this.#udp = udp;
    this.#clock = clock;
    this.#log = log;
    this.#onClosed = onClosed;
    this.#rate = new RateLimiter(clock, RATE);
    this.#isIPv6 = isIPv6(udp.address().address);
    const start = random.bytes(10);
    this.#ssrc = start.readUInt32BE(0);
    this.#timestamp = start.readUInt32BE(4);
    this.#sequence = start.readUInt16BE(8);
    udp.on('message', (packet, from) => this.#packet(packet, from));
    udp.on('error', (error) => {
      log.warn({ err: error }, 'an RTP port failed');
      this.#end(BROKEN, '');
    });
  }

  get open(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#isOpen ? this.#udp.getSendQueueSize() : 0;
  }

  /** Assigns the socket to a call. Earlier packets are dropped. */
  begin(call: RtpSession): void {
    if (!this.#isOpen) return;
    this.#call = call;
    this.#source = new RtpLatching(call.announced);
    this.#listener = call.accept(this);
    this.#quietSinceMs = this.#clock.monotonicMs();
    this.#awaitPacket(RTP_INACTIVITY_MS);
  }

  sendText(): void {
    // RTP carries audio only.
  }

  /** Sends whole frames at once, one packet each. */
  sendBinary(message: Uint8Array): void {
    if (!this.#isOpen || message.length === 0) return;
    const marker = this.#keepTime();
    for (let at = 0; at < message.length; at += FRAME_BYTES) {
      this.#send(message.subarray(at, at + FRAME_BYTES), marker && at === 0);
    }
  }

  close(code: number, reason: string): void {
    this.#end(code, reason);
  }

  /** Releases the port. A call receives the close code 1001. */
  abandon(): void {
    this.#end(CLOSE.goingAway, 'closing');
  }

  /** Advances the timestamp; a pause becomes a jump. Returns true for the first packet after a pause. */
  #keepTime(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const isFirst = Number.isNaN(this.#dueMs);
    const lateTicks = isFirst ? 0 : Math.round((nowMs - this.#dueMs) * TICKS_PER_MS);
    if (!isFirst && lateTicks < PAUSE_TICKS) return false;
    this.#timestamp = (this.#timestamp + lateTicks) >>> 0;
    this.#dueMs = nowMs;
    return true;
  }

  #send(payload: Uint8Array, marker: boolean): void {
    const header = {
      payloadType: this.#call?.payloadType ?? 0,
      sequence: this.#sequence,
      timestamp: this.#timestamp,
      ssrc: this.#ssrc,
      marker,
    };
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + payload.length) >>> 0;
    this.#dueMs += payload.length / TICKS_PER_MS;
    const target = this.#source.target;
    if (target === undefined) return;
    if (this.#udp.getSendQueueSize() > BUFFERED_BYTES_MAX) {
      packetsDropped.inc({ kind: 'rtp', reason: 'stalled' });
      return;
    }
    const host = this.#isIPv6 && isIPv4(target.host) ? `::ffff:${target.host}` : target.host;
    // A packet that cannot be sent counts as lost.
    this.#udp.send(writeRtp(header, payload), target.port, host, () => undefined);
  }

  #packet(message: Buffer, from: RemoteInfo): void {
    const call = this.#call;
    if (call === undefined || !this.#isOpen) return;
    const packet = readRtp(message);
    const dropped = (reason: string): void => packetsDropped.inc({ kind: 'rtp', reason });
    if (packet === undefined) dropped('malformed');
    else if (packet.payloadType !== call.payloadType) dropped('type');
    else if (!this.#source.accepts(addressOf(from), packet)) dropped('stranger');
    else if (!this.#rate.allows(message.length)) dropped('flood');
    else this.#hear(message);
  }

  #hear(message: Buffer): void {
    this.#hasHeard = true;
    this.#quietSinceMs = this.#clock.monotonicMs();
    try {
      this.#listener?.onBinary(message);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Checks the time of the last packet periodically, so that packets need no timers. */
  #awaitPacket(delayMs: number): void {
    this.#silence = this.#clock.after(delayMs, () => {
      const restMs = this.#quietSinceMs + RTP_INACTIVITY_MS - this.#clock.monotonicMs();
      if (restMs > 0) {
        this.#awaitPacket(restMs);
        return;
      }
      this.#quietSinceMs = this.#clock.monotonicMs();
      this.#silent();
      if (this.#isOpen) this.#awaitPacket(RTP_INACTIVITY_MS);
    });
  }

  #silent(): void {
    if (!this.#hasHeard && !this.#hasWarned) {
      this.#hasWarned = true;
      mediaFaults.inc({ code: 'MEDIA_SILENT' });
      const { port } = this;
      this.#log.warn(
        { port },
        'no RTP has come: the PBX has no audio, or a firewall is in the way of the UDP ports',
      );
    }
    this.#call?.onRtpInactive();
  }

  #refuse(error: unknown): void {
    if (error instanceof GatewayError) {
      mediaFaults.inc({ code: error.code });
      this.#end(CLOSE.policy, error.code);
      return;
    }
    this.#log.error({ err: error }, 'media listener failed');
    this.#end(CLOSE.internal, 'internal error');
  }

  #end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#silence?.cancel();
    this.#udp.close();
    this.#onClosed();
    this.#listener?.onClose(code, reason);
  }
}

/** Address of a packet. An IPv6 socket reports IPv4 addresses in mapped form. */
function addressOf({ address, port }: RemoteInfo): RtpAddress {
  return { host: address.replace(/^::ffff:(?=\d+\.)/i, ''), port };
}
