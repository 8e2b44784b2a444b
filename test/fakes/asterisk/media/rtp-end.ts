// UnicastRTP: Asterisk sends RTP to the address it was given, from a port of its own, and takes what comes
// there. Nothing is paced, and nobody notices when the other side is gone. Source: asterisk §3.

import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import type { Channel, Line } from '../channel.ts';
import type { Pbx } from '../pbx.ts';
import type { PacketTarget } from './audiosocket-end.ts';
import { type Frame, RateConverter } from './frame.ts';
import { decoded, encoded } from './media-format.ts';

const HEADER_BYTES = 12;
/** An address where nothing listens. */
const NOWHERE = '127.0.0.2';
/** Payload types that Asterisk sends; slin16 has a dynamic one, and is not understood when it comes back. */
const sentTypes: Record<string, number> = { ulaw: 0, alaw: 8, g722: 9, slin16: 118, slin: 11 };
const takenTypes: Record<string, number[]> = {
  ulaw: [0],
  alaw: [8],
  g722: [9],
  slin: [10, 11],
};

export class RtpEnd implements Line {
  readonly packetsIn: { atMs: number; type: number; bytes: number }[] = [];
  packetsOut = 0;
  /** Packets that were not understood: no message, no audio. */
  dropped = 0;
  readonly #pbx: Pbx;
  readonly #target: PacketTarget;
  readonly #convert: RateConverter;
  readonly #socket = createSocket('udp4');
  #channel: Channel | null = null;
  #sequence = 1_000;
  #timestamp = 5_000;
  #isClosed = false;

  constructor(pbx: Pbx, target: PacketTarget) {
    this.#pbx = pbx;
    this.#target = target;
    this.#convert = new RateConverter(target.format.codec.rateHz);
  }

  get port(): number {
    return (this.#socket.address() as AddressInfo).port; // Of a bound UDP socket.
  }

  get channelName(): string {
    return `UnicastRTP/${this.#host}-${this.#pbx.pointer()}`;
  }

  get channelVariables(): Record<string, string> {
    return {
      ['UNICASTRTP_LOCAL_PORT']: String(this.port),
      ['UNICASTRTP_LOCAL_ADDRESS']: this.#pbx.faults.rtpBehindNat ? NOWHERE : '127.0.0.1',
    };
  }

  get dialString(): string {
    return `${this.#host}/c(${this.#target.format.name})`;
  }

  get #host(): string {
    return `${this.#target.address}:${this.#target.port}`;
  }

  async open(): Promise<boolean> {
    this.#pbx.mortals.add(this.#kill);
    return await new Promise((resolve) => {
      this.#socket.on('error', () => resolve(false));
      this.#socket.bind(0, '127.0.0.1', () => resolve(true));
    });
  }

  start(channel: Channel): void {
    this.#channel = channel;
    this.#socket.on('message', (packet) => this.#take(packet));
  }

  audio(frame: Frame): void {
    const { codec, name } = this.#target.format;
    const payload = encoded(codec, this.#convert.convert(frame));
    // On the network, linear audio is big-endian.
    if (name.startsWith('slin')) Buffer.from(payload.buffer, 0, payload.length).swap16();
    this.sendPacket(sentTypes[name] ?? 118, payload);
    this.#timestamp += name === 'slin16' ? 320 : 160;
  }

  /** One packet; tests lose, repeat and reorder by calling it themselves. */
  sendPacket(type: number, payload: Uint8Array, sequence = this.#sequence): void {
    const packet = Buffer.alloc(HEADER_BYTES + payload.length);
    packet.writeUInt8(0x80);
    packet.writeUInt8(type, 1);
    packet.writeUInt16BE(sequence & 0xffff, 2);
    packet.writeUInt32BE(this.#timestamp >>> 0, 4);
    packet.writeUInt32BE(0x51_4d_00_01, 8);
    packet.set(payload, HEADER_BYTES);
    this.#sequence = sequence + 1;
    this.packetsOut += 1;
    if (!this.#isClosed) this.#socket.send(packet, this.#target.port, this.#target.address);
  }

  digit(): void {
    // No telephone events over UnicastRTP: ARI's event is the only sign.
  }

  answer(): void {
    // It is up from the start.
  }

  ring(): void {
    // Nobody at the other end would hear it.
  }

  gone(): void {
    this.#kill();
  }

  readonly #kill = (): void => {
    this.#channel = null;
    this.#pbx.mortals.delete(this.#kill);
    if (!this.#isClosed) this.#socket.close();
    this.#isClosed = true;
  };

  #take(packet: Buffer): void {
    if (packet.length < HEADER_BYTES) return;
    const type = packet.readUInt8(1) & 0x7f;
    const { codec, name } = this.#target.format;
    const payload = Buffer.from(packet.subarray(HEADER_BYTES));
    this.packetsIn.push({ atMs: this.#pbx.clock.monotonicMs(), type, bytes: payload.length });
    if (takenTypes[name]?.includes(type) !== true) {
      this.dropped += 1;
      return;
    }
    if (name === 'slin') payload.swap16();
    this.#channel?.takeAudio({ pcm: decoded(codec, payload), rateHz: codec.rateHz });
  }
}
